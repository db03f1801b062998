"""Evidence and plan → the result of a trial: its value, metrics and findings. Pure."""

"""Evidence: what was recorded of a trial, and what somebody's log says, read from files."""

"""What the Python API returns, as notebooks show it."""

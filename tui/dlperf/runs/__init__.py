"""The run directory: every path, every schema, every version upgrade."""

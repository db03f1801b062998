"""A planned trial → processes."""

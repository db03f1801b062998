"""A report page and its sections."""

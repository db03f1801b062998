"""Results as rows: a table of them, campaigns compared, results side by side."""

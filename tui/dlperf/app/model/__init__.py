"""Compute what the screens show from records, as plain data that is tested without a terminal."""

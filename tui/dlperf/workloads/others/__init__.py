"""Training programs in other frameworks, each in one file."""

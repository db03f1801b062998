"""Numbers → verdicts: tests, intervals, searches. Pure."""

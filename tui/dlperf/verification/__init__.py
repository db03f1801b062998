"""Recompute what is kept: values and hashes of campaigns, third-party results from their logs."""

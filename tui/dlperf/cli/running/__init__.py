"""Commands that run campaigns and say how they stand."""

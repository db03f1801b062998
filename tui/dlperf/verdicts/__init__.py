"""Verdicts: better, worse, same, or cannot tell. Only ``baselines``, ``trend`` and ``workspace`` read files."""

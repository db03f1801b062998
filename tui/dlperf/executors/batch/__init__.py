"""Trials as jobs of a scheduler."""

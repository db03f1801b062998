"""Formats of programs that one expression does not describe."""

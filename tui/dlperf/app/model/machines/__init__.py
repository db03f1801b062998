"""Machines of a workspace as a table and as entries."""

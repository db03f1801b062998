"""Render a launch into the exact files and commands of each node. Pure."""

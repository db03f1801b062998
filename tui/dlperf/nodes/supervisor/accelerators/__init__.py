"""The accelerators of a node, by vendor."""

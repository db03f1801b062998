"""One trial on a node, from the start of its payload to the removal of its folder."""

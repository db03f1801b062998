"""Commands that end in a verdict."""

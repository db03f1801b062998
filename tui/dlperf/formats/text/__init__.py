"""Log bytes → lines: prefixes of launchers and loggers, numbers as people write them."""

"""Training programs in PyTorch."""

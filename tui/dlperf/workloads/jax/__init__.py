"""Training programs in JAX."""

"""Pooling with and without windows in JAX: largest differences of values and gradients, as JSON; started by
test_vision.py."""

import json

import jax
import jax.numpy as jnp
from jax_pooling import pools


def outcome(pool, images):
    pooled, back = jax.vjp(pool, images)
    return pooled, back(jax.random.normal(jax.random.key(1), pooled.shape))[0]


differences = []
for shape in ((2, 8, 8, 4), (1, 6, 12, 3), (2, 7, 9, 5), (1, 2, 2, 16)):
    images = jax.random.normal(jax.random.key(0), shape)  # no two are equal
    for stock, tuned in zip(pools(True), pools(False), strict=True):
        both = zip(outcome(stock, images), outcome(tuned, images), strict=True)
        differences.append(max(float(jnp.abs(one - other).max()) for one, other in both))
print(json.dumps(differences))

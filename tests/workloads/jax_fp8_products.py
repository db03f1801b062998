"""Relative errors of FP8 products in JAX, as JSON: forward and both gradients; started by test_language_models.py."""

import json

import jax
import jax.numpy as jnp
import jax_fp8

keys = jax.random.split(jax.random.key(0), 3)
sizes = ((2, 64, 256), (256, 128), (2, 64, 128))
rows, weight, upstream = (jax.random.normal(key, size, jnp.bfloat16) for key, size in zip(keys, sizes, strict=True))


def products(product):
    y, back = jax.vjp(product, rows, weight)
    return [each.astype(jnp.float32) for each in (y, *back(upstream))]


pairs = zip(products(jax_fp8.product), products(jnp.matmul), strict=True)
print(json.dumps([float(jnp.linalg.norm(found - exact) / jnp.linalg.norm(exact)) for found, exact in pairs]))

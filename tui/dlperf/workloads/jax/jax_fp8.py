"""Matrix products in FP8 with dynamic scaling per tensor, as in pytorch_fp8.py. Needs JAX >= 0.7.

Activations and weights are e4m3, gradients e5m2 (Micikevicius et al. 2022); each scale is the largest magnitude of the
tensor as it is. Copied to the node with its program.
"""

import jax
import jax.numpy as jnp

E4M3, E5M2 = jnp.float8_e4m3fn, jnp.float8_e5m2
FAST, EXACT = jax.lax.Precision.DEFAULT, jax.lax.Precision.HIGH
"""How sums are rounded: XLA lets cuBLAS take its fast accumulation in FP8 at the default precision only, which the
trainer raises. As in pytorch_fp8.py, the forward pass takes it and gradients do not."""


def scaled(x, kind):
    """``x`` in FP8 over the format's whole range, and the scale that it is to be multiplied by."""
    limit = float(jnp.finfo(kind).max)
    scale = jnp.maximum(jnp.abs(x).max().astype(jnp.float32), 1e-12) / limit
    return jnp.clip(x.astype(jnp.float32) / scale, -limit, limit).astype(kind), scale


def _scaled_product(left, right, sides, dtype, precision=EXACT):
    """Two scaled matrices multiplied over one side of each, in ``dtype``."""
    (a, a_scale), (b, b_scale) = left, right
    y = jax.lax.dot_general(a, b, (sides, ((), ())), precision, preferred_element_type=dtype)
    return (y.astype(jnp.float32) * (a_scale * b_scale)).astype(dtype)


@jax.custom_vjp
def product(x, weight):
    """Rows × a matrix, in the rows' data type; the products of the gradients are in FP8, too."""
    return _forward(x, weight)[0]


def _forward(x, weight):
    rows, matrix = scaled(x.reshape(-1, x.shape[-1]), E4M3), scaled(weight, E4M3)
    y = _scaled_product(rows, matrix, ((1,), (0,)), x.dtype, FAST)
    return y.reshape(*x.shape[:-1], -1), (rows, matrix, jnp.zeros((), weight.dtype))


def _backward(saved, upstream):
    rows, matrix, of_weight = saved
    gradient = scaled(upstream.reshape(-1, upstream.shape[-1]), E5M2)
    x_gradient = _scaled_product(gradient, matrix, ((1,), (1,)), upstream.dtype)
    weight_gradient = _scaled_product(rows, gradient, ((0,), (0,)), of_weight.dtype)
    return x_gradient.reshape(*upstream.shape[:-1], -1), weight_gradient


product.defvjp(_forward, _backward)

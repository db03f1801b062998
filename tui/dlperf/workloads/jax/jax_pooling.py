"""Max pooling in JAX: by windows, as its documentation shows, and without them, which a GPU does faster.

Needs JAX >= 0.7. XLA's gradient of a window (select-and-scatter) took 2.5 % of a step of ResNet-50 on an H200 (profile
of 2026-11-26). Copied to the node with its program.
"""

from typing import Callable, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax


class Pools(NamedTuple):
    """The pooling of both networks."""

    halves: Callable
    """2×2 at stride 2."""
    thirds: Callable
    """3×3 at stride 2, padding 1."""


def pools(stock):
    """By windows, or without them where every side is even."""
    return Pools(lambda x: windowed(x, 2, 0), lambda x: windowed(x, 3, 1)) if stock else Pools(halves, thirds)


def windowed(x, size, pad):
    window, strides = (1, size, size, 1), (1, 2, 2, 1)
    return lax.reduce_window(x, -jnp.inf, lax.max, window, strides, [(0, 0), (pad, pad), (pad, pad), (0, 0)])


def halves(x):
    """Equal maxima of a window share its gradient; by windows, the first gets all of it."""
    count, rows, columns, channels = x.shape
    if rows % 2 or columns % 2:
        return windowed(x, 2, 0)
    return x.reshape(count, rows // 2, 2, columns // 2, 2, channels).max((2, 4))


def thirds(x):
    return windowed(x, 3, 1) if x.shape[1] % 2 or x.shape[2] % 2 else _thirds(x)


@jax.custom_vjp
def _thirds(x):
    return _forward(x)[0]


def _forward(x):
    """The maximum of each window and its first position in it, 0 … 8, as in pytorch_kernels.py."""
    rows, columns = x.shape[1], x.shape[2]
    padded = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=-jnp.inf)
    best = chosen = None
    for offset in range(9):
        down, right = divmod(offset, 3)
        candidate = padded[:, down : down + rows : 2, right : right + columns : 2]
        better = None if best is None else candidate > best
        best = candidate if best is None else jnp.where(better, candidate, best)
        chosen = jnp.zeros(best.shape, jnp.int8) if better is None else jnp.where(better, jnp.int8(offset), chosen)
    return best, chosen


def _backward(chosen, upstream):
    """Each position of the images sums the gradients of the windows that chose it."""
    total = 0.0
    for offset in range(9):
        down, right = divmod(offset, 3)
        part = jnp.where(chosen == offset, upstream, 0).astype(jnp.float32)
        total += lax.pad(part, 0.0, [(0, 0, 0), (down - 1, 2 - down, 1), (right - 1, 2 - right, 1), (0, 0, 0)])
    return (total.astype(upstream.dtype),)


_thirds.defvjp(_forward, _backward)

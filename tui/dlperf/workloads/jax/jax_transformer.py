"""GPT-2 and Llama 3 in JAX, and the loss over their vocabulary. Needs JAX >= 0.7.

Parameters are a dict of arrays; those of all layers are in one array each, layer first, and the layers are scanned.
Copied to the node with the program that uses it.
"""

import functools

import jax
import jax.numpy as jnp
from jax_trainer import GATHERED, cross_entropy, divided, gathered, normalized

ROPE_BASE = 500000.0
"""Llama 3's."""


def layer_sizes(shape):
    """Name → size of each array of a layer, without the layers' dimension."""
    hidden, wide, keys = shape.hidden, shape.feed_forward, shape.kv_heads * shape.head_size
    sizes = {"norm1": (hidden,), "norm2": (hidden,), "project": (hidden, hidden + 2 * keys), "output": (hidden, hidden)}
    if shape.family == "llama":
        return {**sizes, "gate": (hidden, wide), "wide": (hidden, wide), "narrow": (wide, hidden)}
    biases = {"norm1_bias": hidden, "norm2_bias": hidden, "project_bias": hidden + 2 * keys, "output_bias": hidden}
    biases.update({"wide_bias": wide, "narrow_bias": hidden})
    return {**sizes, "wide": (hidden, wide), "narrow": (wide, hidden), **{name: (n,) for name, n in biases.items()}}


def sizes(shape):
    """Name → size of every array of the model."""
    found = {name: (shape.layers, *size) for name, size in layer_sizes(shape).items()}
    found.update({"embedding": (shape.vocabulary, shape.hidden), "norm": (shape.hidden,)})
    if shape.family == "gpt2":
        found.update({"norm_bias": (shape.hidden,), "positions": (shape.positions, shape.hidden)})
    if not shape.tied:
        found["head"] = (shape.vocabulary, shape.hidden)
    return found


def create(shape, dtype):
    """A function: key → parameters. Normal with deviation 0.02, residual outputs smaller by √(2 × layers)."""

    def value(key, name, size):
        if "norm" in name or name.endswith("_bias"):
            return jnp.full(size, 0.0 if name.endswith("_bias") else 1.0, dtype)
        small = (2 * shape.layers) ** -0.5 if name in ("output", "narrow") else 1.0
        return 0.02 * small * jax.random.normal(key, size, dtype)

    named = sizes(shape)
    return lambda key: {
        name: value(jax.random.fold_in(key, number), name, named[name]) for number, name in enumerate(sorted(named))
    }


def rotated(x):
    """Rotary position embedding (Su et al. 2021) of batch × length × heads × size, computed in fp32."""
    size = x.shape[-1]
    pace = ROPE_BASE ** -(jnp.arange(0, size, 2, dtype=jnp.float32) / size)
    angles = jnp.outer(jnp.arange(x.shape[1], dtype=jnp.float32), pace)[None, :, None, :]
    first, second = jnp.split(x.astype(jnp.float32), 2, axis=-1)
    cosine, sine = jnp.cos(angles), jnp.sin(angles)
    return jnp.concatenate([first * cosine - second * sine, second * cosine + first * sine], -1).astype(x.dtype)


def attention(shape, x, layer, kernel, product):
    """Causal self-attention with grouped queries."""
    count, length, _ = x.shape
    keys = shape.kv_heads * shape.head_size
    joined = multiplied(x, layer, "project", product)
    parts = jnp.split(joined, [shape.hidden, shape.hidden + keys], axis=-1)
    query, key, value = (divided(part.reshape(count, length, -1, shape.head_size)) for part in parts)
    if not shape.positions:
        query, key = rotated(query), rotated(key)
    y = jax.nn.dot_product_attention(query, key, value, is_causal=True, implementation=kernel)
    return multiplied(y.reshape(count, length, shape.hidden), layer, "output", product)


def multiplied(x, layer, name, product):
    """``x`` times a matrix of the layer, in ``x``'s data type, plus its bias where it has one."""
    y = product(x, layer[name].astype(x.dtype))
    bias = layer.get(name + "_bias")
    return y if bias is None else y + bias.astype(x.dtype)


def feed_forward(shape, x, layer, product):
    """SwiGLU, or GELU in its tanh form."""
    wide = multiplied(x, layer, "wide", product)
    if shape.family == "llama":
        wide = jax.nn.silu(multiplied(x, layer, "gate", product)) * wide
    else:
        wide = jax.nn.gelu(wide, approximate=True)
    return multiplied(wide, layer, "narrow", product)


def loss(shape, dtype, kernel, checkpointing, product=jnp.matmul, split=False):
    """A function: parameters, tokens, targets → mean cross-entropy; products in ``dtype``.

    ``product``: how the layers multiply rows by a matrix. ``split``: parameters are split over the devices; those of a
    layer are gathered when it is used, and again in the backward pass.
    """
    layered, whole = layer_sizes(shape), gathered if split else lambda arrays: arrays
    norm = functools.partial(normalized, centered=shape.family == "gpt2")

    def block(x, layer):
        layer = whole(layer)
        x = x + attention(shape, norm(x, layer["norm1"], layer.get("norm1_bias")), layer, kernel, product)
        y = norm(x, layer["norm2"], layer.get("norm2_bias"))
        return divided(x + feed_forward(shape, y, layer, product)), None

    if checkpointing == "full":
        block = jax.checkpoint(block)
    elif split:
        block = jax.checkpoint(block, policy=jax.checkpoint_policies.save_anything_except_these_names(GATHERED))

    def function(parameters, tokens, targets):
        parameters = {name: each if name in layered else whole(each) for name, each in parameters.items()}
        x = divided(parameters["embedding"][tokens].astype(dtype))
        if shape.positions:
            x = x + parameters["positions"][: tokens.shape[1]].astype(dtype)
        x, _ = jax.lax.scan(block, x, {name: parameters[name] for name in layered})
        x = norm(x, parameters["norm"], parameters.get("norm_bias"))
        head = parameters["embedding" if shape.tied else "head"].astype(dtype)
        return cross_entropy(jnp.einsum("btd,vd->btv", x, head), targets)

    return function

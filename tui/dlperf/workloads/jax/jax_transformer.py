"""GPT-2 and Llama 3 in JAX, and the loss over their vocabulary. Needs JAX >= 0.7.

Parameters are a dict of arrays. Under "layers" is a dict for each layer, or, where these are scanned, one of arrays
that hold all layers.
Copied to the node with the program that uses it.
"""

import functools

import jax
import jax.numpy as jnp
from jax_numerics import LOGITS, RESIDUAL, marked
from jax_trainer import GATHERED, cross_entropy, divided, gathered, looked_up, normalized

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


def sizes(shape, scanned=False):
    """Name → size of every array of the model; under "layers", those of each layer or of all."""
    layer = layer_sizes(shape)
    stacked = {name: (shape.layers, *size) for name, size in layer.items()}
    found = {"embedding": (shape.vocabulary, shape.hidden), "norm": (shape.hidden,)}
    if shape.family == "gpt2":
        found.update({"norm_bias": (shape.hidden,), "positions": (shape.positions, shape.hidden)})
    if not shape.tied:
        found["head"] = (shape.vocabulary, shape.hidden)
    return {**found, "layers": stacked if scanned else [layer] * shape.layers}


def create(shape, dtype, scanned=False):
    """A function: key → parameters. Normal with deviation 0.02, residual outputs smaller by √(2 × layers)."""

    def value(key, path, size):
        name = path[-1].key
        if "norm" in name or name.endswith("_bias"):
            return jnp.full(size, 0.0 if name.endswith("_bias") else 1.0, dtype)
        small = (2 * shape.layers) ** -0.5 if name in ("output", "narrow") else 1.0
        return (0.02 * small * jax.random.normal(key, size)).astype(dtype)  # of 128 values if drawn in bf16

    named, tree = jax.tree.flatten_with_path(sizes(shape, scanned), is_leaf=lambda node: isinstance(node, tuple))
    return lambda key: jax.tree.unflatten(
        tree, [value(jax.random.fold_in(key, number), *each) for number, each in enumerate(named)]
    )


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


def loss(shape, dtype, options, product=jnp.matmul, split=False):
    """A function: parameters, tokens, targets → mean cross-entropy; products in ``dtype``.

    ``product``: how the layers multiply rows by a matrix. ``split``: parameters are split over the devices; those of a
    layer are gathered when it is used, and again in the backward pass. Nothing is normalized over a batch.
    """
    whole = gathered if split else lambda arrays: arrays
    norm = functools.partial(normalized, centered=shape.family == "gpt2")
    head_loss = plain_head_loss if options.stock else fused_head_loss

    def block(x, layer):
        layer = whole(layer)
        x = x + attention(shape, norm(x, layer["norm1"], layer.get("norm1_bias")), layer, options.attention, product)
        y = norm(x, layer["norm2"], layer.get("norm2_bias"))
        return marked(divided(x + feed_forward(shape, y, layer, product)), RESIDUAL), None

    if options.checkpointing == "full":
        block = jax.checkpoint(block)
    elif split and options.gather == "twice":
        block = jax.checkpoint(block, policy=jax.checkpoint_policies.save_anything_except_these_names(GATHERED))

    def function(parameters, tokens, targets):
        layers = parameters["layers"]
        parameters = {name: whole(each) for name, each in parameters.items() if name != "layers"}
        x = parameters["embedding"].astype(jnp.float32)[tokens]  # gradients of a word are summed in fp32, as in PyTorch
        if shape.positions:
            x = x + looked_up(parameters["positions"], tokens.shape[1])
        x = divided(x.astype(dtype))
        if options.layers == "scanned":
            x, _ = jax.lax.scan(block, x, layers)
        else:
            for layer in layers:
                x, _ = block(x, layer)
        x = norm(x, parameters["norm"], parameters.get("norm_bias"))
        return head_loss(x, parameters["embedding" if shape.tied else "head"], targets), []

    return function


def plain_head_loss(x, head, targets):
    """The output head and its mean cross-entropy; logits are kept for the backward pass."""
    return cross_entropy(jnp.einsum("btd,vd->btv", x, head.astype(x.dtype)), targets)


@jax.custom_vjp
def fused_head_loss(x, head, targets):
    """The output head and its mean cross-entropy; gradients are made in the forward pass, as in pytorch_transformer.py.

    So neither logits nor their fp32 copy outlive the loss.
    """
    return _head_forward(x, head, targets)[0]


def _head_forward(x, head, targets):
    used = head.astype(x.dtype)
    logits = marked(jnp.einsum("btd,vd->btv", x, used), LOGITS)
    scores = logits.astype(jnp.float32)
    log_total = jax.nn.logsumexp(scores, axis=-1, keepdims=True)
    chosen = jnp.take_along_axis(scores, targets[..., None], axis=-1)
    hit = jnp.arange(logits.shape[-1]) == targets[..., None]
    gradient = ((jnp.exp(scores - log_total) - hit) / targets.size).astype(x.dtype)
    head_gradient = jnp.einsum("btv,btd->vd", gradient, x).astype(head.dtype)
    return (log_total - chosen).mean(), (jnp.einsum("btv,vd->btd", gradient, used), head_gradient)


def _head_backward(gradients, upstream):
    return *(each * upstream.astype(each.dtype) for each in gradients), None


fused_head_loss.defvjp(_head_forward, _head_backward)

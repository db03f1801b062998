"""Loss and sums of squared gradients of a tiny Llama in JAX, as JSON; started by test_language_models.py."""

import json

import jax
import jax.numpy as jnp
import numpy as np
from jax_transformer import loss, sizes
from llm_shapes import SHAPES

shape = SHAPES["llama3-tiny"]
values = {
    name: np.cos(np.arange(np.prod(size), dtype=np.float64) * 0.37 + number).reshape(size).astype(np.float32) * 0.1
    for number, (name, size) in enumerate(sorted(sizes(shape).items()))
}
tokens = np.arange(2 * 17).reshape(2, 17) * 31 % shape.vocabulary
step = jax.jit(jax.value_and_grad(loss(shape, jnp.float32, "xla", "none")))
value, gradients = step(values, tokens[:, :-1], tokens[:, 1:])
squares = {name: float(jnp.square(gradient).sum()) for name, gradient in gradients.items()}
print(json.dumps({"loss": float(value), **squares}))

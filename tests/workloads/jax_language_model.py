"""Loss and sums of squared gradients of tiny models in JAX, as JSON; started by test_language_models.py.

``python jax_language_model.py MODEL stock|tuned scanned|unrolled``; weights are the same whatever the last two.
"""

import argparse
import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax_transformer import loss, sizes
from llm_shapes import SHAPES

model, tuning, layers = sys.argv[1:]
shape = SHAPES[model]
options = argparse.Namespace(stock=tuning == "stock", layers=layers, attention="xla", checkpointing="none")
whole = sizes(shape, scanned=True)
layered = whole.pop("layers")
values = {
    name: np.cos(np.arange(np.prod(size), dtype=np.float64) * 0.37 + number).reshape(size).astype(np.float32) * 0.1
    for number, (name, size) in enumerate(sorted({**whole, **layered}.items()))
}
parameters = {name: values[name] for name in whole}
stacked = {name: values[name] for name in layered}
unrolled = [{name: each[layer] for name, each in stacked.items()} for layer in range(shape.layers)]
parameters["layers"] = stacked if layers == "scanned" else unrolled
tokens = np.arange(2 * 17).reshape(2, 17) * 31 % shape.vocabulary
step = jax.jit(jax.value_and_grad(loss(shape, jnp.float32, options), has_aux=True))
(value, _), gradients = step(parameters, tokens[:, :-1], tokens[:, 1:])
of_layers = gradients.pop("layers")
if layers != "scanned":
    of_layers = jax.tree.map(lambda *each: jnp.stack(each), *of_layers)
squares = {name: float(jnp.square(gradient).sum()) for name, gradient in {**gradients, **of_layers}.items()}
print(json.dumps({"loss": float(value), **squares}))

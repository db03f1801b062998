"""How far the gradient of a word that stands 1,024 times in a batch is from its sum in fp32, where weights are bf16.

Prints the difference relative to the sum's norm; started by test_language_models.py.
"""

import argparse

import jax
import jax.numpy as jnp
from jax_transformer import create, loss
from llm_shapes import SHAPES

shape = SHAPES["llama3-tiny"]  # whose head has a matrix of its own
options = argparse.Namespace(stock=False, layers="unrolled", attention="xla", checkpointing="none")
parameters = create(shape, jnp.bfloat16)(jax.random.key(0))
tokens = jnp.full((64, 16), 7)
gradient = jax.jit(jax.grad(lambda given: loss(shape, jnp.bfloat16, options)(given, tokens, tokens)[0]))
narrow, wide = (
    gradient(dict(parameters, embedding=parameters["embedding"].astype(kind)))["embedding"][7].astype(jnp.float32)
    for kind in (jnp.bfloat16, jnp.float32)
)
print(float(jnp.linalg.norm(narrow - wide) / jnp.linalg.norm(wide)))

"""Draws and gradients of a tiny model whose weights are bf16, as JSON; started by test_language_models.py.

``word``: how far the gradient of a word that stands 1,024 times in a batch is from its sum in fp32, relative to the
sum's norm. ``values``: different values among the weights of the embedding. ``shared``: largest correlation of the
first weights of an array, drawn in fp32, with the logarithms of the words drawn for a batch. ``clipped``: how far
clipped gradients are from their clipping in fp32, relative to it.
"""

import argparse
import itertools
import json

import jax
import jax.numpy as jnp
import numpy as np
from jax_llm import token_batch
from jax_trainer import Optimizer, clipped, synthetic
from jax_transformer import create, loss
from llm_shapes import SHAPES

shape = SHAPES["llama3-tiny"]  # whose head has a matrix of its own
options = argparse.Namespace(
    stock=False, layers="unrolled", attention="xla", checkpointing="none", seed=1, batch_size=64, batches=32
)
parameters = create(shape, jnp.bfloat16)(jax.random.key(options.seed))
tokens = jnp.full((64, 16), 7)
gradient = jax.jit(jax.grad(lambda given: loss(shape, jnp.bfloat16, options)(given, tokens, tokens)[0]))
narrow, wide = (
    gradient(dict(parameters, embedding=parameters["embedding"].astype(kind)))["embedding"][7].astype(jnp.float32)
    for kind in (jnp.bfloat16, jnp.float32)
)

batches = itertools.islice(synthetic(token_batch(shape.vocabulary, 17), options), options.batches)
drawn = [np.log1p(np.asarray(text)[:, ::2].ravel()) for text, _ in batches]
weights = jax.tree.leaves(create(shape, jnp.float32)(jax.random.key(options.seed)))
matrices = [np.asarray(each).ravel()[: drawn[0].size] for each in weights]
shared = max(abs(np.corrcoef(matrix, words)[0, 1]) for matrix in matrices if matrix.std() for words in drawn)

uneven = {"weights": jnp.linspace(0.1, 3, 1000).astype(jnp.bfloat16)}
exact = np.asarray(uneven["weights"], np.float64)
exact /= np.linalg.norm(exact)
used, _ = clipped(Optimizer(lambda _: None, lambda *given: (given[2], None)), 1.0).update(uneven, None, uneven)

print(
    json.dumps(
        {
            "word": float(jnp.linalg.norm(narrow - wide) / jnp.linalg.norm(wide)),
            "values": np.unique(np.asarray(parameters["embedding"], np.float32)).size,
            "shared": float(shared),
            "clipped": float(np.abs(np.asarray(used["weights"], np.float64) / exact - 1).max()),
        }
    )
)

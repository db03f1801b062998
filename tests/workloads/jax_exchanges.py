"""Sizes of the arrays that two devices exchange in a step of FSDP, as JSON; started by test_language_models.py."""

import json
import re
import sys

import jax
import jax.numpy as jnp
import jax_llm
import jax_trainer
import jax_transformer
from jax.sharding import NamedSharding, PartitionSpec
from llm_shapes import SHAPES

options, shape, mesh = jax_llm.options(), SHAPES["llama3-tiny"], jax_trainer.device_mesh()
is_layout = lambda node: isinstance(node, PartitionSpec)  # noqa: E731
layouts = jax.tree.map(lambda each: NamedSharding(mesh, each), jax_llm.placement(shape, options), is_leaf=is_layout)
weights = jax.jit(jax_transformer.create(shape, jnp.float32), out_shardings=layouts)(jax.random.key(0))
tokens = jax.device_put(jnp.zeros((2, 16), jnp.int32), NamedSharding(mesh, jax_trainer.SPLIT))
split = jax_llm.is_split(options)
loss = jax_transformer.loss(shape, jnp.float32, options, split=split)
compiled = jax.jit(jax.value_and_grad(loss, has_aux=True)).lower(weights, tokens, tokens).compile().as_text()
exchanges = re.findall(r" = (.+?) (?:all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter)\(", compiled)
print(json.dumps([size for exchange in exchanges for size in re.findall(r"\[([0-9,]*)\]", exchange)]))
sys.exit(0 if split else "one device")

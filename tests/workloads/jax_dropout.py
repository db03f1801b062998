"""What dropout leaves of ones at two steps on two devices, as JSON: steps × devices × numbers; started by
test_parallel.py."""

import itertools
import json

import jax
import jax.numpy as jnp
from jax_trainer import device_mesh, on_each_device
from jax_vision import dropout, with_seeds

assert device_mesh().size == 2
left = on_each_device(lambda _parameters, seed: dropout(jax.random.key(seed[0]), jnp.ones((1, 1000))))
seeds = with_seeds(itertools.repeat(()), seed=1)
print(json.dumps([left(None, *next(seeds)).tolist() for _ in range(2)]))

"""Loss and gradients of ArcFace's head in JAX on however many devices, as JSON; started by test_parallel.py."""

import json

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec
from jax_arcface import EMBEDDING, margin_loss
from jax_trainer import device_mesh

CLASSES, SAMPLES = 7, 4
random = np.random.default_rng(0)
weight = np.zeros((8, EMBEDDING))
weight[:CLASSES] = random.standard_normal((CLASSES, EMBEDDING))
weight[CLASSES:] = 1.0
features, labels = random.standard_normal((SAMPLES, EMBEDDING)), np.array([0, 6, 3, 3])

mesh = device_mesh()
split = NamedSharding(mesh, PartitionSpec("data"))
arguments = [jax.device_put(array, split) for array in (weight, features, labels)]
step = jax.jit(jax.value_and_grad(lambda *given: margin_loss(mesh, CLASSES, *given), argnums=(0, 1)))
loss, (head, backbone) = step(*arguments)
assert head.sharding.is_equivalent_to(split, 2) or mesh.size == 1
outcome = {"loss": loss[None], "backbone": backbone, "head": head[:CLASSES]}
print(json.dumps({name: np.asarray(array).ravel().tolist() for name, array in outcome.items()}))

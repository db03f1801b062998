"""A small network with batch normalization on two devices, and its halves of the batch one by one, as JSON: loss and
gradients; started by test_parallel.py."""

import json

import jax
import numpy as np
from jax.sharding import NamedSharding
from jax_trainer import SPLIT, averaged, device_mesh
from jax_vision import convolve, cross_entropy, normalize

random = np.random.default_rng(0)
parameters = {
    "weight": random.standard_normal((3, 3, 3, 5)),
    "norm": (random.standard_normal(5), random.standard_normal(5)),
}
images, labels = random.standard_normal((8, 6, 6, 3)) * np.arange(1, 9)[:, None, None, None], np.arange(8) % 5


def loss(parameters, images, labels):
    seen = []
    features = normalize(parameters["norm"], convolve(parameters["weight"], images), seen)
    return cross_entropy((features**2).mean((1, 2)), labels), seen


def outcome(value_and_statistics, gradients):
    return [
        float(value_and_statistics[0]),
        *np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(gradients)]).tolist(),
    ]


mesh = device_mesh()
assert mesh.size == 2
batch = [jax.device_put(array, NamedSharding(mesh, SPLIT)) for array in (images, labels)]
together = outcome(*jax.jit(jax.value_and_grad(averaged(loss), has_aux=True))(parameters, *batch))
alone = jax.jit(jax.value_and_grad(loss, has_aux=True))
halves = [outcome(*alone(parameters, images[part], labels[part])) for part in np.split(np.arange(8), 2)]
whole = outcome(*alone(parameters, images, labels))
print(json.dumps({"together": together, "halves": np.mean(halves, 0).tolist(), "whole": whole}))

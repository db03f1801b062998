"""Running statistics after two steps of batch normalization, and how synthetic images come, as JSON; started by
test_vision.py: ``python vision_statistics.py torch|jax``.
"""

import argparse
import itertools
import json
import sys

import numpy as np

STEPS = np.random.default_rng(0).standard_normal((2, 4, 3, 3, 5)).astype(np.float32) * 3 + 1
"""Steps × images × rows × columns × channels."""


def options(seed):
    return argparse.Namespace(seed=seed, batch_size=64, batches=2, image_size=16, precision="bf16")


def with_torch():
    import torch
    from pytorch_trainer import World
    from pytorch_vision import placed, synthetic_images

    norm = placed(torch.nn.Sequential(torch.nn.BatchNorm2d(5)), World(), torch.float32)
    for step in STEPS:
        norm(torch.from_numpy(step).permute(0, 3, 1, 2))
    batches = {seed: [*itertools.islice(synthetic_images(World(), options(seed), 1000), 32)] for seed in (1, 2)}
    return [norm[0].running_mean.tolist(), norm[0].running_var.tolist()], {
        seed: [(images.float().numpy(), labels.numpy(), str(images.dtype)) for images, labels in pairs]
        for seed, pairs in batches.items()
    }


def with_jax():
    import jax.numpy as jnp
    from jax_trainer import MOMENTUM, running_statistics
    from jax_vision import norm_parameters, normalize, synthetic_images

    def loss(parameters, images):
        seen = []
        normalize(parameters, images, seen)
        return 0.0, [tuple(each[None] for each in pair) for pair in seen]

    (running,) = running_statistics(loss, norm_parameters(5), [STEPS[0]])
    for step in STEPS:
        (seen,) = loss(norm_parameters(5), jnp.asarray(step))[1]
        running = [old + MOMENTUM * (new - old) for old, new in zip(running, seen, strict=True)]
    batches = {seed: [*itertools.islice(synthetic_images(options(seed), jnp.bfloat16, 1000), 32)] for seed in (1, 2)}
    return [each[0].tolist() for each in running], {
        seed: [
            (np.asarray(images, np.float32), np.asarray(labels), f"torch.{images.dtype}") for images, labels in pairs
        ]
        for seed, pairs in batches.items()
    }


def floor_of_loss(pairs):
    """Lowest mean cross-entropy of a network that knows each image: the entropy of the labels that it has in turn."""
    labels = np.stack([labels for _, labels, _ in pairs[::2]])  # of the first batch, turn by turn
    shares = [np.unique(each, return_counts=True)[1] / len(labels) for each in labels.T]
    return float(np.mean([-(share * np.log(share)).sum() for share in shares]))


def patterns(pairs):
    """Mean image of each label that most images of the first batch have: the pattern of its class, nearly."""
    images, labels, _ = pairs[0]
    common = [label for label in np.unique(labels) if (labels == label).sum() > 1]
    return {int(label): images[labels == label].mean(0) for label in common}


def likeness(one, other):
    """Mean correlation of the patterns that two seeds have for a class; the layouts of both are the same."""
    shared = one.keys() & other.keys()
    return float(np.mean([np.corrcoef(one[label].ravel(), other[label].ravel())[0, 1] for label in shared]))


statistics, batches = {"torch": with_torch, "jax": with_jax}[sys.argv[1]]()
first, second = (batches[seed] for seed in (1, 2))
outcome = {
    "statistics": statistics,
    "type": first[0][2],
    "floor": floor_of_loss(first),
    "batches": len({images.tobytes() for images, _, _ in first}),
    "likeness": likeness(patterns(first), patterns(second)),
}
print(json.dumps(outcome))

#!/usr/bin/env python3
"""Train LeNet-5 with NumPy alone, on synthetic images that can be learned, and log in dlperf's own format.

Forward and backward pass, cross-entropy, SGD with momentum, float32, images as N×28×28×1 (NHWC). Convolutions are
matrix products over all 5×5 windows. The program checks itself: a loss that is not finite, or that has not fallen at
the end, is exit code 1 and no summary.

This file runs alone: Python 3.8 and NumPy 1.20 or newer, nothing else.
"""

import argparse
import json
import math
import os
import sys
import time
from datetime import datetime, timezone

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # before NumPy loads: one thread measures more steadily than two that compete

import numpy as np

CLASSES = 10
SIDE = 28
KERNEL = 5
LEAST_FALL = 0.99
"""The last loss over the first; above it nothing was learned."""
NOISE = 1.0
"""Standard deviation of the noise on images whose class patterns have standard deviation 1."""


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--batch-size", type=positive, default=64, help="images per step (default: 64)")
    parser.add_argument("--steps", type=positive, default=120, help="training steps (default: 120)")
    parser.add_argument("--log-interval", type=positive, default=10, help="steps between two log lines (default: 10)")
    parser.add_argument("--images", type=positive, default=4096, help="size of the synthetic data set (default: 4096)")
    parser.add_argument("--learning-rate", type=float, default=0.01, help="of SGD with momentum 0.9 (default: 0.01)")
    parser.add_argument("--seed", type=int, default=1, help="of data, weights and shuffling (default: 1)")
    return parser.parse_args(words)


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, not {text}")
    return number


# ---------------------------------------------------------------------------------------------------- data


def synthetic_images(count, rng):
    """Images and labels: each class has its own smooth pattern, each image is its class's pattern under noise."""
    coarse = rng.standard_normal((CLASSES, SIDE // 4, SIDE // 4))
    patterns = coarse.repeat(4, axis=1).repeat(4, axis=2)
    labels = rng.integers(0, CLASSES, count)
    images = patterns[labels] + NOISE * rng.standard_normal((count, SIDE, SIDE))
    return images[..., np.newaxis].astype(np.float32), labels


def batches(images, labels, batch_size, rng):
    """Batches for ever, with the epoch each belongs to; the data are shuffled anew in every epoch."""
    epoch, order = 0, rng.permutation(len(labels))
    while True:
        while len(order) < batch_size:
            epoch += 1
            order = np.concatenate([order, rng.permutation(len(labels))])
        chosen, order = order[:batch_size], order[batch_size:]
        yield epoch, images[chosen], labels[chosen]


# -------------------------------------------------------------------------------------------------- layers


class Dense:
    """``x @ weight + bias``."""

    def __init__(self, inputs, outputs, rng):
        scale = math.sqrt(2.0 / inputs)  # He initialisation, for ReLU
        self.parameters = [
            (scale * rng.standard_normal((inputs, outputs))).astype(np.float32),
            np.zeros(outputs, np.float32),
        ]

    def forward(self, x):
        self.x = x
        weight, bias = self.parameters
        return x @ weight + bias

    def backward(self, gradient):
        self.gradients = [self.x.T @ gradient, gradient.sum(axis=0)]
        return gradient @ self.parameters[0].T


class Convolution:
    """A 5×5 convolution without padding: a dense layer over every window of the image."""

    def __init__(self, inputs, outputs, rng):
        self.dense = Dense(KERNEL * KERNEL * inputs, outputs, rng)

    @property
    def parameters(self):
        return self.dense.parameters

    @property
    def gradients(self):
        return self.dense.gradients

    def forward(self, x):
        self.shape = x.shape
        count, height, width, _ = x.shape
        self.rows, self.columns = height - KERNEL + 1, width - KERNEL + 1
        windows = np.lib.stride_tricks.sliding_window_view(x, (KERNEL, KERNEL), axis=(1, 2))
        flat = windows.reshape(count * self.rows * self.columns, -1)
        return self.dense.forward(flat).reshape(count, self.rows, self.columns, -1)

    def backward(self, gradient):
        count, _, _, channels = self.shape
        flat = self.dense.backward(gradient.reshape(-1, gradient.shape[-1]))
        windows = flat.reshape(count, self.rows, self.columns, channels, KERNEL, KERNEL)
        image = np.zeros(self.shape, np.float32)
        for row in range(KERNEL):
            for column in range(KERNEL):
                image[:, row : row + self.rows, column : column + self.columns] += windows[..., row, column]
        return image


class Relu:
    parameters = gradients = ()

    def forward(self, x):
        self.positive = x > 0
        return x * self.positive

    def backward(self, gradient):
        return gradient * self.positive


class AveragePool:
    """The mean of every 2×2 square."""

    parameters = gradients = ()

    def forward(self, x):
        return 0.25 * (x[:, ::2, ::2] + x[:, 1::2, ::2] + x[:, ::2, 1::2] + x[:, 1::2, 1::2])

    def backward(self, gradient):
        return 0.25 * gradient.repeat(2, axis=1).repeat(2, axis=2)


class Flatten:
    parameters = gradients = ()

    def forward(self, x):
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, gradient):
        return gradient.reshape(self.shape)


def lenet5(rng):
    """LeNet-5 for 28×28 images; 44 426 parameters."""
    return [
        *(Convolution(1, 6, rng), Relu(), AveragePool()),
        *(Convolution(6, 16, rng), Relu(), AveragePool()),
        *(Flatten(), Dense(256, 120, rng), Relu(), Dense(120, 84, rng), Relu(), Dense(84, CLASSES, rng)),
    ]


# ------------------------------------------------------------------------------------------------ training


def cross_entropy(logits, labels):
    """The mean loss of a batch, and its gradient with respect to the logits."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    probabilities = np.exp(shifted)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    loss = -np.log(np.maximum(probabilities[rows, labels], 1e-30)).mean()
    probabilities[rows, labels] -= 1.0
    return float(loss), probabilities / len(labels)


class Sgd:
    """Stochastic gradient descent with momentum."""

    def __init__(self, layers, learning_rate, momentum=0.9):
        self.layers = layers
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.velocities = [[np.zeros_like(item) for item in layer.parameters] for layer in layers]

    def step(self):
        for layer, velocities in zip(self.layers, self.velocities):
            for parameter, gradient, velocity in zip(layer.parameters, layer.gradients, velocities):
                velocity *= self.momentum
                velocity -= self.learning_rate * gradient
                parameter += velocity


def train_step(layers, optimizer, images, labels):
    """One step of training; the loss before it."""
    x = images
    for layer in layers:
        x = layer.forward(x)
    loss, gradient = cross_entropy(x, labels)
    for layer in reversed(layers):
        gradient = layer.backward(gradient)
    optimizer.step()
    return loss


# ----------------------------------------------------------------------------------------------------- log


def log(text):
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    print(f"DLPERF {now} {text}", flush=True)


def train(options):
    """Train and log; the mean loss of each log interval."""
    rng = np.random.default_rng(options.seed)
    images, labels = synthetic_images(options.images, rng)
    layers = lenet5(rng)
    optimizer = Sgd(layers, options.learning_rate)
    data = batches(images, labels, options.batch_size, rng)
    losses, means, begin = [], [], time.perf_counter()
    for step in range(1, options.steps + 1):
        epoch, batch, targets = next(data)
        losses.append(train_step(layers, optimizer, batch, targets))
        if step % options.log_interval == 0 or step == options.steps:
            now = time.perf_counter()
            throughput = len(losses) * options.batch_size / (now - begin)
            means.append(sum(losses) / len(losses))
            samples = step * options.batch_size
            log(f"step={step} epoch={epoch} samples={samples} loss={means[-1]:.6f} throughput={throughput:.2f}")
            losses, begin = [], now
            if not math.isfinite(means[-1]):
                break
    return means


def problem_of(losses):
    """What is wrong with a run's losses; None where nothing is."""
    if not math.isfinite(losses[-1]):
        return "the loss is not finite"
    if len(losses) > 1 and losses[-1] > LEAST_FALL * losses[0]:
        return f"the loss has not fallen: {losses[0]:.6f} at first, {losses[-1]:.6f} at last"
    return None


def main(words=None):
    options = arguments(words)
    declared = {
        "model": "LeNet-5",
        "framework": f"numpy {np.__version__}",
        "precision": "fp32",
        "gpus": 1,
        "batch_size": options.batch_size,
        "unit": "images/s",
        "steps": options.steps,
        "images": options.images,
        "learning_rate": options.learning_rate,
        "seed": options.seed,
    }
    log(f"run {json.dumps(declared)}")
    begin = time.perf_counter()
    losses = train(options)
    seconds = time.perf_counter() - begin
    problem = problem_of(losses)
    if problem:
        print(f"lenet_numpy: {problem}", file=sys.stderr)
        return 1
    throughput = options.steps * options.batch_size / seconds
    summary = {"throughput": round(throughput, 2), "unit": "images/s", "loss": losses[-1]}
    log(f"summary {json.dumps(summary)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

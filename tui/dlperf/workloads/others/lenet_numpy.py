#!/usr/bin/env python3
"""Train LeNet-5 with NumPy alone on synthetic images: ``python lenet_numpy.py --help``.

Cross-entropy, SGD with momentum, float32, images as N×28×28×1 (NHWC). Convolutions are matrix products over all 5×5
windows. Needs Python >= 3.8, NumPy >= 1.20 and, in the same folder, options.py and reporting.py.
"""

import math
import os
import time

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # before NumPy loads: two competing threads vary more than one

import numpy as np
from options import basic, positive
from reporting import Reporter

CLASSES = 10
SIDE = 28
KERNEL = 5
NOISE = 1.0
"""Standard deviation of the noise on images whose class patterns have standard deviation 1."""


def options():
    parser = basic(__doc__)
    parser.set_defaults(batch_size=64, seed=1)
    parser.add_argument("--images", type=positive, default=4096, help="size of the synthetic data set")
    parser.add_argument("--learning-rate", type=float, default=0.01, help="of SGD with momentum 0.9")
    return parser.parse_args()


def synthetic_images(count, rng):
    """Images and labels: each class has its own smooth pattern, each image is its class's pattern under noise."""
    coarse = rng.standard_normal((CLASSES, SIDE // 4, SIDE // 4))
    patterns = coarse.repeat(4, axis=1).repeat(4, axis=2)
    labels = rng.integers(0, CLASSES, count)
    images = patterns[labels] + NOISE * rng.standard_normal((count, SIDE, SIDE))
    return images[..., np.newaxis].astype(np.float32), labels


def batches(images, labels, batch_size, rng):
    """Endless batches; the data are shuffled again in every epoch."""
    order = rng.permutation(len(labels))
    while True:
        while len(order) < batch_size:
            order = np.concatenate([order, rng.permutation(len(labels))])
        chosen, order = order[:batch_size], order[batch_size:]
        yield images[chosen], labels[chosen]


class Dense:
    """``x @ weight + bias``."""

    def __init__(self, inputs, outputs, rng):
        scale = math.sqrt(2.0 / inputs)  # He initialization, for ReLU
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


class Convolution(Dense):
    """A 5×5 convolution without padding: a dense layer over every window of the image."""

    def __init__(self, inputs, outputs, rng):
        super().__init__(KERNEL * KERNEL * inputs, outputs, rng)

    def forward(self, x):
        self.shape = x.shape
        count, height, width, _ = x.shape
        self.rows, self.columns = height - KERNEL + 1, width - KERNEL + 1
        windows = np.lib.stride_tricks.sliding_window_view(x, (KERNEL, KERNEL), axis=(1, 2))
        flat = windows.reshape(count * self.rows * self.columns, -1)
        return super().forward(flat).reshape(count, self.rows, self.columns, -1)

    def backward(self, gradient):
        count, _, _, channels = self.shape
        flat = super().backward(gradient.reshape(-1, gradient.shape[-1]))
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


def cross_entropy(logits, labels):
    """Mean loss of a batch and its gradient with respect to the logits."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    probabilities = np.exp(shifted)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    loss = -np.log(np.maximum(probabilities[rows, labels], 1e-30)).mean()
    probabilities[rows, labels] -= 1.0
    return float(loss), probabilities / len(labels)


def training_step(layers, learning_rate, momentum=0.9):
    """A function: images, labels → loss before the step, by gradient descent with momentum."""
    velocities = [[np.zeros_like(item) for item in layer.parameters] for layer in layers]

    def step(x, labels):
        for layer in layers:
            x = layer.forward(x)
        loss, gradient = cross_entropy(x, labels)
        for layer in reversed(layers):
            gradient = layer.backward(gradient)
        for layer, moving in zip(layers, velocities):
            for parameter, change, velocity in zip(layer.parameters, layer.gradients, moving):
                velocity *= momentum
                velocity -= learning_rate * change
                parameter += velocity
        return loss

    return step


def main(options):
    rng = np.random.default_rng(options.seed)
    images, labels = synthetic_images(options.images, rng)
    step = training_step(lenet5(rng), options.learning_rate)
    data = batches(images, labels, options.batch_size, rng)
    facts = {"model": "LeNet-5", "framework": f"numpy {np.__version__}", "precision": "fp32", "gpus": 1}
    facts.update(unit="images/s", learning_rate=options.learning_rate, seed=options.seed)
    report = Reporter(options, images=options.images, **facts)
    begin = time.perf_counter()
    report.train(lambda: step(*next(data)), lambda losses: sum(losses) / len(losses))
    throughput = report.step * options.batch_size / (time.perf_counter() - begin)
    report.finish(throughput=round(throughput, 2), unit="images/s")


if __name__ == "__main__":
    main(options())

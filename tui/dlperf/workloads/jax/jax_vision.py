"""ResNet-50 v1.5 and VGG16 in JAX on synthetic or real images: ``python jax_vision.py --help``.

One process for all GPUs of a host, or one per GPU: started alone, or with JAX_COORDINATOR_ADDRESS, JAX_NUM_PROCESSES
and JAX_PROCESS_ID set. Data parallel: the batch is split over all devices, XLA inserts the all-reduce. Needs JAX >= 0.7
and, in the same folder, jax_trainer.py, options.py, reporting.py and, for real images, which are decoded on the CPU,
image_data.py.
"""

from options import JAX_PRECISION_HELP, JAX_PRECISIONS, finished, profilable, vision


def options():
    data = "ImageNet folder; with DALI also TFRecord or RecordIO files"
    return finished(profilable(vision(__doc__, JAX_PRECISIONS, JAX_PRECISION_HELP, data)).parse_args())


if __name__ == "__main__":
    OPTIONS = options()  # before the framework loads, see options.py

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn
from jax.sharding import NamedSharding
from jax_trainer import SPLIT, averaged, cross_entropy, dense, device_mesh, prepare, sgd, synthetic, train

CLASSES = 1000
STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
VGG = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))
VGG_WIDTH = 4096
"""Of the fully connected layers."""


def convolution_weight(key, size, inputs, outputs):
    """He initialization by fan-out, height × width × inputs × outputs."""
    return jax.random.normal(key, (size, size, inputs, outputs)) * (2.0 / (size * size * outputs)) ** 0.5


def convolve(weight, x, stride=1):
    pad = (weight.shape[0] - 1) // 2
    return lax.conv_general_dilated(
        x, weight.astype(x.dtype), (stride, stride), [(pad, pad)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def normalize(scale_and_shift, x):
    """Batch normalization over this step's samples on this device, statistics in fp32."""
    wide = x.astype(jnp.float32)
    mean = wide.mean((0, 1, 2))
    variance = jnp.square(wide).mean((0, 1, 2)) - jnp.square(mean)
    scale, shift = scale_and_shift
    factor = scale * lax.rsqrt(variance + 1e-5)
    return (wide * factor + (shift - mean * factor)).astype(x.dtype)


def pool(x, size, stride, pad):
    window, strides = (1, size, size, 1), (1, stride, stride, 1)
    return lax.reduce_window(x, -jnp.inf, lax.max, window, strides, [(0, 0), (pad, pad), (pad, pad), (0, 0)])


def norm_parameters(width, scale=1.0):
    return jnp.full(width, scale, jnp.float32), jnp.zeros(width)


def block_parameters(key, inputs, width, projected):
    keys = jax.random.split(key, 4)
    shapes = ((1, inputs, width), (3, width, width), (1, width, 4 * width), (1, inputs, 4 * width))
    scales = (1.0, 1.0, 0.0, 1.0)  # the block starts as the identity, see pytorch_vision.py
    parts = [
        (convolution_weight(k, *shape), norm_parameters(shape[2], scale))
        for k, shape, scale in zip(keys, shapes, scales)
    ]
    return parts if projected else parts[:3]


def block(parameters, x, stride):
    """The residual block of ResNet-50; v1.5 strides in the 3×3 convolution."""
    (w1, n1), (w2, n2), (w3, n3) = parameters[:3]
    y = nn.relu(normalize(n1, convolve(w1, x)))
    y = nn.relu(normalize(n2, convolve(w2, y, stride)))
    y = normalize(n3, convolve(w3, y))
    for weight, norm in parameters[3:]:
        x = normalize(norm, convolve(weight, x, stride))
    return nn.relu(x + y)


def resnet50_parameters(key, _image_size):
    key, first, last = jax.random.split(key, 3)
    blocks, inputs = [], 64
    for width, count, _ in STAGES:
        for index in range(count):
            key, part = jax.random.split(key)
            blocks.append(block_parameters(part, inputs, width, index == 0))
            inputs = 4 * width
    classifier = (jax.random.normal(last, (inputs, CLASSES)) * 0.01, jnp.zeros(CLASSES))
    return {
        "stem": (convolution_weight(first, 7, 3, 64), norm_parameters(64)),
        "blocks": blocks,
        "classifier": classifier,
    }


def resnet50(parameters, x):
    weight, norm = parameters["stem"]
    x = pool(nn.relu(normalize(norm, convolve(weight, x, 2))), 3, 2, 1)
    strides = [stride if index == 0 else 1 for _, count, stride in STAGES for index in range(count)]
    for part, stride in zip(parameters["blocks"], strides):
        x = block(part, x, stride)
    return dense(parameters["classifier"], x.mean((1, 2)))


def vgg16_parameters(key, image_size):
    convolutions, inputs = [], 3
    for width, count in VGG:
        for _ in range(count):
            key, part = jax.random.split(key)
            convolutions.append((convolution_weight(part, 3, inputs, width), jnp.zeros(width)))
            inputs = width
    keys = jax.random.split(key, 3)
    sizes = ((512 * (image_size // 32) ** 2, VGG_WIDTH), (VGG_WIDTH, VGG_WIDTH), (VGG_WIDTH, CLASSES))
    dense = [(jax.random.normal(k, size) * 0.01, jnp.zeros(size[1])) for k, size in zip(keys, sizes)]
    return {"convolutions": convolutions, "dense": dense}


def dropout(key, x):
    """Set each number to 0 with a probability of one half, and double the rest."""
    return jnp.where(jax.random.bernoulli(key, shape=x.shape), 2 * x, 0)


def vgg16(parameters, x, seed):
    """Configuration D (Simonyan and Zisserman 2014); ``seed`` is one number, of which its dropout is drawn."""
    keys = jax.random.split(jax.random.key(seed[0]))
    layers = iter(parameters["convolutions"])
    for _, count in VGG:
        for _ in range(count):
            weight, bias = next(layers)
            x = nn.relu(convolve(weight, x) + bias.astype(x.dtype))
        x = pool(x, 2, 2, 0)
    x = x.reshape(x.shape[0], -1)
    *hidden, last = parameters["dense"]
    for key, layer in zip(keys, hidden):
        x = dropout(key, nn.relu(dense(layer, x)))
    return dense(last, x)


MODELS = {"resnet50": (resnet50_parameters, resnet50), "vgg16": (vgg16_parameters, vgg16)}


def synthetic_images(key, count, size, dtype, classes=CLASSES):
    """A batch of (images, labels): sixteen classes, each one pattern of 8×8 patches, under noise of the same size."""
    patterns = jax.random.normal(jax.random.key(0), (16, size // 8, size // 8, 3)).repeat(8, 1).repeat(8, 2)
    first, second = jax.random.split(key)
    labels = jax.random.randint(first, (count,), 0, 16)
    images = patterns[labels] + jax.random.normal(second, (count, size, size, 3))
    return images.astype(dtype), labels * (classes // 16)


def real_images(options):
    """Facts for the log, and endless batches of (images as bytes, labels), split over the devices."""
    import image_data

    split = NamedSharding(device_mesh(), SPLIT)
    count = options.batch_size * jax.local_device_count()
    facts, batches = image_data.host_batches(options, count, jax.process_index(), jax.process_count())
    return facts, (tuple(jax.make_array_from_process_local_data(split, part) for part in pair) for pair in batches)


def with_seeds(batches, seed):
    """Endless batches with a number for each device, new at every step."""
    draw = np.random.default_rng([seed, jax.process_index()])
    split = NamedSharding(device_mesh(), SPLIT)
    for batch in batches:
        numbers = draw.integers(2**32, size=jax.local_device_count(), dtype=np.uint32)
        yield *batch, jax.make_array_from_process_local_data(split, numbers)


def normalized(images, dtype):
    """Normalize real images, which are bytes, by ImageNet's mean and deviation; return synthetic ones unchanged."""
    if images.dtype != jnp.uint8:
        return images
    import image_data

    mean, deviation = jnp.array(image_data.MEAN), jnp.array(image_data.DEVIATION)
    return ((images.astype(jnp.float32) - mean) / deviation).astype(dtype)


def main(options):
    dtype = prepare(options)
    parameters, apply = MODELS[options.model]

    def create(key):
        return parameters(key, options.image_size)

    def loss(parameters, images, labels, *seed):
        return cross_entropy(apply(parameters, normalized(images, dtype), *seed), labels)

    def batch(key, count):
        return synthetic_images(key, count, options.image_size, dtype)

    data, batches = ({}, synthetic(batch, options)) if options.data is None else real_images(options)
    if options.model == "vgg16":
        batches = with_seeds(batches, options.seed)
    train(create, averaged(loss), batches, sgd(options.learning_rate), options, layout="NHWC", **data)


if __name__ == "__main__":
    main(OPTIONS)

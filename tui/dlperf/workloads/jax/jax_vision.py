"""ResNet-50 v1.5 and VGG16 in JAX on synthetic or real images: ``python jax_vision.py --help``.

One process for all GPUs of a host, or one per GPU: started alone, or with JAX_COORDINATOR_ADDRESS, JAX_NUM_PROCESSES
and JAX_PROCESS_ID set. Data parallel: the batch is split over all devices, XLA inserts the all-reduce. Needs JAX >= 0.7
and, in the same folder, jax_trainer.py, jax_numerics.py, jax_pooling.py, options.py, reporting.py and, for real images,
which are decoded on the CPU, image_data.py.
"""

import itertools

from options import JAX_PRECISION_HELP, JAX_PRECISIONS, LABELS, WRONG, finished, profilable, vision


def options():
    data = "ImageNet folder; with DALI also TFRecord or RecordIO files"
    return finished(profilable(vision(__doc__, JAX_PRECISIONS, JAX_PRECISION_HELP, data)).parse_args())


if __name__ == "__main__":
    OPTIONS = options()  # before the framework loads, see options.py

import jax
import jax.numpy as jnp
import jax_pooling
import numpy as np
from jax import lax, nn
from jax.sharding import NamedSharding
from jax_numerics import RESIDUAL, marked
from jax_trainer import SPLIT, averaged, cross_entropy, data_key, dense, device_mesh, prepare, sgd, synthetic, train

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


def normalize(scale_and_shift, x, seen):
    """Batch normalization over this step's samples on this device, statistics in fp32, which ``seen`` collects."""
    wide = x.astype(jnp.float32)
    mean = wide.mean((0, 1, 2))
    variance = jnp.square(wide).mean((0, 1, 2)) - jnp.square(mean)
    count = x.size // x.shape[-1]
    seen.append((mean, variance * (count / (count - 1))))
    scale, shift = scale_and_shift
    factor = scale * lax.rsqrt(variance + 1e-5)
    return (wide * factor + (shift - mean * factor)).astype(x.dtype)


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


def block(parameters, x, stride, seen):
    """The residual block of ResNet-50; v1.5 strides in the 3×3 convolution."""
    (w1, n1), (w2, n2), (w3, n3) = parameters[:3]
    y = nn.relu(normalize(n1, convolve(w1, x), seen))
    y = nn.relu(normalize(n2, convolve(w2, y, stride), seen))
    y = normalize(n3, convolve(w3, y), seen)
    for weight, norm in parameters[3:]:
        x = normalize(norm, convolve(weight, x, stride), seen)
    return marked(nn.relu(x + y), RESIDUAL)


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


def resnet50(parameters, x, seen, pools):
    weight, norm = parameters["stem"]
    x = pools.thirds(nn.relu(normalize(norm, convolve(weight, x, 2), seen)))
    strides = [stride if index == 0 else 1 for _, count, stride in STAGES for index in range(count)]
    for part, stride in zip(parameters["blocks"], strides):
        x = block(part, x, stride, seen)
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


def vgg16(parameters, x, _seen, pools, seed):
    """Configuration D (Simonyan and Zisserman 2014); ``seed`` is one number, of which its dropout is drawn."""
    keys = jax.random.split(jax.random.key(seed[0]))
    layers = iter(parameters["convolutions"])
    for _, count in VGG:
        for _ in range(count):
            weight, bias = next(layers)
            x = nn.relu(convolve(weight, x) + bias.astype(x.dtype))
        x = pools.halves(x)
    x = x.reshape(x.shape[0], -1)
    *hidden, last = parameters["dense"]
    for key, layer in zip(keys, hidden):
        x = dropout(key, nn.relu(dense(layer, x)))
    return dense(last, x)


MODELS = {"resnet50": (resnet50_parameters, resnet50), "vgg16": (vgg16_parameters, vgg16)}


def synthetic_images(options, dtype, classes):
    """Endless batches of (images, labels): sixteen of the classes, each one pattern of 8×8 patches, under noise.

    An image comes with ``LABELS`` labels in turn, of which a share is drawn at random: see options.py.
    """
    size = options.image_size
    shape = (16, size // 8, size // 8, 3)
    patterns = jax.random.normal(jax.random.fold_in(data_key(options), 0), shape).repeat(8, 1).repeat(8, 2)

    def batch(key, count):
        keys = jax.random.split(key, 4)
        chosen = jax.random.randint(keys[0], (count,), 0, 16)
        images = patterns[chosen] + jax.random.normal(keys[1], (count, size, size, 3))
        wrong = jax.random.bernoulli(keys[2], WRONG, (LABELS, count))
        labels = jnp.where(wrong, jax.random.randint(keys[3], wrong.shape, 0, classes), chosen * (classes // 16))
        return images.astype(dtype), *labels

    made = list(itertools.islice(synthetic(batch, options), options.batches))
    return itertools.cycle([(images, labels[turn]) for turn in range(LABELS) for images, *labels in made])


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
    pools = jax_pooling.pools(options.stock)

    def create(key):
        return parameters(key, options.image_size)

    def loss(parameters, images, labels, *seed):
        seen = []
        return cross_entropy(apply(parameters, normalized(images, dtype), seen, pools, *seed), labels), seen

    synthetic_data = options.data is None
    data, batches = ({}, synthetic_images(options, dtype, CLASSES)) if synthetic_data else real_images(options)
    if options.model == "vgg16":
        batches = with_seeds(batches, options.seed)
    train(create, averaged(loss), batches, sgd(options.learning_rate), options, layout="NHWC", **data)


if __name__ == "__main__":
    main(OPTIONS)

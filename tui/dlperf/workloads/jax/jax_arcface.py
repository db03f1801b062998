"""ArcFace in JAX on synthetic faces: ``python jax_arcface.py --help``.

The same backbone, margin and task as pytorch_arcface.py: ResNet-50 for faces at 112×112, 85 742 classes. The backbone
is data parallel and the classes are split over the devices, as in PaddlePaddle's PLSC: XLA gathers the features and
sums the softmax over all devices. Needs JAX >= 0.7 and, in the same folder, jax_vision.py, jax_pooling.py,
jax_trainer.py, jax_numerics.py, options.py and reporting.py.
"""

from options import JAX_PRECISION_HELP, JAX_PRECISIONS, arcface, common, profilable


def options():
    return profilable(arcface(common(__doc__, JAX_PRECISIONS, JAX_PRECISION_HELP))).parse_args()


if __name__ == "__main__":
    OPTIONS = options()  # before the framework loads, see options.py

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec
from jax_numerics import LOGITS, RESIDUAL, marked
from jax_trainer import EVERYWHERE, SPLIT, dense, device_mesh, on_each_device, prepare, sgd, train
from jax_vision import convolution_weight, convolve, norm_parameters, normalize, synthetic_images

EMBEDDING = 512
MARGIN, SCALE = 0.5, 64.0
STAGES = ((64, 3), (128, 4), (256, 14), (512, 3))


def block_parameters(key, inputs, outputs):
    first, second, third = jax.random.split(key, 3)
    body = {
        "norm1": norm_parameters(inputs),
        "weight1": convolution_weight(first, 3, inputs, outputs),
        "norm2": norm_parameters(outputs),
        "slope": jnp.full(outputs, 0.25, jnp.float32),
        "weight2": convolution_weight(second, 3, outputs, outputs),
        "norm3": norm_parameters(outputs, 0.0),
    }
    return body, (convolution_weight(third, 1, inputs, outputs), norm_parameters(outputs))


def prelu(slope, x):
    return jnp.where(x > 0, x, slope.astype(x.dtype) * x)


def block(parameters, x, stride, seen):
    """The improved residual block: normalization first, PReLU between the convolutions, none after the sum."""
    body, shortcut = parameters
    y = convolve(body["weight1"], normalize(body["norm1"], x, seen))
    y = prelu(body["slope"], normalize(body["norm2"], y, seen))
    y = normalize(body["norm3"], convolve(body["weight2"], y, stride), seen)
    if shortcut is not None:
        weight, norm = shortcut
        x = normalize(norm, convolve(weight, x, stride), seen)
    return marked(x + y, RESIDUAL)


def backbone_parameters(key, image_size):
    key, first, last = jax.random.split(key, 3)
    blocks, inputs = [], 64
    for width, count in STAGES:
        for index in range(count):
            key, part = jax.random.split(key)
            body, shortcut = block_parameters(part, inputs, width)
            blocks.append((body, shortcut if index == 0 else None))
            inputs = width
    flat = inputs * (image_size // 16) ** 2
    return {
        "stem": (convolution_weight(first, 3, 3, 64), norm_parameters(64), jnp.full(64, 0.25, jnp.float32)),
        "blocks": blocks,
        "norm": norm_parameters(inputs),
        "embedding": (jax.random.normal(last, (flat, EMBEDDING)) * 0.01, jnp.zeros(EMBEDDING)),
        "last_norm": norm_parameters(EMBEDDING),
    }


def backbone(parameters, x):
    """Convert images to embeddings, count × 512, and what each batch normalization saw, with a row in front."""
    seen = []
    weight, norm, slope = parameters["stem"]
    x = prelu(slope, normalize(norm, convolve(weight, x), seen))
    strides = [2 if index == 0 else 1 for _, count in STAGES for index in range(count)]
    for part, stride in zip(parameters["blocks"], strides):
        x = block(part, x, stride, seen)
    x = normalize(parameters["norm"], x, seen).reshape(x.shape[0], -1)
    x = dense(parameters["embedding"], x)
    x = normalize(parameters["last_norm"], x[:, None, None], seen)[:, 0, 0]
    return x, jax.tree.map(lambda each: each[None], seen)


def unit(rows):
    wide = rows.astype(jnp.float32)
    return wide * lax.rsqrt(jnp.square(wide).sum(1, keepdims=True) + 1e-12)


def margin_loss(mesh, classes, weight, features, labels):
    """Mean margin loss; rows of ``weight`` beyond ``classes`` are padding for an even split over the devices."""
    gathered = lax.with_sharding_constraint(unit(features).astype(features.dtype), NamedSharding(mesh, EVERYWHERE))
    cosine = marked(gathered @ unit(weight).astype(features.dtype).T, LOGITS).astype(jnp.float32)
    cosine = lax.with_sharding_constraint(cosine, NamedSharding(mesh, PartitionSpec(None, "data")))
    column = jnp.arange(weight.shape[0])
    own = column == labels[:, None]
    target = jnp.where(own, cosine, 0.0).sum(1).clip(-1 + 1e-6, 1 - 1e-6)
    marginal = SCALE * jnp.cos(jnp.arccos(target) + MARGIN)
    logits = jnp.where(own, marginal[:, None], SCALE * cosine)
    total = jnp.where(column < classes, jnp.exp(logits - SCALE), 0.0).sum(1)
    return (jnp.log(total) + SCALE - marginal).mean()


def main(options):
    dtype = prepare(options)
    mesh = device_mesh()
    rows = -(-options.classes // mesh.size) * mesh.size

    def create(key):
        first, second = jax.random.split(key)
        head = jax.random.normal(second, (rows, EMBEDDING)) * 0.01
        return {"backbone": backbone_parameters(first, options.image_size), "head": head}

    features_of = on_each_device(backbone)

    def loss(parameters, images, labels):
        features, seen = features_of(parameters["backbone"], images)
        return margin_loss(mesh, options.classes, parameters["head"], features, labels), seen

    batches = synthetic_images(options, dtype, options.classes)
    layout = {"backbone": EVERYWHERE, "head": SPLIT}
    facts = {"model": "arcface", "layout": "NHWC"}
    train(create, loss, batches, sgd(options.learning_rate, 5e-4), options, layout, **facts)


if __name__ == "__main__":
    main(OPTIONS)

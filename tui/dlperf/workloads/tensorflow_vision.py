"""ResNet-50 v1.5 and VGG16 in TensorFlow on synthetic images: ``python tensorflow_vision.py --help``.

Forward and backward pass are one XLA computation; initialized and fed as in pytorch_vision.py. One process for all
GPUs of a host (MirroredStrategy, gradients summed by NCCL). Needs TensorFlow >= 2.16 and, beside this file,
reporting.py.
"""

import argparse

import tensorflow as tf
from reporting import Reporter
from tensorflow import keras
from tensorflow.keras import layers

CLASSES = 1000
LEARNING_RATES = {"resnet50": 0.002, "vgg16": 0.001}
"""Constant, without the warm-up of a full training: low enough that the first forty steps learn at any batch size."""
POLICIES = {"fp32": "float32", "tf32": "float32", "amp": "mixed_float16", "bf16": "mixed_bfloat16"}
LOSS_SCALE = {"amp": 128.0}
"""Static, as NVIDIA's TensorFlow configuration of ResNet-50."""
FAN_OUT = keras.initializers.VarianceScaling(2.0, "fan_out", "untruncated_normal", seed=1)
SMALL = keras.initializers.RandomNormal(stddev=0.01, seed=1)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--model", choices=sorted(LEARNING_RATES), default="resnet50")
    parser.add_argument("--batch-size", type=int, default=32, help="samples per GPU and step")
    parser.add_argument("--steps", type=int, default=120, help="steps to train after compilation")
    parser.add_argument("--log-interval", type=int, default=10, help="steps per log line")
    parser.add_argument("--precision", choices=sorted(POLICIES), default="fp32", help="amp, bf16: weights are fp32")
    parser.add_argument("--no-xla", action="store_true", help="TensorFlow's own kernels instead of XLA")
    parser.add_argument("--learning-rate", type=float, help="the model's own if absent")
    parser.add_argument("--image-size", type=int, default=224)
    parser.add_argument("--batches", type=int, default=8, help="different synthetic batches, kept on the device")
    parser.add_argument("--devices", type=int, help="use so many GPUs, or split the CPU; all GPUs if absent")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def prepare(options):
    """Process-wide settings; returns the strategy that spreads the work over the devices."""
    keras.mixed_precision.set_global_policy(POLICIES[options.precision])
    tf.config.experimental.enable_tensor_float_32_execution(options.precision != "fp32")
    kind = "GPU" if tf.config.list_physical_devices("GPU") else "CPU"
    found = tf.config.list_physical_devices(kind)
    count = options.devices or len(found)
    if kind == "CPU":
        tf.config.set_logical_device_configuration(found[0], [tf.config.LogicalDeviceConfiguration()] * count)
    elif count > len(found):
        raise SystemExit(f"--devices {count}: there are {len(found)} GPUs")
    keras.utils.set_random_seed(options.seed)
    if count == 1:
        return tf.distribute.OneDeviceStrategy(f"{kind}:0")
    return tf.distribute.MirroredStrategy([f"{kind}:{index}" for index in range(count)])


def convolution(x, width, size, stride=1, last=False):
    """Convolution and batch normalization; ``last`` in a block: scaled by zero, so that the block is the identity."""
    if stride > 1 and size > 1:  # pad as every other framework does; "same" would pad the far side more
        x = layers.ZeroPadding2D(size // 2)(x)
    padding = "valid" if stride > 1 else "same"
    x = layers.Conv2D(width, size, stride, padding, use_bias=False, kernel_initializer=FAN_OUT.clone())(x)
    return layers.BatchNormalization(momentum=0.9, epsilon=1e-5, gamma_initializer="zeros" if last else "ones")(x)


def block(x, width, stride, projected):
    """The residual block of ResNet-50; v1.5 strides in the 3×3 convolution."""
    y = layers.ReLU()(convolution(x, width, 1))
    y = layers.ReLU()(convolution(y, width, 3, stride))
    y = convolution(y, 4 * width, 1, last=True)
    shortcut = convolution(x, 4 * width, 1, stride) if projected else x
    return layers.ReLU()(layers.Add()([y, shortcut]))


def resnet50(images):
    x = layers.ReLU()(convolution(images, 64, 7, 2))
    x = layers.MaxPooling2D(3, 2)(layers.ZeroPadding2D(1)(x))
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for index in range(blocks):
            x = block(x, width, stride if index == 0 else 1, index == 0)
    return layers.Dense(CLASSES, kernel_initializer=SMALL.clone())(layers.GlobalAveragePooling2D()(x))


def vgg16(images):
    """Configuration D of Simonyan and Zisserman 2014."""
    x = images
    for width, convolutions in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(convolutions):
            x = layers.Conv2D(width, 3, padding="same", activation="relu", kernel_initializer=FAN_OUT.clone())(x)
        x = layers.MaxPooling2D(2)(x)
    x = layers.Flatten()(x)
    for _ in range(2):
        x = layers.Dropout(0.5)(layers.Dense(4096, "relu", kernel_initializer=SMALL.clone())(x))
    return layers.Dense(CLASSES, kernel_initializer=SMALL.clone())(x)


MODELS = {"resnet50": resnet50, "vgg16": vgg16}


def build(options):
    images = keras.Input((options.image_size, options.image_size, 3))
    return keras.Model(images, MODELS[options.model](images))


def synthetic_images(strategy, options):
    """Batches of (images, labels) on each device: sixteen classes, each one pattern of 8×8 patches, under noise."""
    size, patches = options.image_size, options.image_size // 8
    patterns = tf.random.stateless_normal((16, patches, patches, 3), (options.seed, 0))
    patterns = tf.repeat(tf.repeat(patterns, 8, 1), 8, 2)

    def batch(number):
        rank = tf.distribute.get_replica_context().replica_id_in_sync_group
        seed = tf.stack([options.seed + 1 + number, rank])
        chosen = tf.random.stateless_uniform((options.batch_size,), seed, 0, 16, tf.int32)
        noise = tf.random.stateless_normal((options.batch_size, size, size, 3), seed)
        return tf.gather(patterns, chosen) + noise, chosen * (CLASSES // 16)

    return [strategy.run(batch, (number,)) for number in range(options.batches)]


def training_step(strategy, model, optimizer, options):
    """A function of one distributed batch: the mean loss of one step, on the device."""
    scale = LOSS_SCALE.get(options.precision, 1.0)

    @tf.function(jit_compile=not options.no_xla)
    def gradients(images, labels):
        with tf.GradientTape() as tape:
            logits = tf.cast(model(images, training=True), tf.float32)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
            scaled = loss * scale
        return loss, [gradient / scale for gradient in tape.gradient(scaled, model.trainable_variables)]

    def replica(images, labels):
        loss, parts = gradients(images, labels)
        context = tf.distribute.get_replica_context()
        parts = context.all_reduce(tf.distribute.ReduceOp.MEAN, parts)
        optimizer.apply(parts)
        return loss

    @tf.function
    def step(batch):
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(replica, batch), axis=None)

    return step


def check_devices_agree(strategy, model):
    """Every device must hold the same weights at the end, or the gradients were not exchanged.

    Raises:
        SystemExit: they differ.
    """
    sums = [0.0] * strategy.num_replicas_in_sync
    for variable in model.trainable_variables:
        for index, copy in enumerate(strategy.experimental_local_results(variable.value)):
            sums[index] += float(tf.reduce_sum(tf.cast(copy, tf.float64)))
    if len(set(sums)) > 1:
        raise SystemExit(f"no figure: the devices hold different weights ({min(sums)!r} … {max(sums)!r})")


def train(strategy, step, batches, options):
    """Warm up, train and report."""
    devices = strategy.num_replicas_in_sync
    step(batches[0]).numpy()
    report = Reporter(
        framework="tensorflow",
        framework_version=tf.__version__,
        model=options.model,
        precision=options.precision,
        batch_size=options.batch_size,
        gpus=devices,
        steps=options.steps,
        synthetic_data=True,
        image_size=options.image_size,
        layout="NHWC",
        xla=not options.no_xla,
    )
    losses = []
    for number in range(1, options.steps + 1):
        losses.append(step(batches[number % len(batches)]))
        if number % options.log_interval == 0 or number == options.steps:
            report.interval(number, number * options.batch_size * devices, float(tf.reduce_mean(losses)))
            losses.clear()
    return report


def main():
    options = arguments()
    strategy = prepare(options)
    rate = LEARNING_RATES[options.model] if options.learning_rate is None else options.learning_rate
    with strategy.scope():
        model = build(options)
        optimizer = keras.optimizers.SGD(rate, momentum=0.9)
        optimizer.build(model.trainable_variables)
    batches = synthetic_images(strategy, options)
    report = train(strategy, training_step(strategy, model, optimizer, options), batches, options)
    check_devices_agree(strategy, model)
    report.finish()


if __name__ == "__main__":
    main()

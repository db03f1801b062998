"""ResNet-50 v1.5 and VGG16 in TensorFlow on synthetic or real images: ``python tensorflow_vision.py --help``.

Forward and backward pass are one XLA computation; initialized and fed as in pytorch_vision.py; real images through
tf.data. One process for all GPUs of a host (MirroredStrategy) and, where TF_CONFIG names the workers, one on each host
(MultiWorkerMirroredStrategy); gradients are summed by NCCL. Needs TensorFlow >= 2.16 and, in the same folder,
image_data.py, options.py and reporting.py.
"""

import itertools
import os

from options import LABELS, WRONG, finished, positive, refuse, vision


def options():
    precisions = ("fp32", "tf32", "amp", "bf16")
    parser = vision(__doc__, precisions, "amp, bf16: weights are fp32", "ImageNet folder or TFRecord files")
    parser.add_argument("--no-xla", action="store_true", help="TensorFlow's own kernels instead of XLA")
    parser.add_argument("--devices", type=positive, help="use so many GPUs, or split the CPU; all GPUs if absent")
    return finished(parser.parse_args())


if __name__ == "__main__":
    OPTIONS = options()  # before the framework loads, see options.py

import image_data
import tensorflow as tf
from reporting import check_equal, train
from tensorflow import keras
from tensorflow.keras import layers

CLASSES = 1000
STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
POLICIES = {"fp32": "float32", "tf32": "float32", "amp": "mixed_float16", "bf16": "mixed_bfloat16"}
LOSS_SCALE = {"amp": 128.0}
"""Static, as NVIDIA's TensorFlow configuration of ResNet-50."""
FAN_OUT = keras.initializers.VarianceScaling(2.0, "fan_out", "untruncated_normal", seed=1)
SMALL = keras.initializers.RandomNormal(stddev=0.01, seed=1)


def prepare(options):
    """Apply process-wide settings and return the strategy that spreads the work over the devices."""
    keras.mixed_precision.set_global_policy(POLICIES[options.precision])
    tf.config.experimental.enable_tensor_float_32_execution(options.precision != "fp32")
    kind = "GPU" if tf.config.list_physical_devices("GPU") else "CPU"
    found = tf.config.list_physical_devices(kind)
    count = options.devices or len(found)
    if kind == "CPU":
        tf.config.set_logical_device_configuration(found[0], [tf.config.LogicalDeviceConfiguration()] * count)
    elif count > len(found):
        refuse(f"--devices {count}", f"there are {len(found)} GPUs")
    else:
        tf.config.set_visible_devices(found[:count], "GPU")
    keras.utils.set_random_seed(options.seed)
    if "TF_CONFIG" in os.environ:
        ways = tf.distribute.experimental.CommunicationImplementation
        way = ways.NCCL if kind == "GPU" else ways.RING
        return tf.distribute.MultiWorkerMirroredStrategy(
            communication_options=tf.distribute.experimental.CommunicationOptions(implementation=way)
        )
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
    for width, blocks, stride in STAGES:
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
    """No facts for the log, and endless batches per device: sixteen classes, each a pattern of patches, under noise.

    An image comes with ``LABELS`` labels in turn, of which a share is drawn at random: see options.py.
    """
    size, patches = options.image_size, options.image_size // 8
    patterns = tf.random.stateless_normal((16, patches, patches, 3), (options.seed, 0))
    patterns = tf.repeat(tf.repeat(patterns, 8, 1), 8, 2)

    def batch(number):
        rank = tf.distribute.get_replica_context().replica_id_in_sync_group
        seed = tf.stack([options.seed + 1 + number, rank])
        chosen = tf.random.stateless_uniform((options.batch_size,), seed, 0, 16, tf.int32)
        noise = tf.random.stateless_normal((options.batch_size, size, size, 3), seed)
        shape = (LABELS, options.batch_size)
        wrong = tf.random.stateless_uniform(shape, seed + 2**16) < WRONG
        drawn = tf.random.stateless_uniform(shape, seed, 0, CLASSES, tf.int32)
        labels = tf.where(wrong, drawn, chosen * (CLASSES // 16))
        return tf.gather(patterns, chosen) + noise, *tf.unstack(labels)

    made = [strategy.run(batch, (number,)) for number in range(options.batches)]
    return {}, itertools.cycle([(images, labels[turn]) for turn in range(LABELS) for images, *labels in made])


def real_images(strategy, options):
    """Facts for the log, and endless batches of (images as bytes, labels) per device."""
    source = image_data.find(options.data)
    if source.kind == "recordio":
        refuse("--data " + options.data, "holds RecordIO files, which TensorFlow does not read")
    images = len(source.files)
    if source.kind == "tfrecord":
        images = sum(sum(1 for _ in image_data.tfrecord_places(path)) for path in source.files)
    image_data.check_enough(options.data, images, options.batch_size * strategy.num_replicas_in_sync)

    def dataset(context):
        part = _encoded(source).shard(context.num_input_pipelines, context.input_pipeline_id)
        part = part.shuffle(10_000, options.seed).repeat()
        part = part.map(lambda *pair: _decoded(*pair, options.image_size), tf.data.AUTOTUNE)
        return part.batch(options.batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

    facts = image_data.facts(source, images, "tf.data")
    return facts, iter(strategy.distribute_datasets_from_function(dataset))


def _encoded(source):
    """A data set of (JPEG bytes, label)."""
    if source.kind == "folder":
        files = tf.data.Dataset.from_tensor_slices((source.files, source.labels)).shuffle(len(source.files), seed=1)
        return files.map(lambda path, label: (tf.io.read_file(path), label), tf.data.AUTOTUNE)
    features = {
        "image/encoded": tf.io.FixedLenFeature((), tf.string),
        "image/class/label": tf.io.FixedLenFeature((), tf.int64),
    }

    def parsed(record):
        found = tf.io.parse_single_example(record, features)
        return found["image/encoded"], tf.cast(found["image/class/label"] - 1, tf.int32)

    return tf.data.TFRecordDataset(source.files, num_parallel_reads=16).map(parsed, tf.data.AUTOTUNE)


def _decoded(encoded, label, size):
    """An image cropped at random (8 to 100 % of the area, aspect 3:4 to 4:3), resized and mirrored at random."""
    begin, extent, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(encoded),
        tf.zeros((1, 0, 4)),
        min_object_covered=0.0,
        aspect_ratio_range=(3 / 4, 4 / 3),
        area_range=(0.08, 1.0),
        max_attempts=10,
        use_image_if_no_bounding_boxes=True,
    )
    window = tf.concat([begin[:2], extent[:2]], 0)
    image = tf.image.resize(tf.io.decode_and_crop_jpeg(encoded, window, channels=3), (size, size))
    image = tf.image.random_flip_left_right(image)
    return tf.cast(image, tf.uint8), label


def training_step(strategy, model, optimizer, options):
    """A function: distributed batch → mean loss of one step, on the device."""
    scale = LOSS_SCALE.get(options.precision, 1.0)

    @tf.function(jit_compile=not options.no_xla)
    def gradients(images, labels):
        if images.dtype == tf.uint8:  # real images
            images = (tf.cast(images, tf.float32) - image_data.MEAN) / image_data.DEVIATION
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


def sums_of_weights(strategy, model):
    """Sum of the trained weights of each device of all workers."""

    @tf.function
    def checksum():
        sums = [tf.reduce_sum(tf.cast(variable.value, tf.float64)) for variable in model.trainable_variables]
        return tf.reshape(tf.add_n(sums), (1,))

    return strategy.gather(strategy.run(checksum), axis=0).numpy()


def main(options):
    strategy = prepare(options)
    with strategy.scope():
        model = build(options)
        optimizer = keras.optimizers.SGD(options.learning_rate, momentum=0.9)
        optimizer.build(model.trainable_variables)
    images = synthetic_images if options.data is None else real_images
    facts, batches = images(strategy, options)
    step = training_step(strategy, model, optimizer, options)
    resolver = strategy.cluster_resolver
    facts.update(framework="tensorflow", framework_version=tf.__version__, layout="NHWC", xla=not options.no_xla)

    def agree(seconds):
        each = strategy.run(lambda: tf.constant(seconds))
        return float(strategy.reduce(tf.distribute.ReduceOp.MEAN, each, axis=None))

    report = train(
        options,
        lambda: step(next(batches)),
        lambda losses: float(tf.reduce_mean(losses)),
        strategy.num_replicas_in_sync,
        resolver.task_id if resolver else 0,
        agree,
        **facts,
    )
    check_equal(sums_of_weights(strategy, model))
    report.finish()


if __name__ == "__main__":
    main(OPTIONS)

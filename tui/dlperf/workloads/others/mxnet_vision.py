"""ResNet-50 v1.5 and VGG16 in MXNet on synthetic or real images: ``python mxnet_vision.py --help``.

Gluon, hybridized; initialized and fed as in pytorch_vision.py; real images through MXNet's own ImageRecordIter. One
process for all GPUs of a host. Needs MXNet 1.9 (with NumPy < 1.24) and, in the same folder, image_data.py,
options.py and reporting.py.
"""

import itertools
import os

from options import LABELS, WRONG, finished, refuse, vision


def options():
    parser = vision(__doc__, ("fp32", "fp16"), "fp16: master weights in fp32", "folder of RecordIO files (.rec, .idx)")
    return finished(parser.parse_args())


if __name__ == "__main__":
    OPTIONS = options()  # before the framework loads, see options.py

import image_data
import mxnet as mx
from mxnet import autograd, gluon, init, nd
from mxnet.gluon import nn
from mxnet.gluon.model_zoo.vision import vgg16
from reporting import check_equal, train

CLASSES = 1000
STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
DTYPES = {"fp32": "float32", "fp16": "float16"}
LOSS_SCALE = {"fp16": 128.0}


class Bottleneck(gluon.HybridBlock):
    """The residual block of ResNet-50; v1.5 strides in the 3×3 convolution, which the model zoo's does not."""

    def __init__(self, width, stride, projected, **names):
        super().__init__(**names)
        with self.name_scope():
            self.body = nn.HybridSequential()
            self.body.add(nn.Conv2D(width, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
            self.body.add(nn.Conv2D(width, 3, stride, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
            self.body.add(nn.Conv2D(4 * width, 1, use_bias=False), nn.BatchNorm(gamma_initializer="zeros"))
            self.shortcut = nn.HybridSequential()
            if projected:
                self.shortcut.add(nn.Conv2D(4 * width, 1, stride, use_bias=False), nn.BatchNorm())

    def hybrid_forward(self, F, x):
        return F.Activation(self.body(x) + (self.shortcut(x) if len(self.shortcut) else x), act_type="relu")


def resnet50():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(64, 7, 2, 3, use_bias=False), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(3, 2, 1))
    for width, blocks, stride in STAGES:
        for index in range(blocks):
            net.add(Bottleneck(width, stride if index == 0 else 1, index == 0))
    net.add(nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(CLASSES, weight_initializer=init.Normal(0.01)))
    return net


MODELS = {"resnet50": resnet50, "vgg16": lambda: vgg16(classes=CLASSES)}


def synthetic_images(contexts, options):
    """No facts for the log, and endless batches as of ``real_images``: sixteen classes, each a pattern under noise.

    An image comes with ``LABELS`` labels in turn, of which a share is drawn at random: see options.py.
    """
    size = options.image_size
    mx.random.seed(options.seed)
    patterns = nd.random.normal(shape=(16, 3, size // 8, size // 8)).repeat(8, axis=2).repeat(8, axis=3)

    def part(context):
        chosen = nd.random.randint(0, 16, (options.batch_size,)).astype("int32")
        images = nd.take(patterns, chosen) + nd.random.normal(shape=(options.batch_size, 3, size, size))
        shape = (LABELS, options.batch_size)
        drawn = nd.random.randint(0, CLASSES, shape).astype("int32")
        labels = nd.where(nd.random.uniform(shape=shape) < WRONG, drawn, (chosen * (CLASSES // 16)).broadcast_to(shape))
        return tuple(array.as_in_context(context) for array in (images.astype(DTYPES[options.precision]), labels))

    made = [[part(context) for context in contexts] for _ in range(options.batches)]
    turns = [[[(images, labels[turn]) for images, labels in batch] for batch in made] for turn in range(LABELS)]
    return {}, itertools.cycle([batch for batches in turns for batch in batches])


def real_images(contexts, options):
    """Facts for the log, and endless batches, each a list of (images, labels) per device."""
    source = image_data.find(options.data)
    if source.kind != "recordio" or len(source.files) != 1:
        refuse("--data " + options.data, "does not hold one .rec file, which is what MXNet reads")
    index = os.path.splitext(source.files[0])[0] + ".idx"
    if not os.path.isfile(index):
        refuse("--data " + options.data, "lacks " + os.path.basename(index) + ": write it with MXNet's rec2idx.py")
    with open(index) as lines:
        images = sum(1 for _ in lines)
    needed = options.batch_size * len(contexts)
    image_data.check_enough(options.data, images, needed)
    reader = _record_reader(source.files[0], index, needed, options)
    return image_data.facts(source, images, "MXNet ImageRecordIter"), _batches_of(
        reader, contexts, DTYPES[options.precision]
    )


def _record_reader(path, index, count, options):
    """Images cropped at random (8 to 100 % of the area, aspect 3:4 to 4:3), resized, mirrored at random, normalized."""
    return mx.io.ImageRecordIter(
        path_imgrec=path,
        path_imgidx=index,
        data_shape=(3, options.image_size, options.image_size),
        batch_size=count,
        preprocess_threads=options.workers,
        shuffle=True,
        seed=options.seed,
        random_resized_crop=True,
        min_random_area=0.08,
        max_random_area=1.0,
        min_aspect_ratio=3 / 4,
        max_aspect_ratio=4 / 3,
        rand_mirror=True,
        round_batch=False,
        **dict(zip(("mean_r", "mean_g", "mean_b"), image_data.MEAN)),
        **dict(zip(("std_r", "std_g", "std_b"), image_data.DEVIATION)),
    )


def _batches_of(reader, contexts, dtype):
    while True:
        reader.reset()
        for batch in reader:
            if batch.pad:
                continue  # the last batch of the epoch, padded
            images = gluon.utils.split_and_load(batch.data[0].astype(dtype), contexts)
            yield list(zip(images, gluon.utils.split_and_load(batch.label[0].astype("int32"), contexts)))


def training_step(net, trainer, options):
    """A function: batch → losses of one step, an array per device."""
    scale = LOSS_SCALE.get(options.precision, 1.0)
    cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss()

    def step(batch):
        with autograd.record():
            losses = [cross_entropy(net(images).astype("float32"), labels) for images, labels in batch]
            scaled = [loss * scale for loss in losses]
        autograd.backward(scaled)
        trainer.step(options.batch_size * len(batch) * scale)
        return losses

    return step


def mean(losses):
    """Mean of the losses of several steps, each an array per device."""
    mx.nd.waitall()
    values = [float(loss.mean().asscalar()) for each in losses for loss in each]
    return sum(values) / len(values)


def sums_of_weights(net):
    """Sum of the trained weights of each device."""
    trained = [each.list_data() for each in net.collect_params().values() if each.grad_req != "null"]
    return [sum(float(copy.asnumpy().sum(dtype="float64")) for copy in copies) for copies in zip(*trained)]


def main(options):
    if options.precision == "fp16" and not mx.context.num_gpus():
        refuse("--precision fp16", "MXNet has it on GPUs only")
    mx.random.seed(options.seed)
    contexts = [mx.gpu(index) for index in range(mx.context.num_gpus())] or [mx.cpu()]
    net = MODELS[options.model]()
    net.initialize(init.MSRAPrelu(factor_type="out", slope=0), ctx=contexts)
    net.cast(DTYPES[options.precision])
    net.hybridize(static_alloc=True, static_shape=True)
    settings = {"learning_rate": options.learning_rate, "momentum": 0.9, "wd": 5e-5}
    trainer = gluon.Trainer(net.collect_params(), "sgd", {**settings, "multi_precision": options.precision == "fp16"})
    images = synthetic_images if options.data is None else real_images
    facts, batches = images(contexts, options)
    step = training_step(net, trainer, options)
    facts.update(framework="mxnet", framework_version=mx.__version__, layout="NCHW")
    report = train(options, lambda: step(next(batches)), mean, len(contexts), **facts)
    check_equal(sums_of_weights(net))
    report.finish()


if __name__ == "__main__":
    main(OPTIONS)

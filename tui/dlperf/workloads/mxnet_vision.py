"""ResNet-50 v1.5 and VGG16 in MXNet on synthetic images: ``python mxnet_vision.py --help``.

Gluon, hybridized; initialized and fed as in pytorch_vision.py. One process for all GPUs of a host. Needs MXNet 1.9
(with NumPy < 1.24) and, beside this file, reporting.py.
"""

import argparse

import mxnet as mx
from mxnet import autograd, gluon, init, nd
from mxnet.gluon import nn
from mxnet.gluon.model_zoo.vision import vgg16
from reporting import Reporter

CLASSES = 1000
LEARNING_RATES = {"resnet50": 0.002, "vgg16": 0.001}
"""Constant, without the warm-up of a full training: low enough that the first forty steps learn at any batch size."""
DTYPES = {"fp32": "float32", "fp16": "float16"}
LOSS_SCALE = {"fp16": 128.0}


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--model", choices=sorted(LEARNING_RATES), default="resnet50")
    parser.add_argument("--batch-size", type=int, default=32, help="samples per GPU and step")
    parser.add_argument("--steps", type=int, default=120, help="steps to train after the first")
    parser.add_argument("--log-interval", type=int, default=10, help="steps per log line")
    parser.add_argument("--precision", choices=sorted(DTYPES), default="fp32", help="fp16: master weights in fp32")
    parser.add_argument("--learning-rate", type=float, help="the model's own if absent")
    parser.add_argument("--image-size", type=int, default=224)
    parser.add_argument("--batches", type=int, default=8, help="different synthetic batches, kept on the device")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.precision == "fp16" and not mx.context.num_gpus():
        parser.error("--precision fp16: MXNet has it on GPUs only")
    return options


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
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for index in range(blocks):
            net.add(Bottleneck(width, stride if index == 0 else 1, index == 0))
    net.add(nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(CLASSES, weight_initializer=init.Normal(0.01)))
    return net


MODELS = {"resnet50": resnet50, "vgg16": lambda: vgg16(classes=CLASSES)}


def synthetic_images(contexts, options):
    """Batches, each a list of (images, labels), one for each device: sixteen classes, each one pattern under noise."""
    size = options.image_size
    mx.random.seed(options.seed)
    patterns = nd.random.normal(shape=(16, 3, size // 8, size // 8)).repeat(8, axis=2).repeat(8, axis=3)

    def part(context):
        chosen = nd.random.randint(0, 16, (options.batch_size,)).astype("int32")
        images = nd.take(patterns, chosen) + nd.random.normal(shape=(options.batch_size, 3, size, size))
        return images.astype(DTYPES[options.precision]).as_in_context(context), (
            chosen * (CLASSES // 16)
        ).as_in_context(context)

    return [[part(context) for context in contexts] for _ in range(options.batches)]


def training_step(net, trainer, options):
    """A function of one batch: the losses of one step, an array on each device."""
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


def train(step, batches, options):
    """Warm up, train and report."""
    devices = len(batches[0])
    step(batches[0])
    mx.nd.waitall()
    report = Reporter(
        framework="mxnet",
        framework_version=mx.__version__,
        model=options.model,
        precision=options.precision,
        batch_size=options.batch_size,
        gpus=devices,
        steps=options.steps,
        synthetic_data=True,
        image_size=options.image_size,
        layout="NCHW",
    )
    losses = []
    for number in range(1, options.steps + 1):
        losses.extend(step(batches[number % len(batches)]))
        if number % options.log_interval == 0 or number == options.steps:
            mx.nd.waitall()
            mean = sum(float(loss.mean().asscalar()) for loss in losses) / len(losses)
            report.interval(number, number * options.batch_size * devices, mean)
            losses.clear()
    return report


def check_devices_agree(net):
    """Every device must hold the same weights at the end, or the gradients were not exchanged.

    Raises:
        SystemExit: they differ.
    """
    for parameter in net.collect_params().values():
        if parameter.grad_req != "null":
            first, *others = [copy.asnumpy() for copy in parameter.list_data()]
            if not all((copy == first).all() for copy in others):
                raise SystemExit(f"no figure: the devices hold different weights in {parameter.name}")


def main():
    options = arguments()
    mx.random.seed(options.seed)
    contexts = [mx.gpu(index) for index in range(mx.context.num_gpus())] or [mx.cpu()]
    net = MODELS[options.model]()
    net.initialize(init.MSRAPrelu(factor_type="out", slope=0), ctx=contexts)
    net.cast(DTYPES[options.precision])
    net.hybridize(static_alloc=True, static_shape=True)
    rate = LEARNING_RATES[options.model] if options.learning_rate is None else options.learning_rate
    trainer = gluon.Trainer(
        net.collect_params(),
        "sgd",
        {"learning_rate": rate, "momentum": 0.9, "wd": 5e-5, "multi_precision": options.precision == "fp16"},
    )
    report = train(training_step(net, trainer, options), synthetic_images(contexts, options), options)
    check_devices_agree(net)
    report.finish()


if __name__ == "__main__":
    main()

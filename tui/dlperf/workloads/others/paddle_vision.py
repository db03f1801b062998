"""ResNet-50 v1.5 and VGG16 in PaddlePaddle on synthetic or real images: ``python paddle_vision.py --help``.

The networks of ``paddle.vision``, initialized and fed as in pytorch_vision.py. One process per GPU: started alone, or
by ``python -m paddle.distributed.launch``. Needs PaddlePaddle >= 3.0 and, in the same folder, options.py, reporting.py
and, for real images, which are decoded on the CPU, image_data.py.
"""

import itertools
import os

from options import LABELS, WRONG, finished, refuse, vision


def options():
    precisions = ("fp32", "tf32", "amp", "bf16")
    parser = vision(__doc__, precisions, "amp: level O1 in fp16; bf16: level O2", "ImageNet folder")
    return finished(parser.parse_args())


if __name__ == "__main__":
    OPTIONS = options()  # before the framework loads, see options.py

import paddle
import paddle.distributed as dist
from paddle import nn
from paddle.nn import functional
from paddle.vision.models import resnet50, vgg16
from paddle.vision.models.resnet import BottleneckBlock
from reporting import check_equal, train

CLASSES = 1000
MODELS = {"resnet50": resnet50, "vgg16": vgg16}
PRECISIONS = {
    "fp32": {"enable": False},
    "tf32": {"enable": False},
    "amp": {"level": "O1", "dtype": "float16"},
    "bf16": {"level": "O2", "dtype": "bfloat16"},
}


def prepare(options):
    """Apply process-wide settings before anything computes, and join the other processes."""
    if options.precision in ("amp", "bf16") and not paddle.is_compiled_with_cuda():
        refuse("--precision " + options.precision, "PaddlePaddle has it on GPUs only and would train in fp32")
    os.environ["NVIDIA_TF32_OVERRIDE"] = "0" if options.precision == "fp32" else "1"
    if paddle.is_compiled_with_cuda():
        paddle.set_flags({"FLAGS_cudnn_exhaustive_search": True})
    if dist.get_world_size() > 1:
        dist.init_parallel_env()
    paddle.seed(options.seed)


def initialize(model):
    """He initialization of convolutions, small normal classifiers; residual blocks start as the identity."""
    for layer in model.sublayers():
        if isinstance(layer, nn.Conv2D):
            nn.initializer.KaimingNormal(fan_in=layer.weight.shape[0] * layer.weight[0, 0].size)(layer.weight)
        elif isinstance(layer, nn.Linear):
            nn.initializer.Normal(0.0, 0.01)(layer.weight)
        if isinstance(layer, (nn.Conv2D, nn.Linear)) and layer.bias is not None:
            nn.initializer.Constant(0.0)(layer.bias)
        if isinstance(layer, BottleneckBlock):
            nn.initializer.Constant(0.0)(layer.bn3.weight)


def synthetic_images(options):
    """No facts for the log, and endless batches: sixteen classes, each one pattern of 8×8 patches, under noise.

    An image comes with ``LABELS`` labels in turn, of which a share is drawn at random: see options.py.
    """
    size = options.image_size
    paddle.seed(options.seed)
    patterns = functional.interpolate(paddle.randn([16, 3, size // 8, size // 8]), size=[size, size], mode="nearest")
    paddle.seed(options.seed + 1 + dist.get_rank())
    made = []
    for _ in range(options.batches):
        chosen = paddle.randint(16, shape=[options.batch_size])
        noise = paddle.randn([options.batch_size, 3, size, size])
        wrong = paddle.rand([LABELS, options.batch_size]) < WRONG
        labels = paddle.where(wrong, paddle.randint(CLASSES, shape=wrong.shape), chosen * (CLASSES // 16))
        made.append((paddle.gather(patterns, chosen) + noise, labels))
    return {}, itertools.cycle([(images, labels[turn]) for turn in range(LABELS) for images, labels in made])


def real_images(options):
    """Facts for the log, and endless batches of (images, labels), normalized."""
    import image_data

    mean, deviation = (
        paddle.to_tensor(values).reshape([1, 3, 1, 1]) for values in (image_data.MEAN, image_data.DEVIATION)
    )
    facts, batches = image_data.host_batches(options, options.batch_size, dist.get_rank(), dist.get_world_size())

    def normalized(images, labels):
        pixels = paddle.to_tensor(images).transpose([0, 3, 1, 2]).astype("float32")
        return (pixels - mean) / deviation, paddle.to_tensor(labels)

    return facts, itertools.starmap(normalized, batches)


def training_step(model, optimizer, options):
    """A function: images, labels → loss of one step, on the device."""
    cast = PRECISIONS[options.precision]
    scaler = paddle.amp.GradScaler(enable=options.precision == "amp")

    def step(images, labels):
        with paddle.amp.auto_cast(**cast):
            logits = model(images)
        loss = functional.cross_entropy(logits.astype("float32"), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        return loss.detach()

    return step


def sums_of_weights(model):
    """Sum of the trained weights of each rank."""
    trained = [parameter for parameter in model.parameters() if not parameter.stop_gradient]  # not running statistics
    checksum = paddle.stack([parameter.astype("float64").sum() for parameter in trained]).sum()
    copies = [checksum.reshape([1])]
    if dist.get_world_size() > 1:
        copies = []
        dist.all_gather(copies, checksum.reshape([1]))
    return [copy.item() for copy in copies]


def mean_of_ranks(numbers):
    """Mean of numbers on the device, over all ranks."""
    total = paddle.stack(numbers).mean()
    if dist.get_world_size() > 1:
        dist.all_reduce(total)
    return total.item() / dist.get_world_size()


def main(options):
    prepare(options)
    model = MODELS[options.model](num_classes=CLASSES)
    initialize(model)
    master = options.precision == "bf16"
    optimizer = paddle.optimizer.Momentum(
        options.learning_rate, momentum=0.9, parameters=model.parameters(), weight_decay=5e-5, multi_precision=master
    )
    if master:
        model, optimizer = paddle.amp.decorate(model, optimizer, level="O2", dtype="bfloat16")
    parallel = paddle.DataParallel(model) if dist.get_world_size() > 1 else model
    facts, batches = synthetic_images(options) if options.data is None else real_images(options)
    step = training_step(parallel, optimizer, options)
    facts.update(framework="paddle", framework_version=paddle.__version__, layout="NCHW")
    report = train(
        options,
        lambda: step(*next(batches)),
        mean_of_ranks,
        dist.get_world_size(),
        dist.get_rank(),
        lambda seconds: mean_of_ranks([paddle.to_tensor(seconds)]),
        **facts,
    )
    check_equal(sums_of_weights(model))
    report.finish()


if __name__ == "__main__":
    main(OPTIONS)

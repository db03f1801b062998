"""ResNet-50 v1.5 and VGG16 in PyTorch on synthetic or real images: ``python pytorch_vision.py --help``.

The synthetic images are noise around one fixed pattern per class, generated on the device, so that the task can be
learned without a disk. Real images are decoded by DALI on the GPU where it is installed, else on the CPU. Needs
PyTorch >= 2.4 and, in the same folder, pytorch_trainer.py, pytorch_numerics.py, pytorch_kernels.py, options.py,
reporting.py and, for real images, image_data.py.
"""

import itertools

from options import LABELS, PYTORCH_PRECISION_HELP, PYTORCH_PRECISIONS, WRONG, finished, pytorch, vision


def options():
    data = "ImageNet folder; with DALI also TFRecord or RecordIO files"
    parser = vision(__doc__, PYTORCH_PRECISIONS, PYTORCH_PRECISION_HELP, data)
    return finished(pytorch(parser).parse_args())


if __name__ == "__main__":
    OPTIONS = options()  # before the framework loads, see options.py

import torch
from pytorch_numerics import LOGITS, RESIDUAL, marked
from pytorch_trainer import AUTOCAST, DTYPES, Trainer, World, compiled, prepare, train
from torch import nn
from torch.nn import functional

CLASSES = 1000
STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
VGG = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))
VGG_WIDTH = 4096
"""Of the fully connected layers."""


class Bottleneck(nn.Module):
    """The residual block of ResNet-50; v1.5 strides in the 3×3 convolution (He et al. 2015, NVIDIA's v1.5)."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        y = functional.relu(self.bn1(self.conv1(x)), inplace=True)
        y = functional.relu(self.bn2(self.conv2(y)), inplace=True)
        y = self.bn3(self.conv3(y))
        return marked(functional.relu(y + self.shortcut(x), inplace=True), RESIDUAL)


def max_pool(stock):
    """3×3 at stride 2: the kernel of pytorch_kernels.py on a GPU, PyTorch's elsewhere."""
    if stock or not torch.cuda.is_available():
        return nn.MaxPool2d(3, stride=2, padding=1)
    from pytorch_kernels import MaxPool

    return MaxPool()


def resnet50(stock=False):
    """25 557 032 parameters."""
    stem = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
    layers = [stem, nn.BatchNorm2d(64), nn.ReLU(inplace=True), max_pool(stock)]
    inputs = 64
    for width, blocks, stride in STAGES:
        for block in range(blocks):
            layers.append(Bottleneck(inputs, width, stride if block == 0 else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES))


class Halves(nn.Module):
    """Max pooling 2×2 as a maximum over two sides; equal maxima share the gradient, as in jax_pooling.py."""

    def forward(self, x):
        return x.unflatten(-1, (-1, 2)).unflatten(-3, (-1, 2)).amax((-3, -1))


def vgg16(image_size=224, stock=False):
    """Configuration D of Simonyan and Zisserman 2014; 138 357 544 parameters at 224×224."""
    layers = []
    inputs = 3
    for width, convolutions in VGG:
        for _ in range(convolutions):
            layers += [nn.Conv2d(inputs, width, 3, padding=1), nn.ReLU(inplace=True)]
            inputs = width
        layers.append(nn.MaxPool2d(2) if stock else Halves())
    layers += [nn.Flatten(), nn.Linear(512 * (image_size // 32) ** 2, VGG_WIDTH), nn.ReLU(inplace=True), nn.Dropout()]
    layers += [nn.Linear(VGG_WIDTH, VGG_WIDTH), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(VGG_WIDTH, CLASSES)]
    return nn.Sequential(*layers)


class WithLoss(nn.Module):
    """A classifier and its loss in one module, which gives the compiler one graph."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, images, labels):
        return functional.cross_entropy(marked(self.model(images), LOGITS).float(), labels)


def initialize(model):
    """He initialization of convolutions, small normal classifiers, as in torchvision for both models.

    The last normalization of a residual block starts at zero, the block as the identity (Goyal et al. 2017): training
    is then stable from the first step, at any batch size, without a warm-up of the learning rate.
    """
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, 0, 0.01)
        if isinstance(module, (nn.Conv2d, nn.Linear)) and module.bias is not None:
            nn.init.zeros_(module.bias)
        if isinstance(module, Bottleneck):
            nn.init.zeros_(module.bn3.weight)


def placed(model, world, dtype):
    """Move a model to its device and precision, channels last; batch normalization stays in fp32."""
    model = model.to(world.device, dtype, memory_format=torch.channels_last)
    for module in model.modules():
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
            module.float()
            module.num_batches_tracked = None  # which only averages over all batches need
    return model


def synthetic_images(world, options, classes):
    """Endless batches of (images, labels): sixteen of the classes, each one pattern of 8×8 patches, under noise.

    An image comes with ``LABELS`` labels in turn, of which a share is drawn at random: see options.py.
    """
    size = options.image_size
    seed = options.seed + (1 << 31)  # of no weight and no dropout, which begin with options.seed
    generator = torch.Generator(world.device).manual_seed(seed)
    patterns = torch.randn(16, 3, size // 8, size // 8, generator=generator, device=world.device)
    patterns = functional.interpolate(patterns, size=(size, size))
    generator.manual_seed(seed + 1 + world.rank)
    place = {"generator": generator, "device": world.device}
    made = []
    for _ in range(options.batches):
        chosen = torch.randint(16, (options.batch_size,), **place)
        noise = torch.randn(options.batch_size, 3, size, size, **place)
        images = (patterns[chosen] + noise).to(image_type(options), memory_format=torch.channels_last)
        wrong = torch.rand(LABELS, options.batch_size, **place) < WRONG
        labels = torch.where(wrong, torch.randint(classes, wrong.shape, **place), chosen * (classes // 16))
        made.append((images, labels))
    return itertools.cycle([(images, labels[turn]) for turn in range(LABELS) for images, labels in made])


def image_type(options):
    """Data type of the images on the device: that of the products."""
    return AUTOCAST.get(options.precision, DTYPES[options.precision])


def real_images(world, options):
    """Facts for the log, and endless batches of (images, labels) on the device, normalized, channels last."""
    import image_data

    place = (options, options.batch_size, world.rank, world.size)
    cuda = world.device.type == "cuda"
    if cuda and image_data.has_dali():
        facts, batches = dali_batches(world.device.index, *place)
    else:
        facts, batches = image_data.host_batches(*place)
        batches = (tuple(map(torch.from_numpy, pair)) for pair in batches)
        if cuda:  # from pinned memory, a copy to the device overlaps with the computation
            batches = (tuple(tensor.pin_memory() for tensor in pair) for pair in batches)
    return facts, normalized(batches, world.device, image_type(options))


def dali_batches(gpu, options, count, shard, shards):
    """Decoded on the GPU: facts for the log, and endless batches of (images as bytes, labels)."""
    import image_data
    from nvidia.dali import __version__ as version
    from nvidia.dali.plugin.pytorch import DALIGenericIterator

    source = image_data.find(options.data)
    pipeline, images = image_data.dali_pipeline(source, options, count, shard, shards, gpu)
    iterator = DALIGenericIterator([pipeline], ["images", "labels"], size=-1)  # endless; copies the tensors
    batches = ((parts[0]["images"], parts[0]["labels"].flatten()) for parts in iterator)
    return image_data.facts(source, images, f"DALI {version} on the GPU"), batches


def normalized(batches, device, dtype):
    import image_data

    mean, deviation = (
        torch.tensor(values, device=device).view(1, 3, 1, 1) for values in (image_data.MEAN, image_data.DEVIATION)
    )
    for images, labels in batches:
        pixels = images.to(device, non_blocking=True).permute(0, 3, 1, 2)
        pixels = ((pixels - mean) / deviation).to(dtype, memory_format=torch.channels_last)
        yield pixels, labels.to(device, torch.int64, non_blocking=True)


def main(options):
    prepare(options)
    world = World()
    vgg = options.model == "vgg16"
    model = WithLoss(vgg16(options.image_size, options.stock) if vgg else resnet50(options.stock))
    initialize(model)
    model = placed(model, world, DTYPES[options.precision])
    settings = {"lr": options.learning_rate, "momentum": 0.9, "weight_decay": 5e-5}
    optimizer = torch.optim.SGD(model.parameters(), **settings, fused=world.device.type == "cuda")
    trainer = Trainer(world, compiled(model, options), list(model.parameters()), optimizer, options)
    synthetic = options.data is None
    data, batches = ({}, synthetic_images(world, options, CLASSES)) if synthetic else real_images(world, options)
    train(world, trainer, batches, options, layout="NHWC", **data)


if __name__ == "__main__":
    main(OPTIONS)

"""ResNet-50 v1.5 and VGG16 in PyTorch on synthetic or real images: ``python pytorch_vision.py --help``.

The synthetic images are noise around one fixed pattern per class, generated on the device, so that the task can be
learned and no disk takes part. Needs PyTorch >= 2.4 and, beside this file, pytorch_trainer.py, pytorch_kernels.py,
options.py, reporting.py and, for real images, pytorch_data.py and image_data.py.
"""

import itertools

from options import PYTORCH_PRECISION_HELP, PYTORCH_PRECISIONS, finished, pytorch, vision


def options():
    """What the command line says."""
    parser = vision(
        __doc__,
        PYTORCH_PRECISIONS,
        PYTORCH_PRECISION_HELP,
        "ImageNet folder; with DALI also TFRecord or RecordIO files",
    )
    return finished(pytorch(parser).parse_args())


if __name__ == "__main__":
    OPTIONS = options()  # before the framework loads: options.py says why

import torch
from pytorch_trainer import DTYPES, Trainer, World, compiled, prepare, train
from torch import nn
from torch.nn import functional

CLASSES = 1000


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
        return functional.relu(y + self.shortcut(x), inplace=True)


def max_pool():
    """3×3 at stride 2: our own kernel on a GPU, PyTorch's elsewhere."""
    if not torch.cuda.is_available():
        return nn.MaxPool2d(3, stride=2, padding=1)
    from pytorch_kernels import MaxPool

    return MaxPool()


def resnet50():
    """25 557 032 parameters."""
    layers = [
        nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(inplace=True),
        max_pool(),
    ]
    inputs = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            layers.append(Bottleneck(inputs, width, stride if block == 0 else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES))


def vgg16(image_size=224):
    """Configuration D of Simonyan and Zisserman 2014; 138 357 544 parameters at 224×224."""
    layers = []
    inputs = 3
    for width, convolutions in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(convolutions):
            layers += [nn.Conv2d(inputs, width, 3, padding=1), nn.ReLU(inplace=True)]
            inputs = width
        layers.append(nn.MaxPool2d(2))
    layers += [nn.Flatten(), nn.Linear(512 * (image_size // 32) ** 2, 4096), nn.ReLU(inplace=True), nn.Dropout()]
    layers += [nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(4096, CLASSES)]
    return nn.Sequential(*layers)


class WithLoss(nn.Module):
    """A classifier and its loss, as one module: one graph for the compiler."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, images, labels):
        return functional.cross_entropy(self.model(images).float(), labels)


def initialize(model):
    """He initialization of convolutions, small normal classifiers, as torchvision has it for both models.

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
    """The model on its device, channels last, in its precision; batch normalization keeps its statistics in fp32."""
    model = model.to(world.device, dtype, memory_format=torch.channels_last)
    for module in model.modules():
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
            module.float()
    return model


def synthetic_images(world, options, classes):
    """Batches of (images, labels), for ever: sixteen of the classes, each one pattern of 8×8 patches, under noise."""
    size = options.image_size
    generator = torch.Generator(world.device).manual_seed(options.seed)
    patterns = torch.randn(16, 3, size // 8, size // 8, generator=generator, device=world.device)
    patterns = functional.interpolate(patterns, size=(size, size))
    generator.manual_seed(options.seed + 1 + world.rank)
    batches = []
    for _ in range(options.batches):
        chosen = torch.randint(16, (options.batch_size,), generator=generator, device=world.device)
        noise = torch.randn(options.batch_size, 3, size, size, generator=generator, device=world.device)
        images = (patterns[chosen] + noise).to(DTYPES[options.precision], memory_format=torch.channels_last)
        batches.append((images, chosen * (classes // 16)))
    return itertools.cycle(batches)


def main(options):
    prepare(options)
    world = World()
    model = WithLoss(vgg16(options.image_size) if options.model == "vgg16" else resnet50())
    initialize(model)
    model = placed(model, world, DTYPES[options.precision])
    optimizer = torch.optim.SGD(
        model.parameters(),
        lr=options.learning_rate,
        momentum=0.9,
        weight_decay=5e-5,
        fused=world.device.type == "cuda",
    )
    trainer = Trainer(world, compiled(model, options), list(model.parameters()), optimizer, options)
    facts = {"model": options.model, "image_size": options.image_size, "layout": "NHWC"}
    if options.data is None:
        batches = synthetic_images(world, options, CLASSES)
    else:
        from pytorch_data import real_images

        of_data, batches = real_images(world, options, DTYPES[options.precision])
        facts.update(of_data)
    train(world, trainer, batches, options, **facts)


if __name__ == "__main__":
    main(OPTIONS)

"""ArcFace in PyTorch on synthetic faces: ``python pytorch_arcface.py --help``.

The backbone is the ResNet-50 of face recognition at 112×112 (Deng et al. 2018; PaddlePaddle's PLSC): basic blocks of
two 3×3 convolutions, 3, 4, 14 and 3 of them, no early reduction of the image; 6.3 GMAC forward. 85 742 classes,
additive angular margin. As in PLSC, the backbone is data parallel and the classes are split over the GPUs: features are
gathered, each GPU computes the logits of its own classes, and the softmax is taken over all of them.
Needs PyTorch >= 2.4 and, in the same folder, pytorch_trainer.py, pytorch_numerics.py, pytorch_vision.py,
pytorch_kernels.py, options.py and reporting.py.
"""

import math

from options import PYTORCH_PRECISION_HELP, PYTORCH_PRECISIONS, arcface, common, pytorch


def options():
    return arcface(pytorch(common(__doc__, PYTORCH_PRECISIONS, PYTORCH_PRECISION_HELP))).parse_args()


if __name__ == "__main__":
    OPTIONS = options()  # before the framework loads, see options.py

import torch
import torch.distributed as dist
from pytorch_numerics import LOGITS, RESIDUAL, marked
from pytorch_trainer import DTYPES, Trainer, World, compiled, prepare, train
from pytorch_vision import initialize, placed, synthetic_images
from torch import nn
from torch.nn import functional

EMBEDDING = 512
MARGIN, SCALE = 0.5, 64.0
STAGES = ((64, 3), (128, 4), (256, 14), (512, 3))


class Block(nn.Module):
    """The improved residual block: normalization first, PReLU between the convolutions, none after the sum."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.BatchNorm2d(inputs),
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.PReLU(outputs),
            nn.Conv2d(outputs, outputs, 3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        nn.init.zeros_(self.body[-1].weight)
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        return marked(self.body(x) + self.shortcut(x), RESIDUAL)


def face_resnet50(image_size=112):
    """Network from images to embeddings; 43 590 848 parameters at 112×112."""
    layers = [nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.PReLU(64)]
    inputs = 64
    for width, blocks in STAGES:
        for block in range(blocks):
            layers.append(Block(inputs, width, 2 if block == 0 else 1))
            inputs = width
    flat = inputs * (image_size // 16) ** 2
    return nn.Sequential(
        *layers, nn.BatchNorm2d(inputs), nn.Flatten(), nn.Linear(flat, EMBEDDING), nn.BatchNorm1d(EMBEDDING)
    )


class Gather(torch.autograd.Function):
    """Gather the rows of all ranks. Backward: the sum of a rank's gradients, times the number of ranks, because the
    trainer averages the backbone's gradients where the loss, a mean over all ranks' rows, needs their sum."""

    @staticmethod
    def forward(ctx, rows, size):
        ctx.size = size
        gathered = rows.new_empty(size * rows.shape[0], *rows.shape[1:])
        dist.all_gather_into_tensor(gathered, rows.contiguous())
        return gathered

    @staticmethod
    def backward(ctx, gradient):
        own = gradient.new_empty(gradient.shape[0] // ctx.size, *gradient.shape[1:])
        dist.reduce_scatter_tensor(own, gradient.contiguous())
        return own * ctx.size, None


class Sum(torch.autograd.Function):
    """Sum over all ranks; its gradient is already the same on every rank."""

    @staticmethod
    def forward(ctx, tensor):
        tensor = tensor.clone()
        dist.all_reduce(tensor)
        return tensor

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Head(nn.Module):
    """This rank's part of the classes, and the margin loss over all classes."""

    def __init__(self, world, classes):
        super().__init__()
        self.world = world
        count = math.ceil(classes / world.size)
        self.first = world.rank * count
        self.weight = nn.Parameter(torch.randn(min(count, classes - self.first), EMBEDDING) * 0.01)

    def forward(self, features, labels):
        if self.world.size > 1:
            features, labels = Gather.apply(features, self.world.size), Gather.apply(labels, self.world.size)
        total, target = self.own_classes(features, labels)
        if self.world.size > 1:
            total, target = Sum.apply(total), Sum.apply(target)
        return (total.log() + SCALE - target).mean()

    def own_classes(self, features, labels):
        """Sum of the exponents over this rank's classes, and the target's logit where it has it.

        The cosine is at most 1, so that SCALE bounds the exponent.
        """
        cosine = functional.linear(functional.normalize(features), functional.normalize(self.weight))
        cosine = marked(cosine, LOGITS)
        cosine = cosine.to(torch.promote_types(cosine.dtype, torch.float32))
        local = labels - self.first
        owned = (local >= 0) & (local < self.weight.shape[0])
        index = local.clamp(0, self.weight.shape[0] - 1).unsqueeze(1)
        target = cosine.gather(1, index).clamp(-1 + 1e-6, 1 - 1e-6)
        marginal = torch.cos(torch.acos(target) + MARGIN)
        logits = SCALE * cosine.scatter(1, index, torch.where(owned.unsqueeze(1), marginal, target))
        return (logits - SCALE).exp().sum(1), logits.gather(1, index).squeeze(1) * owned


class ArcFace(nn.Module):
    def __init__(self, backbone, head):
        super().__init__()
        self.backbone, self.head = backbone, head

    def forward(self, images, labels):
        return self.head(self.backbone(images), labels)


def built(world, backbone, head, options):
    """The model and its loss, compiled as one; over several ranks as two, between which features are sent."""
    if world.size == 1:
        return compiled(ArcFace(backbone, head), options)
    head.own_classes = compiled(head.own_classes, options)
    return ArcFace(compiled(backbone, options), head)


def main(options):
    prepare(options)
    world = World()
    backbone = face_resnet50(options.image_size)
    initialize(backbone)
    backbone = placed(backbone, world, DTYPES[options.precision])
    torch.manual_seed(options.seed + 1 + world.rank)
    head = Head(world, options.classes).to(world.device, DTYPES[options.precision])
    parameters = [*backbone.parameters(), *head.parameters()]
    settings = {"lr": options.learning_rate, "momentum": 0.9, "weight_decay": 5e-4}
    optimizer = torch.optim.SGD(parameters, **settings, fused=world.device.type == "cuda")
    model = built(world, backbone, head, options)
    trainer = Trainer(world, model, list(backbone.parameters()), optimizer, options)
    batches = synthetic_images(world, options, options.classes)
    train(world, trainer, batches, options, model="arcface", layout="NHWC")


if __name__ == "__main__":
    main(OPTIONS)

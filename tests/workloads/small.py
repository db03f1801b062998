"""A training program with a narrow network of the same parts, but fewer: ``python small.py PROGRAM OPTIONS…``.

Started by tests whose outcome does not hang on the size of a network, which takes most of their time to compile.
"""

import importlib
import sys
from functools import partial
from pathlib import Path
from unittest import mock

LEAST = {"VGG_WIDTH": 128, "HIDDEN": 128, "HEADS": 2, "LAYERS": 2}
VGG = ((16, 2), (16, 1), (32, 1), (32, 1), (512, 1))
"""The last width is that of the features, whose number the classifier knows."""


def small(stages):
    """Two blocks, the first of which alone changes the shape, and one in each stage that follows.

    Of networks whose stages name their strides one such stage is enough; where each halves the image, all are needed.
    """
    few = tuple((16, 1 if index else 2, *stride) for index, (_, _, *stride) in enumerate(stages))
    return few[:2] if len(few[0]) == 3 else few


def narrow_paddle_vgg(create, num_classes):
    """Paddle's VGG16 with a classifier of 128 in place of 4096, of 120 million weights."""
    from paddle import nn

    def linear(inputs, outputs, whole=nn.Linear):
        return whole(128 if inputs == 4096 else inputs, 128 if outputs == 4096 else outputs)

    with mock.patch.object(nn, "Linear", linear):
        return create(num_classes=num_classes)


def shrink(module):
    names = vars(module)
    if "STAGES" in names:
        module.STAGES = small(module.STAGES)
    if "VGG" in names:
        module.VGG = VGG
    for name in LEAST.keys() & names.keys():
        setattr(module, name, LEAST[name])
    if module.__name__ == "paddle_vision":
        module.MODELS["resnet50"] = partial(module.resnet50, width=8)
        module.MODELS["vgg16"] = partial(narrow_paddle_vgg, module.vgg16)


if __name__ == "__main__":
    program = Path(sys.argv.pop(1))
    sys.path.insert(0, str(program.parent))
    importlib.import_module("options").WRONG = 0.0  # four samples learn from right labels alone
    program_module = importlib.import_module(program.stem)
    shrink(program_module)
    program_module.main(program_module.options())

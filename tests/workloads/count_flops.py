"""Counts of a forward and a backward pass, as JSON; started by test_flops.py.

On PyTorch's meta device: shapes alone, nothing is computed. For each model: FLOP of the forward pass and of forward and
backward together, per sample, where a multiply-add is two; and its parameters. Of language models only these.
"""

import json
import math

import pytorch_bert
import torch
from llm_shapes import SHAPES
from pytorch_arcface import ArcFace, Head, face_resnet50
from pytorch_bert import MASKED_SHARE, Bert
from pytorch_trainer import World
from pytorch_transformer import Transformer
from pytorch_vision import WithLoss, resnet50, vgg16
from torch.utils.flop_counter import FlopCounterMode

COUNT = 2
pytorch_bert.rounded = lambda x: x  # the meta device has no autocast


def counted(model, *batch):
    with FlopCounterMode(display=False) as forward:
        loss = model(*batch)
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    flops = forward.get_total_flops(), forward.get_total_flops() + backward.get_total_flops()
    return {"forward": flops[0] / COUNT, "training": flops[1] / COUNT, **sized(model)}


def sized(model):
    return {"parameters": sum(parameter.numel() for parameter in model.parameters())}


with torch.device("meta"):
    images, labels = torch.empty(COUNT, 3, 224, 224), torch.zeros(COUNT, dtype=torch.int64)
    sentence = torch.zeros(COUNT, 128, dtype=torch.int64)
    masked = torch.zeros(COUNT, math.ceil(MASKED_SHARE * 128), dtype=torch.int64)
    outcome = {
        "resnet50": counted(WithLoss(resnet50()), images, labels),
        "vgg16": counted(WithLoss(vgg16()), images, labels),
        "arcface": counted(ArcFace(face_resnet50(), Head(World(), 85742)), torch.empty(COUNT, 3, 112, 112), labels),
        "bert-base": counted(Bert(), sentence, sentence, masked, masked, labels),
        **{name: sized(Transformer(shape, 1024)) for name, shape in SHAPES.items()},
    }
print(json.dumps(outcome))

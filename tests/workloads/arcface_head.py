"""Loss and gradients of ArcFace's head on 1 or 2 ranks, as JSON from rank 0; started by test_parallel.py.

The same 4 samples and 7 classes whatever the number of ranks; a linear layer stands for the backbone.
"""

import json

import torch
import torch.distributed as dist
from pytorch_arcface import EMBEDDING, Head
from pytorch_trainer import World
from torch import nn

CLASSES, SAMPLES, INPUTS = 7, 4, 5
torch.manual_seed(0)
weight = torch.randn(CLASSES, EMBEDDING, dtype=torch.float64)
inputs = torch.randn(SAMPLES, INPUTS, dtype=torch.float64)
labels = torch.tensor([0, 6, 3, 3])
backbone = nn.Linear(INPUTS, EMBEDDING).double()

world = World()
head = Head(world, CLASSES).double()
own = slice(head.first, head.first + head.weight.shape[0])
head.weight.data.copy_(weight[own])
rows = slice(world.rank * SAMPLES // world.size, (world.rank + 1) * SAMPLES // world.size)
loss = head(backbone(inputs[rows]), labels[rows])
loss.backward()

gradient = backbone.weight.grad.clone()
world.average(gradient)  # as the trainer does
whole = torch.zeros_like(weight)
whole[own] = head.weight.grad
if world.size > 1:
    dist.all_reduce(whole)
if world.rank == 0:
    outcome = {"loss": loss.reshape(1), "backbone": gradient.flatten(), "head": whole.flatten()}
    print(json.dumps({name: tensor.tolist() for name, tensor in outcome.items()}))
world.close()

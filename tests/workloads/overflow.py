"""One rank's own parameter overflows in the first of two steps; started by test_parallel.py.

Prints, from each rank, its loss scale and the replicated weight after both steps.
"""

import argparse

import torch
from pytorch_trainer import Trainer, World
from torch import nn

world = World()
replicated, own = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3))
batches = [torch.tensor(3.4e38 if world.rank else 1.0), torch.tensor(1.0)]
optimizer = torch.optim.SGD([replicated, own], lr=0.1, momentum=0.9)


def model(factor):
    return replicated.sum() + (own * factor).sum()


trainer = Trainer(world, model, [replicated], optimizer, argparse.Namespace(precision="amp"))
for batch in batches:
    trainer.gradients(batch)
    trainer.update()
line = f"scale {trainer.scaler.get_scale():.0f} weight {replicated[0].item():.3f}\n"
print(line, end="", flush=True)  # in one write: the other rank writes into the same pipe
world.close()

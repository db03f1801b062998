"""Compares pairs of values, one on each of two ranks, as losses of ranks are; started by test_parallel.py.

Prints, from the first rank, the pairs that are accepted.
"""

import itertools
from contextlib import suppress

import torch
from pytorch_trainer import World, check_equal

VALUES = (2.0, 2.000001, 3.0, float("nan"), float("inf"), float("-inf"))

world = World()
for pair in itertools.product(VALUES, VALUES):
    with suppress(SystemExit):
        check_equal(torch.tensor(pair[world.rank], dtype=torch.float64), tolerance=1e-6)
        if not world.rank:
            print(*pair)
world.close()

"""Print the log of a training program in dlperf's own format, and refuse a result where training did not work.

Standard library only, Python >= 3.6: this file is copied to the node with the program that uses it.
``dlperf/formats/own.py`` describes the format. A run that fails its own checks prints no summary and exits with code 1.
"""

import datetime
import json
import math
import sys
import time

LEAST_FALL = 0.99
"""Highest ratio of the last to the first loss that counts as learning: above it, chance alone could be the reason.
Real images are learned more slowly than synthetic ones: with them, any fall counts."""
WARM_UP_STEPS = 2
"""Steps that every program trains before the first one it counts, so that the losses of two frameworks at step n
follow the same number of updates; JAX compiles again at its second step."""
STATED = (
    *("model", "precision", "batch_size", "steps", "image_size", "sequence_length", "classes"),
    *("compile", "cuda_graph", "stock"),
)
"""Options that the log states, where a program has them."""


def print_line(text):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    print("DLPERF " + now + " " + text, flush=True)


def train(options, step, mean, gpus, rank=0, agree=None, **facts):
    """Warm up, train and report where each GPU trains a batch of its own; return the report.

    Args:
        step, mean, agree: as of ``Reporter.train``. gpus: number of GPUs of all processes. facts: stated in the log.
    """
    for _ in range(WARM_UP_STEPS):
        mean([step()])
    report = Reporter(options, rank, gpus=gpus, **facts)
    report.train(step, mean, gpus, agree)
    return report


def check_equal(sums):
    """Exit where the weights of devices have different sums at the end: the gradients were not exchanged."""
    if len(set(sums)) > 1:
        sys.exit(f"no figure: the devices hold different weights ({min(sums)!r} … {max(sums)!r})")


class Reporter:
    """Prints the log of one run; on ranks other than 0 it only checks.

    ``types``: data types that a step computes with, as read from it. ``images``: size of the data set, where it is
    limited. ``facts`` are stated besides the program's options.
    """

    def __init__(self, options, rank=0, types=None, data="synthetic", images=None, **facts):
        self.options = options
        self.rank = rank
        self.images = images
        self.least_fall = LEAST_FALL if data == "synthetic" else 1.0
        self.losses = []
        self.samples = 0
        self.step = 0
        self._clock = self._start = time.perf_counter()
        if rank == 0:
            stated = {name: getattr(options, name) for name in STATED if hasattr(options, name)}
            if options.seconds:
                stated.pop("steps", None)  # the last one is not known
            print_line("run " + json.dumps(dict(stated, **dict(facts, data=data, images=images)), sort_keys=True))
            if types:
                print_line("numerics " + json.dumps(types, sort_keys=True))

    def train(self, step, mean, batches=1, agree=None):
        """Train so many steps, and on to the end of an interval after so many seconds; report every interval.

        Args:
            step: trains one step; returns its loss, which may still be on its way on the device.
            mean: list of such losses → number; waits for the device.
            batches: number of batches that a step trains: one per GPU, times the tokens of a sample where they count.
            agree: seconds of this process → the same number in all processes, of which each has its own clock.
        """
        options, losses, number = self.options, [], 0
        while number < options.steps or not self.lasted(agree):
            for _ in range(min(options.log_interval, max(options.steps - number, 0) or options.log_interval)):
                losses.append(step())
            number += len(losses)
            self.interval(number, number * options.batch_size * batches, mean(losses))
            losses.clear()

    def lasted(self, agree=None):
        """Whether the program's seconds have passed since the start, by the clock that all processes agree on."""
        passed = self._clock - self._start
        return not self.options.seconds or (agree(passed) if agree else passed) >= self.options.seconds

    def interval(self, step, samples, loss):
        """Report the interval that ends now, when the device is idle.

        Args:
            step: number of steps trained in all.
            samples: number of samples trained in all, over all ranks.
            loss: mean loss of the interval.
        """
        now = time.perf_counter()
        rate = (samples - self.samples) / (now - self._clock)
        self._clock, self.samples, self.step = now, samples, step
        self.losses.append(loss)
        epoch = (samples - 1) // self.images if self.images else 0
        if self.rank == 0:
            print_line(f"step={step} epoch={epoch} samples={samples} loss={loss:.6f} throughput={rate:.3f}")

    def finish(self, **facts):
        """Check that the program learned and print the summary, or say why there is none and exit with code 1."""
        problem = self._problem()
        if problem:
            sys.exit("no figure: " + problem)
        first, last = self._first_and_last_loss()
        summary = dict(facts, steps=self.step, samples=self.samples, loss_first=first, loss_last=last)
        if self.rank == 0:
            print_line("summary " + json.dumps(summary, sort_keys=True))

    def _first_and_last_loss(self):
        """Mean loss of the first and of the last quarter of the intervals."""
        part = max(1, len(self.losses) // 4)
        return sum(self.losses[:part]) / part, sum(self.losses[-part:]) / part

    def _problem(self):
        if len(self.losses) < 2:
            return "fewer than two intervals were reported"
        if not all(math.isfinite(loss) for loss in self.losses):
            return "the loss is not finite"
        first, last = self._first_and_last_loss()
        if not last < self.least_fall * first:
            return f"the loss did not fall ({first:.4f} at the beginning, {last:.4f} at the end)"
        return None

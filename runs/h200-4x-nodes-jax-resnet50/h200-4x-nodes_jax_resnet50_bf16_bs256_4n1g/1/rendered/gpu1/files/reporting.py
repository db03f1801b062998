"""The log of a training program, in dlperf's own format, and the checks without which it prints no figure.

Standard library only, Python >= 3.6: this file is copied to the node beside the program that uses it.

    DLPERF 2026-01-31T12:00:00.123456Z run {"model": "resnet50", "batch_size": 256, "gpus": 8, "data": "synthetic", ...}
    DLPERF 2026-01-31T12:00:01.456789Z step=20 epoch=0 samples=40960 loss=6.912345 throughput=2512.300
    DLPERF 2026-01-31T12:00:09.456789Z summary {"steps": 120, "samples": 245760, "loss_first": ..., "loss_last": ...}

``samples`` counts the samples of all ranks since the start; ``loss`` is the mean and ``throughput`` the global rate of
the interval since the line before. ``data`` is ``synthetic`` (generated on the device), ``folder`` (JPEG files),
``tfrecord`` or ``recordio``; of real data ``images`` is their number and ``loader`` what decoded them.
The summary closes a complete run; a run that fails its own checks has none and exits with code 1.
"""

import datetime
import json
import math
import sys
import time

LEAST_FALL = 0.99
"""The loss at the end over the loss at the beginning; above it, chance alone could have made the difference.
Real images are learned more slowly than synthetic ones: with them, any fall will do."""


def _print(text):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    print("DLPERF " + now + " " + text, flush=True)


class Reporter:
    """Prints the log of one run; on ranks other than 0 it only checks.

    ``images``: how many the data set has, where the data are not synthetic.
    """

    def __init__(self, rank=0, data="synthetic", images=None, **facts):
        self.rank = rank
        self.images = images
        self.least_fall = LEAST_FALL if data == "synthetic" else 1.0
        self.losses = []
        self.samples = 0
        self.step = 0
        self._clock = time.perf_counter()
        if rank == 0:
            _print("run " + json.dumps(dict(facts, data=data, images=images), sort_keys=True))

    def interval(self, step, samples, loss):
        """Report that ``samples`` in all were trained after ``step`` steps, with this mean loss since the last report.

        Call it when the device is idle.
        """
        now = time.perf_counter()
        rate = (samples - self.samples) / (now - self._clock)
        self._clock, self.samples, self.step = now, samples, step
        self.losses.append(loss)
        epoch = (samples - 1) // self.images if self.images else 0
        if self.rank == 0:
            _print(f"step={step} epoch={epoch} samples={samples} loss={loss:.6f} throughput={rate:.3f}")

    def finish(self, **facts):
        """Check that the program learned and print the summary, or say why there is none and exit with code 1."""
        problem = self._problem()
        if problem:
            sys.exit("no figure: " + problem)
        if self.rank == 0:
            first, last = self._ends()
            _print(
                "summary "
                + json.dumps(
                    dict(facts, steps=self.step, samples=self.samples, loss_first=first, loss_last=last), sort_keys=True
                )
            )

    def _ends(self):
        """Mean loss of the first and of the last quarter of the intervals."""
        part = max(1, len(self.losses) // 4)
        return sum(self.losses[:part]) / part, sum(self.losses[-part:]) / part

    def _problem(self):
        if len(self.losses) < 2:
            return "fewer than two intervals were reported"
        if not all(math.isfinite(loss) for loss in self.losses):
            return "the loss is not finite"
        first, last = self._ends()
        if not last < self.least_fall * first:
            return f"the loss did not fall ({first:.4f} at the beginning, {last:.4f} at the end)"
        return None

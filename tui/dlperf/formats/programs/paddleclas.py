"""The format ``paddleclas``: image classification with PaddlePaddle, from 2020 to 2023.

Every dialect is per GPU and written by rank 0 alone:

    [2023/07/28 06:42:45] ppcls INFO: epoch:0   train step:10   … batch_cost: 0.64841 s, … ips: 394.81 samples/sec.
    [2022/05/01 10:00:00] ppcls INFO: [Train][Epoch 1/120][Iter: 10/5004]… batch_cost: 0.6s, … ips: 394.8 samples/s, …
    2021-05-08 14:15:42 INFO: epoch:0   train step:1   … batch_cost: 1.19581 s, … ips: 80.27 images/sec.
    2020-12-18 11:15:43 INFO: epoch:0   train step:0   … elapse: 6.970s ips: 18.36406 images/sec.
    2020-09-01 10:00:00,123-INFO: [Pass 0, train batch 19]  loss …, elapse 0.3123 sec

``batch_cost``, ``elapse`` and ``ips`` are means since iteration 5 of the epoch, except in the last dialect, where
``elapse`` is the time of one step. The line that ends an epoch can have an ``ips`` too: it divides the size of the
last, incomplete batch by the mean time of a step, and is not a record.

The configuration that PaddleClas prints names several batch sizes; training uses that of
``DataLoader.Train.sampler``, per GPU, and until 2021 that of ``TRAIN``, over all GPUs.
"""

import re
import tomllib
from pathlib import Path

from dlperf.catalog.linear import compile_linear
from dlperf.formats.recorder import Recorder
from dlperf.formats.rules import FunctionRule, RecordRule, Rules, metadata_rules, search_rule
from dlperf.formats.samples import FormatInfo, Window
from dlperf.formats.text.numbers import Clock, floats

INFO = FormatInfo(
    "paddleclas",
    "PaddleClas",
    "images/s",
    "per_gpu",
    "cumulative",
    "PaddleClas ppcls (static and dynamic graph), Paddle models PaddleCV/image_classification",
)

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_CONFIGURATION = compile_linear(r" INFO: ( *)(\w+) :(?: (.*)|$)")
_EPOCH_END = r"END epoch:(\d+) +train "
_EPOCH_MEANS = r"\[Train\]\[Epoch (\d+)/(\d+)\]\[Avg\]"


def rules(recorder: Recorder) -> Rules:
    """Return the rules for one log."""
    configuration = _PrintedSettings(recorder)
    return Rules(
        [
            *(_record_rule(recorder, **record) for record in _DATA["records"]),
            search_rule(_EPOCH_END, configuration.end_epoch),
            search_rule(_EPOCH_MEANS, lambda match, number: recorder.complete() if match[1] == match[2] else None),
        ],
        [FunctionRule(b" : ", _CONFIGURATION.search, configuration.read), *metadata_rules(recorder, _DATA["launcher"])],
    )


def _record_rule(
    recorder: Recorder, pattern: list[str], contains: str, time_format: str, window: Window | None = None
) -> RecordRule:
    return RecordRule(recorder, "".join(pattern), contains.encode(), Clock(time_format), window)


class _PrintedSettings:
    """Reads the configuration that is printed as an indented tree."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._path: list[str] = []
        self._epochs = ""

    def read(self, match: re.Match[bytes], number: int) -> None:
        name, text = match[2].decode("ascii", "replace"), (match[3] or b"").decode("utf-8", "replace").strip()
        self._path = [*self._path[: len(match[1]) // 4], name]
        self._declare(".".join(self._path), text)

    def _declare(self, path: str, text: str) -> None:
        declare = self._recorder.declare
        if path in _DATA["fields"]:
            declare(_DATA["fields"][path], text)
        if path in ("Arch.name", "ARCHITECTURE.name"):
            declare("precision", "fp32")
        elif path == "AMP":
            declare("amp", "True")
        elif path == "AMP.level" and text == "O2":
            declare("pure_fp16", "True")
        elif path in ("Global.epochs", "epochs"):
            self._epochs = text
        if text:
            declare(path, text)

    def end_epoch(self, match: re.Match[bytes], number: int) -> None:
        if float(match[1]) + 1 == floats([self._epochs.encode()])[0]:
            self._recorder.complete()

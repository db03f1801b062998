"""Hold what is marked on the Choose screen, and presets to start from. Immutable."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from dlperf.messages import N_
from dlperf.plan import Selection
from dlperf.plan.axes import set_options

OPTIONS = {
    "hardware": "--hardware",
    "frameworks": "--framework",
    "cases": "--case",
    "precisions": "--precision",
    "batch_sizes": "--batch-size",
    "scales": "--gpus",
    "axes": "--set",
}
"""Field of ``Selection``, which is a list of the screen → option of ``dlperf run`` and ``dlperf plan``."""
AXES = tuple(OPTIONS)


@dataclass(frozen=True)
class Choice:
    """Marked values by axis, in the order of marking; an axis without a mark means every value that fits."""

    marked: dict[str, tuple[str, ...]] = field(default_factory=dict)
    repeats: int | None = None
    """None: the protocol's."""
    protocol: str | None = None

    @property
    def empty(self) -> bool:
        return not any(self.marked.values())

    def values(self, axis: str) -> tuple[str, ...]:
        return self.marked.get(axis, ())

    def toggle(self, axis: str, value: str) -> Choice:
        values = self.values(axis)
        changed = tuple(item for item in values if item != value) if value in values else (*values, value)
        return replace(self, marked=self.marked | {axis: changed})

    def with_repeats(self, repeats: int | None) -> Choice:
        return replace(self, repeats=repeats)

    def selection(self) -> Selection:
        marks = {axis: self.values(axis) for axis in AXES if axis != "batch_sizes"}
        sizes = tuple(map(int, self.values("batch_sizes")))
        return Selection(**marks, batch_sizes=sizes, repeats=self.repeats, protocol=self.protocol)


def choice_of(selection: Selection) -> Choice:
    """Return the choice that gives this selection."""
    marked = {axis: tuple(str(value) for value in getattr(selection, axis)) for axis in AXES}
    return Choice(marked, selection.repeats, selection.protocol)


def arguments_of(choice: Choice) -> list[str]:
    """Return the equivalent options of ``dlperf run`` and ``dlperf plan``."""
    words: list[str] = []
    for axis, option in OPTIONS.items():
        if axis != "axes" and choice.values(axis):
            words += [option, ",".join(choice.values(axis))]
    words += set_options(choice.values("axes"))
    if choice.repeats is not None:
        words += ["--repeats", str(choice.repeats)]
    if choice.protocol is not None:
        words += ["--protocol", choice.protocol]
    return words


def command_line(words: Iterable[str]) -> str:
    """Return a command quoted for a shell."""
    return shlex.join(["dlperf", *words])


@dataclass(frozen=True)
class Preset:
    """Marks that select what a report measured; marked hardware is kept if the preset names none."""

    name: str
    about: str
    marked: dict[str, tuple[str, ...]] = field(default_factory=dict)
    repeats: int | None = None
    protocol: str | None = None

    def applied(self, before: Choice) -> Choice:
        kept = {} if "hardware" in self.marked else {"hardware": before.values("hardware")}
        return Choice(kept | self.marked, self.repeats, self.protocol)


PRESETS = (
    Preset(
        "quickstart",
        N_("LeNet-5 with NumPy on this machine, in a minute"),
        {
            "hardware": ("local",),
            "frameworks": ("numpy",),
            "cases": ("lenet5",),
            "precisions": ("fp32",),
            "batch_sizes": ("64", "128"),
            "scales": ("1n1g",),
        },
        repeats=3,
    ),
    Preset(
        "ResNet50 V1.5",
        N_("The report of PaddlePaddle/Perf: Paddle, TensorFlow, PyTorch and MXNet, FP32 and AMP, 1, 8 and 32 GPUs"),
        {
            "frameworks": ("paddleclas", "ngc-tensorflow", "ngc-pytorch", "ngc-mxnet"),
            "cases": ("resnet50",),
            "precisions": ("fp32", "amp"),
            "batch_sizes": ("128", "256"),
            "scales": ("1n1g", "1n8g", "4n8g"),
        },
    ),
    Preset(
        "PLSC ArcFace",
        N_("The report of DLPerf: face recognition with split classes, FP32, 128 samples per GPU"),
        {
            "frameworks": ("plsc",),
            "cases": ("arcface",),
            "precisions": ("fp32",),
            "batch_sizes": ("128",),
            "scales": ("1n1g", "1n8g", "4n8g"),
        },
        protocol="plsc",
    ),
    Preset(
        "VGG16",
        N_("The baseline of FleetX: FP32, AMP and automatic strategy"),
        {
            "frameworks": ("fleetx-fp32", "fleetx-amp", "fleetx-auto"),
            "cases": ("vgg16",),
            "precisions": ("fp32", "amp"),
            "scales": ("1n1g", "1n8g", "2n8g", "4n8g"),
        },
        protocol="fleetx",
    ),
)

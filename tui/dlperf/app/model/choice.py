"""Hold what is marked on the Choose screen, and presets to start from. Immutable."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from dlperf.catalog.axes import parse_scale
from dlperf.messages import N_, _
from dlperf.plan import Configuration, Selection
from dlperf.plan.axes import OPTIONS, options_of_selection
from dlperf.runs.store import MOST

AXES = tuple(name for name in OPTIONS if name != "nodes")
"""Fields of ``Selection`` that are lists of the screen."""


@dataclass(frozen=True)
class Choice:
    """Marked values by axis, in the order of marking; an axis without a mark means every value that fits."""

    marked: dict[str, tuple[str, ...]] = field(default_factory=dict)
    repeats: int | None = None
    """None: the protocol's."""
    protocol: str | None = None
    """None: the recipe's."""
    name: str = ""
    """Of the campaign; empty: made of the time and of what is measured first."""

    @property
    def empty(self) -> bool:
        return not any(self.marked.values())

    def values(self, axis: str) -> tuple[str, ...]:
        return self.marked.get(axis, ())

    def toggle(self, axis: str, value: str) -> Choice:
        values = self.values(axis)
        changed = tuple(item for item in values if item != value) if value in values else (*values, value)
        return replace(self, marked=self.marked | {axis: changed})

    def selection(self) -> Selection:
        marks = {axis: self.values(axis) for axis in AXES if axis != "batch_sizes"}
        sizes = tuple(map(int, self.values("batch_sizes")))
        return Selection(
            **marks, batch_sizes=sizes, repeats=self.repeats, protocol=self.protocol, profile=False, first_seed=1
        )


def problem_of_value(axis: str, text: str) -> str:
    """Return why a typed text is no value of an axis; empty where it is one."""
    match axis:
        case "batch_sizes" if not (text.isdecimal() and 0 < int(text) <= MOST):
            return _("{text}: a batch size is a whole number from 1 on", text=text)
        case "scales":
            try:
                parse_scale(text)
            except ValueError as error:
                return str(error)
        case "axes" if not re.fullmatch(r"[A-Za-z_][\w.-]*=[^=,\s]+", text):
            return _("{text}: an axis and its value, such as sequence_length=4096", text=text)
    return _("{text}: one value, without commas and blanks", text=text) if re.search(r"[,\s]", text) else ""


def choice_of(selection: Selection) -> Choice:
    marked = {axis: tuple(str(value) for value in getattr(selection, axis)) for axis in AXES}
    return Choice(marked, selection.repeats, selection.protocol)


def can_be_chosen(selection: Selection) -> bool:
    """Whether something is selected, and all of it can be marked, as nodes, a seed or a profile cannot."""
    return selection != Selection() and choice_of(selection).selection() == selection


def choice_of_points(points: Sequence[Configuration]) -> Choice:
    """Return the choice that marks what these configurations hold, and with it also other combinations of that."""
    words = [
        (item.hardware, item.framework, item.case, item.precision, str(item.batch_size), item.scale) for item in points
    ]
    marked = {axis: tuple(dict.fromkeys(each)) for axis, each in zip(AXES, zip(*words, strict=True), strict=False)}
    axes = (f"{name}={value}" for item in points for name, value in item.axes)
    return Choice(marked | {"axes": tuple(dict.fromkeys(axes))})


def arguments_of(choice: Choice) -> list[str]:
    return options_of_selection(choice.selection()) + (["--name", choice.name] if choice.name else [])


def command_line(words: Iterable[str]) -> str:
    return shlex.join(["dlperf", *words])


@dataclass(frozen=True)
class Preset:
    """Marks to start from; marked hardware is kept if the preset names none."""

    name: str
    about: str
    options: str
    """As of ``dlperf run``."""

    def applied(self, before: Choice) -> Choice:
        """Return the choice that the options make. Raises ValueError: they are none of ``dlperf run``."""
        words = shlex.split(self.options)
        given: dict[str, tuple[str, ...]] = {}
        for option, text in zip(words[::2], words[1::2], strict=True):
            axis, equals, values = text.rpartition("=")
            given[option] = (*given.get(option, ()), *(f"{axis}{equals}{value}" for value in values.split(",")))
        marked = {axis: given[OPTIONS[axis]] for axis in AXES if OPTIONS[axis] in given}
        if unknown := given.keys() - {*map(OPTIONS.get, AXES), "--repeats", "--protocol"}:
            raise ValueError(", ".join(sorted(unknown)))
        repeats, protocol = (next(iter(given.get(option, ())), None) for option in ("--repeats", "--protocol"))
        return Choice({"hardware": before.values("hardware")} | marked, int(repeats) if repeats else None, protocol)


PRESETS = (
    Preset(
        "quickstart",
        N_("LeNet-5 with NumPy on this machine, in a minute"),
        "--hardware local --framework numpy --case lenet5 --precision fp32 --batch-size 64,128 --gpus 1n1g --repeats 3",
    ),
    Preset(
        "ResNet50 V1.5",
        N_("The report of PaddlePaddle/Perf: Paddle, TensorFlow, PyTorch and MXNet, FP32 and AMP, 1, 8 and 32 GPUs"),
        "--framework paddleclas,ngc-tensorflow,ngc-pytorch,ngc-mxnet --case resnet50 --precision fp32,amp "
        "--batch-size 128,256 --gpus 1n1g,1n8g,4n8g",
    ),
    Preset(
        "PLSC ArcFace",
        N_("The report of DLPerf: face recognition with split classes, FP32, 128 samples per GPU"),
        "--framework plsc --case arcface --precision fp32 --batch-size 128 --gpus 1n1g,1n8g,4n8g --protocol plsc",
    ),
    Preset(
        "VGG16",
        N_("The baseline of FleetX: FP32, AMP and automatic strategy"),
        "--framework fleetx-fp32,fleetx-amp,fleetx-auto --case vgg16 --precision fp32,amp --gpus 1n1g,1n8g,2n8g,4n8g "
        "--protocol fleetx",
    ),
)

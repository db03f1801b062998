"""The options that select what to measure: the same for every command that takes a SELECTION."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.errors import RequestError

if TYPE_CHECKING:
    from dlperf.plan.model import Selection

_MANY = "repeatable, or separated by commas"

HardwareOption = Annotated[list[str] | None, typer.Option("--hardware", "-H", help=f"Machines to run on; {_MANY}.")]
FrameworkOption = Annotated[list[str] | None, typer.Option("--framework", "-f", help=f"Software stacks; {_MANY}.")]
CaseOption = Annotated[list[str] | None, typer.Option("--case", "-c", help=f"Models on data sets; {_MANY}.")]
PrecisionOption = Annotated[
    list[str] | None, typer.Option("--precision", "-p", help=f"fp32, tf32, amp, bf16, fp16; {_MANY}.")
]
BatchSizeOption = Annotated[list[str] | None, typer.Option("--batch-size", "-b", help=f"Samples per GPU; {_MANY}.")]
GpusOption = Annotated[
    list[str] | None, typer.Option("--gpus", "-g", help=f"2n8g for 2 nodes × 8 GPUs, 8 for 1n8g; {_MANY}.")
]
RepeatsOption = Annotated[int | None, typer.Option("--repeats", help="Trials of each configuration.")]
ProtocolOption = Annotated[str | None, typer.Option("--protocol", help="In place of the protocol of each case.")]


def selection_of(
    hardware: list[str] | None,
    framework: list[str] | None,
    case: list[str] | None,
    precision: list[str] | None,
    batch_size: list[str] | None,
    gpus: list[str] | None,
    repeats: int | None = None,
    protocol: str | None = None,
) -> Selection:
    """The options' values as a selection.

    Raises:
        RequestError: a value is empty, or a batch size is no whole number.
    """
    from dlperf.plan.model import Selection

    return Selection(
        hardware=_words("--hardware", hardware),
        frameworks=_words("--framework", framework),
        cases=_words("--case", case),
        precisions=_words("--precision", precision),
        batch_sizes=tuple(map(_whole_number, _words("--batch-size", batch_size))),
        scales=_words("--gpus", gpus),
        repeats=repeats,
        protocol=protocol,
    )


def _words(option: str, values: Iterable[str] | None) -> tuple[str, ...]:
    words = [word.strip() for value in values or () for word in value.split(",")]
    if not all(words):
        raise RequestError(f"{option}: a value is empty: write names separated by commas")
    return tuple(dict.fromkeys(words))


def _whole_number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise RequestError(f"--batch-size {text}: is no whole number")
    return int(text)

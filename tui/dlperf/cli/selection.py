"""The options that select what to measure: the same for every command that takes a SELECTION."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlperf.cli.completion import catalog_ids
from dlperf.errors import RequestError

if TYPE_CHECKING:
    from dlperf.plan.model import Selection

Words = list[str] | None
"""Values of an option that may be repeated, each of them a list separated by commas."""

_HARDWARE: Any = {"metavar": "H,…", "help": "Machines.", "autocompletion": catalog_ids("hardware")}
HardwareOption = Annotated[Words, typer.Option("--hardware", "-H", **_HARDWARE)]
RequiredHardwareOption = Annotated[list[str], typer.Option("--hardware", "-H", **_HARDWARE)]
FrameworkOption = Annotated[
    Words,
    typer.Option("--framework", "-f", metavar="F,…", help="Software stacks.", autocompletion=catalog_ids("frameworks")),
]
CaseOption = Annotated[
    Words,
    typer.Option("--case", "-c", metavar="C,…", help="Models on data sets.", autocompletion=catalog_ids("cases")),
]
PrecisionOption = Annotated[
    Words, typer.Option("--precision", "-p", metavar="P,…", help="fp32, tf32, amp, bf16 or fp16.")
]
BatchSizeOption = Annotated[Words, typer.Option("--batch-size", "-b", metavar="B,…", help="Samples per GPU.")]
GpusOption = Annotated[
    Words, typer.Option("--gpus", "-g", metavar="G,…", help="2n8g for 2 nodes × 8 GPUs, 8 for 1n8g.")
]
RepeatsOption = Annotated[int | None, typer.Option("--repeats", metavar="N", help="Trials of each configuration.")]
ProtocolOption = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        metavar="ID",
        help="In place of the protocol of each case.",
        autocompletion=catalog_ids("protocols"),
    ),
]


def selection_of(
    hardware: Words,
    framework: Words,
    case: Words,
    precision: Words,
    batch_size: Words,
    gpus: Words,
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

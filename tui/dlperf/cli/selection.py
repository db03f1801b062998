"""The options of a selection, which say what is measured, and the plan that they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlperf.cli.options import Words, complete_ids, current_catalog, split
from dlperf.errors import RequestError

if TYPE_CHECKING:
    from dlperf.plan.model import Plan, Selection


def _words(*names: str, metavar: str, help: str, kind: str = "") -> Any:
    """Return an option for comma-separated words, such as ids of a kind of catalogue entry."""
    completer = complete_ids(kind) if kind else None
    return Annotated[Words, typer.Option(*names, metavar=metavar, help=help, autocompletion=completer)]


AXES: dict[str, Any] = {
    "hardware": _words("--hardware", "-H", metavar="H,…", help="Machines.", kind="hardware"),
    "framework": _words("--framework", "-f", metavar="F,…", help="Frameworks.", kind="frameworks"),
    "case": _words("--case", "-c", metavar="C,…", help="Models on data sets.", kind="cases"),
    "precision": _words("--precision", "-p", metavar="P,…", help="fp32, amp, bf16, fp8 …", kind="precisions"),
    "batch_size": _words("--batch-size", "-b", metavar="B,…", help="Samples per GPU."),
    "gpus": _words("--gpus", "-g", metavar="G,…", help="2n8g for 2 nodes × 8 GPUs, 8 for 1n8g."),
    "axes": _words("--set", metavar="AXIS=V,…", help="Values of an axis of the case, such as sequence_length=8192."),
}
"""Options of what is measured, by parameter."""
_SELECTION: dict[str, Any] = AXES | {
    "repeats": Annotated[int | None, typer.Option("--repeats", metavar="N", min=1, help="Trials per configuration.")],
    "protocol": Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Protocol; default: that of each case.", autocompletion=complete_ids("protocols")
        ),
    ],
    "node": _words("--node", metavar="N,…", help="Nodes of the hardware to run on; default: the first ones."),
    "first_seed": Annotated[
        int | None, typer.Option("--first-seed", metavar="N", min=0, help="Seed of the first trial; default: 1.")
    ],
    "profile": Annotated[
        bool,
        typer.Option("--profile", help="Run one more trial of each configuration under a profiler, after the others."),
    ],
}
Command = Callable[..., None]


def selecting(*names: str, required: str = "") -> Callable[[Command], Command]:
    """Give a command options of these names in place of its parameter ``selection``, which receives their values.

    The option ``required`` must be given.
    """

    def decorate(command: Command) -> Command:
        @wraps(command)
        def wrapped(**given: Any) -> None:
            selection = _selection_of({name: given.pop(name) for name in names})
            command(**given, selection=selection)

        found: list[Parameter] = []
        for own in signature(command, eval_str=True, locals={"Selection": object}).parameters.values():
            found += map(option, names) if own.name == "selection" else [own]
        wrapped.__signature__ = signature(wrapped).replace(parameters=found)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {each.name: each.annotation for each in found}
        return wrapped

    def option(name: str) -> Parameter:
        default = Parameter.empty if name == required else None
        return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=_SELECTION[name])

    return decorate


def possible_plan(context: typer.Context, selection: Selection) -> Plan:
    """Return the plan of a selection. Raises RequestError where nothing of it can run."""
    from dlperf.cli.running.text import why_nothing_runs
    from dlperf.plan import expand

    plan = expand(selection, current_catalog(context))
    if not plan.configurations:
        raise RequestError(why_nothing_runs(plan))
    return plan


def _selection_of(values: Mapping[str, Any]) -> Selection:
    """Return the values of the options as a selection.

    Raises:
        RequestError: a value is empty, or a batch size is not an integer.
    """
    from dlperf.plan.model import Selection

    axes = _set_values(values.get("axes"))
    also = {name: axes.pop(name, ()) for name in ("precision", "batch_size")}

    def words(name: str) -> tuple[str, ...]:
        return split(f"--{name.replace('_', '-')}", [*(values.get(name) or ()), *also.get(name, ())])

    return Selection(
        hardware=words("hardware"),
        frameworks=words("framework"),
        cases=words("case"),
        precisions=words("precision"),
        batch_sizes=tuple(map(_parse_batch_size, words("batch_size"))),
        scales=words("gpus"),
        axes=tuple(f"{name}={value}" for name, values in axes.items() for value in values),
        repeats=values.get("repeats"),
        protocol=values.get("protocol"),
        profile=bool(values.get("profile")),
        nodes=words("node"),
        first_seed=1 if values.get("first_seed") is None else values["first_seed"],
    )


def _set_values(texts: Words) -> dict[str, tuple[str, ...]]:
    """Return the values of ``--set`` by axis."""
    given: dict[str, tuple[str, ...]] = {}
    for text in texts or ():
        name, equals, values = text.partition("=")
        if not (name and equals):
            raise RequestError(f"--set {text}: write axis=value, such as sequence_length=8192")
        given[name] = given.get(name, ()) + split(f"--set {name}", [values])
    return given


def _parse_batch_size(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise RequestError(f"--batch-size {text}: not an integer")
    return int(text)

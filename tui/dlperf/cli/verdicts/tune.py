"""``dlperf tune``."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import typer

from dlperf.cli import options
from dlperf.cli.output import print_json, print_note, print_table, print_text
from dlperf.cli.selection import AXES, possible_plan, selecting
from dlperf.cli.verdicts.deciding import Budget, budget_of
from dlperf.errors import ExitCode, RequestError
from dlperf.view.text import count_noun, number, percent

if TYPE_CHECKING:
    from dlperf.plan import Selection
    from dlperf.plan.tuning import Point, SearchSpace
    from dlperf.runs.paths import WorkspacePaths
    from dlperf.table.model import ConfigurationResult

commands = typer.Typer()


@commands.command()
@selecting(*AXES, "protocol", "node")
def tune(
    context: typer.Context,
    selection: Selection,
    budget: options.BudgetOption = None,
    yes: options.YesOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Search the fastest settings of a recipe within a budget.

    Tries what the recipe offers, or the values of --batch-size and --set, at one precision and number of GPUs: one
    trial of each configuration, the default first, until all have run or the budget is spent. What needs no less
    memory than one that ran out of it is passed over.

    The trials are neither listed nor published: a command is printed that measures the best one.
    """
    from dlperf.cli.running.foreground import confirm_plan
    from dlperf.plan import Plan
    from dlperf.plan.tuning import Search, search_space

    spending, workspace = budget_of(budget), options.current_workspace(context)
    space = search_space(selection, options.current_catalog(context))
    if not space.points:
        possible_plan(context, selection)  # says why
    if len(space.points) == 1:
        raise RequestError("one configuration can run, so there is no search: name values by --batch-size or --set")
    search, tried = Search(space), Tried(workspace, selection, space, spending)
    confirm_plan(Plan(selection, tuple(space.points.values())), yes)
    try:
        while (point := search.propose()) is not None:
            if not tried.has_time:
                print_note(f"{spending} is spent")
                break
            row = tried.measure(point)
            search.learn(row.score or None, row.status.code == "out_of_memory")
    except (typer.Exit, KeyboardInterrupt):  # what was found so far is not lost
        _print_end(tried, as_json)
        raise
    raise typer.Exit(_print_end(tried, as_json))


@dataclass
class Tried:
    """Measures the points of a search."""

    workspace: WorkspacePaths
    selection: Selection
    space: SearchSpace
    budget: Budget
    found: list[tuple[Point, ConfigurationResult]] = field(default_factory=list)
    _begun: float = field(default_factory=time.monotonic)
    _longest: float = 0.0

    @property
    def has_time(self) -> bool:
        """Whether a trial as long as the longest would end within the budget; the first one always runs."""
        return not self.found or time.monotonic() - self._begun + self._longest <= self.budget.seconds

    def measure(self, point: Point) -> ConfigurationResult:
        """Run one trial of a point.

        Raises:
            RequestError: the default gave no value, so that no other is likely to.
            typer.Exit: a signal ended the engine.
        """
        begun = time.monotonic()
        row = self._run(point)
        self._longest = max(self._longest, time.monotonic() - begun)
        if not self.found and row.value is None and row.status.code != "out_of_memory":
            raise RequestError(
                f"{row.id} gives no value: {row.status}: see `dlperf status {shlex.quote(row.campaign)}`"
            )
        self.found.append((point, row))
        speed = f"{number(row.value)} {row.unit}" if row.value else str(row.status)
        print_note(f"{len(self.found)} of {len(self.space.points)}: {self.name(point)}: {speed}")
        return row

    def ranked(self) -> list[tuple[Point, ConfigurationResult]]:
        """Return what was tried, the best first."""
        return sorted(self.found, key=lambda each: -each[1].score)

    def name(self, point: Point) -> str:
        from dlperf.catalog.axes import axes_text

        return axes_text(self.space.named(point).items())

    def command(self, row: ConfigurationResult) -> str:
        """Return the command that measures a configuration under its protocol."""
        from dlperf.plan.axes import run_command
        from dlperf.verdicts.reproduction import selection_of_result

        again = selection_of_result(row, 1)
        return run_command(replace(again, repeats=None, protocol=self.selection.protocol, nodes=self.selection.nodes))

    def _run(self, point: Point) -> ConfigurationResult:
        from dlperf.campaign.create import create_campaign
        from dlperf.cli.running.foreground import run_in_foreground
        from dlperf.plan import Plan
        from dlperf.table.load import Filters, load_results, mark_search

        paths = create_campaign(self.workspace, Plan(self.selection, (self.space.points[point],)))
        mark_search(paths)
        if (code := run_in_foreground(self.workspace, paths, quiet=True)) is ExitCode.INTERRUPTED:
            raise typer.Exit(code)
        return load_results(self.workspace, Filters(campaigns=(paths.name,)))[0]


def _print_end(tried: Tried, as_json: bool) -> ExitCode:
    """Print what was tried, the best first, and the command that measures it."""
    ranked = tried.ranked()
    best = ranked[0][1] if ranked else None
    command = tried.command(best) if best and best.value else None
    if as_json:
        print_json({"command": command, "configurations": [_document(tried, *each) for each in ranked]})
    elif best:
        headers = [*tried.space.choices, "value", "unit", "of best", "status"]
        print_table(
            headers, [[*point, row.value, row.unit, _share(row, best), str(row.status)] for point, row in ranked]
        )
        if left := len(tried.space.points) - len(ranked):
            print_note(f"not tried: {count_noun(left, 'configuration')}")
        if command:
            print_note("one trial each, so that small differences may be chance; this measures the best one:")
            print_text(command)
    return ExitCode.DONE if command else ExitCode.MEASURED_FAILED


def _share(row: ConfigurationResult, best: ConfigurationResult) -> str | None:
    return percent(row.score / best.score) if row.score and best.score else None


def _document(tried: Tried, point: Point, row: ConfigurationResult) -> dict[str, Any]:
    is_default = point == tried.space.default
    return {"axes": tried.space.named(point), "default": is_default, "command": tried.command(row), "result": row}

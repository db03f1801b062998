"""``dlperf ab``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli import options
from dlperf.cli.output import print_note
from dlperf.cli.selection import AXES, possible_plan, selecting
from dlperf.cli.verdicts.comparing import print_differences
from dlperf.cli.verdicts.deciding import Budget, Deciding, budget_of, code_of, options_of
from dlperf.cli.verdicts.gates import print_judgements
from dlperf.errors import ExitCode

if TYPE_CHECKING:
    from dlperf.plan import Plan, Selection
    from dlperf.plan.model import Version
    from dlperf.runs.paths import WorkspacePaths
    from dlperf.verdicts.judging import Judgement, Options

commands = typer.Typer()

SIDE = "commit, folder of a Python environment or of another checkout (with a slash), image:NAME, or env:LOCK"


@commands.command()
@selecting(*AXES, "repeats", "protocol")
def ab(
    context: typer.Context,
    a: Annotated[str, typer.Option("--a", metavar="REF", help=f"Before: {SIDE}.")],
    b: Annotated[str, typer.Option("--b", metavar="REF", help=f"After: {SIDE}.")],
    selection: Selection,
    loss: options.LossOption = None,
    max_repeats: options.MaxRepeatsOption = None,
    budget: options.BudgetOption = None,
    name: options.NameOption = None,
    ci: options.CiOption = None,
    yes: options.YesOption = False,
) -> None:
    """Compare two versions of a program, run in turns.

    The order is drawn, and pairs are added until the verdict is clear.

    One trial of each that does not count comes first, then five pairs, then more up to 15 (--max-repeats). Exits with
    1 if B is worse or gives no value, with 4 if it cannot be told, as of a B some of whose trials failed.

    The recipe's `workdir` names the checkout. While the campaign runs, commits are checked out in runs/.versions. An
    image takes the place of the framework's container, a lock of catalog/workloads that of its requirements; where it
    has none, the lock is installed before the packages of the machine's Python.
    """
    from dlperf.verdicts.workspace import with_differences
    from dlperf.view import versions

    spending, chosen = budget_of(budget), options_of(loss, max_repeats)
    workspace, plan = options.current_workspace(context), possible_plan(context, selection)
    sides = versions.find_versions(workspace, plan, {"a": a, "b": b})
    found, code, _ = Turns(workspace, plan, yes, spending, chosen).run(sides, name)
    verdict = print_judgements(found, f"A ({sides[0].label})", ci)
    print_differences(tuple(with_differences(workspace, (item.pair for item in found if item.pair))))
    _print_reasons(found)
    raise typer.Exit(code_of(code, verdict))


@dataclass(frozen=True)
class Turns:
    """How two versions are run in turns."""

    workspace: WorkspacePaths
    plan: Plan
    yes: bool
    budget: Budget
    chosen: Options
    searching: bool = False
    """Whether it is a step of a search, which prints nothing on stdout and whose results are not listed."""
    quiet: bool = False
    """Whether what the engine does is not printed either."""

    def run(self, sides: Sequence[Version], name: str | None = None) -> tuple[list[Judgement], ExitCode, str]:
        """Run both versions as one campaign until each verdict is clear; return these, the exit code and the campaign.

        Raises:
            typer.Exit: a signal ended the engine.
        """
        from dlperf.verdicts.inference.policies import IN_TURNS

        return self._run(sides, self.plan.selection.repeats or self.chosen.first(IN_TURNS), 1, name)

    def run_once(self, sides: Sequence[Version]) -> str:
        """Run one trial of each version; return the campaign."""
        return self._run(sides, 1, 0, None)[2]

    def _run(
        self, sides: Sequence[Version], repeats: int, uncounted: int, name: str | None
    ) -> tuple[list[Judgement], ExitCode, str]:
        from dlperf.campaign.create import create_campaign
        from dlperf.cli.running.foreground import confirm_plan, run_in_foreground
        from dlperf.plan.versions import plan_versions
        from dlperf.table.load import mark_search
        from dlperf.view import versions

        both, once = plan_versions(self.plan, sides, repeats, uncounted), not uncounted
        if not (self.quiet and once):
            confirm_plan(both, self.yes or once)
        paths = create_campaign(self.workspace, both, name)
        if self.searching:
            mark_search(paths)
        a, b = sides
        judge = partial(versions.judge_versions, self.workspace, paths.name, a, b, self.chosen)
        deciding = None if once else Deciding(paths, judge, self.budget)
        code = run_in_foreground(self.workspace, paths, self.searching, deciding, self.quiet)
        if code is ExitCode.INTERRUPTED:
            raise typer.Exit(code)
        return deciding.found if deciding else [], code, paths.name


def _print_reasons(found: Sequence[Judgement]) -> None:
    """Say what a public claim of better or worse would need besides."""
    reasons = (str(reason) for item in found if item.pair and item.pair.ratio for reason in item.pair.reasons)
    for reason in dict.fromkeys(reasons):
        print_note(f"no claim for others: {reason}")

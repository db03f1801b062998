"""``dlperf ab`` and ``dlperf bisect``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli import options
from dlperf.cli.output import print_note
from dlperf.cli.verdicts.gates import print_judgements
from dlperf.errors import ExitCode, RequestError
from dlperf.view.text import count_noun

if TYPE_CHECKING:
    from dlperf.plan import Plan, Selection
    from dlperf.plan.model import Version
    from dlperf.runs.paths import Workspace
    from dlperf.verdicts.baselines import Judgement

commands = typer.Typer()

SIDE = "commit, folder of a Python environment, or of another checkout (with a slash)"


@commands.command()
@options.selecting(*options.AXES, "repeats", "protocol")
def ab(
    context: typer.Context,
    a: Annotated[str, typer.Option("--a", metavar="REF", help=f"Before: {SIDE}.")],
    b: Annotated[str, typer.Option("--b", metavar="REF", help=f"After: {SIDE}.")],
    selection: Selection,
    name: options.NameOption = None,
    ci: options.CiOption = None,
    yes: options.YesOption = False,
) -> None:
    """Compare two versions of a program, run in turns (A B A B).

    Exits with 1 if B is worse.

    The recipe's `workdir` names the checkout. While the campaign runs, commits are checked out in runs/.versions.
    """
    from dlperf.view import versions

    workspace, plan = options.current_workspace(context), options.possible_plan(context, selection)
    checkout = versions.checkout_of(plan)
    sides = [versions.find_version(workspace, checkout, side, text) for side, text in (("a", a), ("b", b))]
    found, code = _run_in_turns(workspace, plan, sides, name, yes)
    verdict = print_judgements(found, f"A ({sides[0].label})", ci)
    _print_reasons(found)
    raise typer.Exit(code or verdict)


@commands.command()
@options.selecting(*options.AXES, "repeats", "protocol")
def bisect(
    context: typer.Context,
    good: Annotated[str, typer.Argument(metavar="GOOD", help="Commit that is fast enough.")],
    bad: Annotated[str, typer.Argument(metavar="BAD", help="Later commit that is worse.")],
    selection: Selection,
    yes: options.YesOption = False,
) -> None:
    """Find the first commit that is worse than GOOD. Each step runs `dlperf ab` against GOOD."""
    from dlperf.view import versions

    workspace, plan = options.current_workspace(context), options.possible_plan(context, selection)
    checkout = versions.checkout_of(plan)
    first, last = versions.find_range(checkout, good, bad)

    def is_bad(commit: str, left: int) -> bool | None:
        print_note(f"{count_noun(left, 'commit')} to try; next: {commit[:12]}")
        sides = [versions.find_version(workspace, checkout, side, text) for side, text in (("a", first), ("b", commit))]
        found, _ = _run_in_turns(workspace, plan, sides, None, yes or commit != last)
        print_judgements(found, first[:12], None)
        measured = [item for item in found if item.pair and item.pair.gain is not None]
        return any(item.failed for item in measured) if len(measured) == len(found) else None

    if not is_bad(last, 1):
        raise RequestError(f"{bad} is not worse than {good}, or gave no value: there is nothing to search for")
    *unknown, worse = versions.first_bad_commit(checkout, first, last, is_bad)
    for commit in unknown:
        print_note(f"not measured, may be the first one, too: {commit}")
    print(worse)


def _run_in_turns(
    workspace: Workspace, plan: Plan, sides: Sequence[Version], name: str | None, yes: bool
) -> tuple[list[Judgement], ExitCode]:
    """Run both versions as one campaign; return the verdicts and the engine's exit code.

    Raises:
        typer.Exit: a signal ended the engine.
    """
    from dlperf.cli.running.foreground import run_plan
    from dlperf.plan.versions import plan_versions
    from dlperf.verdicts.significance import LEAST_TRIALS
    from dlperf.view import versions

    a, b = sides
    both = plan_versions(plan, sides, plan.selection.repeats or LEAST_TRIALS)
    paths, code = run_plan(workspace, both, name, yes)
    if code is ExitCode.INTERRUPTED:
        raise typer.Exit(code)
    return versions.judge_versions(workspace, paths.name, a, b), code


def _print_reasons(found: Sequence[Judgement]) -> None:
    """Say what a public claim of faster or slower would need besides."""
    reasons = (str(reason) for item in found if item.pair and item.pair.ratio for reason in item.pair.reasons)
    for reason in dict.fromkeys(reasons):
        print_note(f"no claim for others: {reason}")

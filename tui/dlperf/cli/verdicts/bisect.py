"""``dlperf bisect``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli import options
from dlperf.cli.output import print_note, print_text
from dlperf.cli.verdicts.deciding import options_of, seconds_of
from dlperf.cli.verdicts.versions import Turns
from dlperf.errors import ExitCode, RequestError
from dlperf.view.text import count_noun, percent

if TYPE_CHECKING:
    from pathlib import Path

    from dlperf.plan import Selection
    from dlperf.plan.model import Version
    from dlperf.verdicts.inference.commit_search import Beliefs, Step

commands = typer.Typer()

DIGITS = 12
"""Of a commit in a note."""


@commands.command()
@options.selecting(*options.AXES, "protocol")
def bisect(
    context: typer.Context,
    good: Annotated[str, typer.Argument(metavar="GOOD", help="Commit that is fast enough.")],
    bad: Annotated[str, typer.Argument(metavar="BAD", help="Later commit that is worse.")],
    selection: Selection,
    loss: options.LossOption = None,
    max_repeats: options.MaxRepeatsOption = None,
    budget: options.BudgetOption = None,
    yes: options.YesOption = False,
) -> None:
    """Find the first commit that is worse than GOOD.

    GOOD and BAD run in turns until BAD is worse, up to 30 times each. Then each step measures the commit that tells
    most, beside GOOD or BAD, and updates the probability of every commit.

    Prints the commit once it is 99 % probable. Exits with 4 where that is not reached, and prints those that remain;
    with 2 where BAD is no worse. The steps' results are neither listed nor published.
    """
    from dlperf.verdicts.inference.commit_search import MOST_OF_ENDS, search
    from dlperf.view import versions

    seconds, chosen = seconds_of(budget), options_of(loss, max_repeats or MOST_OF_ENDS)
    workspace, plan = options.current_workspace(context), options.possible_plan(context, selection)
    if len(plan.configurations) != 1:
        raise RequestError(f"{len(plan.configurations)} configurations are selected: a search measures one")
    checkout = versions.checkout_of(plan)
    first, last = versions.find_range(checkout, good, bad)
    history = versions.read_history(checkout, first, last)
    steps = Steps(Turns(workspace, plan, yes, seconds, chosen, searching=True), checkout)
    ends = steps.measure_ends(first, last)
    beliefs, failed = search(history, ends, steps.measure, told=_print_beliefs, ended=steps.spent)
    raise typer.Exit(_print_end(beliefs, failed))


class Steps:
    """Measures the commits of a search."""

    def __init__(self, turns: Turns, checkout: Path) -> None:
        self._turns, self._checkout = turns, checkout
        self._end = time.monotonic() + turns.seconds

    def measure_ends(self, good: str, bad: str) -> Step:
        """Run both ends until BAD is worse; return their trials.

        Raises:
            RequestError: BAD is no worse, or one of both gives no value.
            typer.Exit: it cannot be told.
        """
        from dlperf.view import versions

        sides = [self._version(commit) for commit in (good, bad)]
        found, _, campaign = self._turns.run(sides)
        item = found[0] if found else None
        if item is None or item.outcome not in ("worse", "cannot_tell"):
            why = item.verdict if item else "no value"
            raise RequestError(f"{bad[:DIGITS]} is not worse than {good[:DIGITS]}, so there is no search: {why}")
        print_note(f"{bad[:DIGITS]} against {good[:DIGITS]}: {item.verdict}")
        if item.outcome == "cannot_tell":
            raise typer.Exit(ExitCode.CANNOT_TELL)
        return versions.step_of(self._turns.workspace, campaign, {side.label: side.commit for side in sides})

    def measure(self, commit: str, reference: str) -> Step | None:
        """Run one trial of each; None where the commit gave no value."""
        from dlperf.view import versions

        sides = [self._version(each) for each in (commit, reference)]
        campaign = self._turns.run_once(sides)
        step = versions.step_of(self._turns.workspace, campaign, {side.label: side.commit for side in sides})
        return step if commit in dict(step) else None

    def spent(self) -> bool:
        """Whether the budget is."""
        return time.monotonic() > self._end

    def _version(self, commit: str) -> Version:
        from dlperf.view import versions

        return versions.find_version(self._turns.workspace, self._checkout, "c", commit)


def _print_beliefs(beliefs: Beliefs, commit: str) -> None:
    likeliest = f"{beliefs.likeliest[:DIGITS]} with {percent(beliefs.confidence)}"
    print_note(f"likeliest so far: {likeliest}; next: {commit[:DIGITS]}")


def _print_end(beliefs: Beliefs, failed: tuple[str, ...]) -> ExitCode:
    """Print the commit, or those among which it is, and how sure that is."""
    from dlperf.verdicts.inference.commit_search import CONFIDENCE

    for commit in failed:
        print_note(f"not measured, because it gave no value: {commit}")
    trials = count_noun(sum(beliefs.counts.values()), "trial")
    if beliefs.found:
        print_note(f"first worse commit, at least {percent(CONFIDENCE, 0)} probable, by {trials}")
        print_text(beliefs.found)
        return ExitCode.DONE
    remaining = beliefs.range()
    if beliefs.is_misfit:
        print_note(f"cannot tell: more than one commit changed the speed, by {trials}; the most likely ones:")
    else:
        print_note(f"cannot tell: one of {count_noun(len(remaining), 'commit')}, by {trials}:")
    print_text("\n".join(remaining))
    return ExitCode.CANNOT_TELL

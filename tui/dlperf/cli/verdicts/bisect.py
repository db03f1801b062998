"""``dlperf bisect``."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli import options
from dlperf.cli.output import print_note, print_text
from dlperf.cli.selection import AXES, possible_plan, selecting
from dlperf.cli.verdicts.deciding import budget_of, options_of
from dlperf.cli.verdicts.versions import Turns
from dlperf.errors import ExitCode, RequestError
from dlperf.view.text import count_noun, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dlperf.plan import Plan, Selection
    from dlperf.plan.model import Version
    from dlperf.runs.paths import WorkspacePaths
    from dlperf.verdicts.inference.commit_search import Beliefs, History, Step

commands = typer.Typer()

DIGITS = 12
"""Of a commit in a note."""


@commands.command()
@selecting(*AXES, "protocol")
def bisect(
    context: typer.Context,
    good: Annotated[str, typer.Argument(metavar="GOOD", help="Commit that is fast enough, or image:NAME:DATE.")],
    bad: Annotated[str, typer.Argument(metavar="BAD", help="Later commit, or image, that is worse.")],
    selection: Selection,
    loss: options.LossOption = None,
    max_repeats: options.MaxRepeatsOption = None,
    budget: options.BudgetOption = None,
    yes: options.YesOption = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print what happens to each trial, too.")] = False,
) -> None:
    """Find the first commit that is worse than GOOD.

    GOOD and BAD run in turns until BAD is worse, up to 30 times each. Then each step measures the commit that tells
    most, beside GOOD or BAD, and updates the probability of every commit.

    Of two images of one name with dates in their tags, the images of the days between (or months, of tags such as
    26.02) are searched; one that cannot be had counts as not measured.

    Prints the commit once it is 99 % probable. Exits with 4 where that is not reached, and prints those that remain, or
    how many trials would show whether BAD is worse; with 2 where it is better, or no worse by --loss; with 1 where an
    end gives no value. The results of the steps are neither listed nor published.
    """
    from dlperf.verdicts.inference.commit_search import MOST_OF_ENDS, search

    # without a named loss, ends that are the same may still differ by less than their trials exclude
    spending, chosen = budget_of(budget), options_of(loss or 0.0, max_repeats or MOST_OF_ENDS)
    workspace, plan = options.current_workspace(context), possible_plan(context, selection)
    if len(plan.configurations) != 1:
        raise RequestError(f"{len(plan.configurations)} configurations are selected: a search measures one")
    history, version_of = _history(workspace, plan, good, bad)
    turns = Turns(workspace, plan, yes, spending, chosen, searching=True, quiet=not verbose)
    steps = Steps(turns, version_of)
    ends = steps.measure_ends(history.good, history.bad)
    beliefs, failed = search(history, ends, steps.measure, before_step=_print_beliefs, ended=steps.spent)
    if steps.spent() and not beliefs.found:
        print_note(f"{spending} is spent")
    raise typer.Exit(_print_end(beliefs, failed))


def _history(workspace: WorkspacePaths, plan: Plan, good: str, bad: str) -> tuple[History, Callable[[str], Version]]:
    """Return what is searched, and the function that makes a version of a commit or an image."""
    from dlperf.view import versions

    if good.startswith(versions.IMAGE) and bad.startswith(versions.IMAGE):
        images = versions.dated_images(*(text.removeprefix(versions.IMAGE) for text in (good, bad)))
        return images, partial(versions.image_version, "c")
    for text in (good, bad):
        if text.startswith((versions.IMAGE, versions.LOCK)):
            advice = f"compare two by `dlperf ab --a {good} --b {bad}`"
            raise RequestError(f"{text}: a search is between two commits or two dated images: {advice}")
    checkout = versions.checkout_of(plan)
    history = versions.read_history(checkout, *versions.find_range(checkout, good, bad))
    return history, partial(versions.find_version, workspace, checkout, "c")


class Steps:
    """Measures the commits, or the images, of a search."""

    def __init__(self, turns: Turns, version_of: Callable[[str], Version]) -> None:
        self._turns, self._version = turns, version_of
        self._end = time.monotonic() + turns.budget.seconds

    def measure_ends(self, good: str, bad: str) -> Step:
        """Run both ends until BAD is worse; return their trials.

        Raises:
            RequestError: BAD is no worse.
            typer.Exit: it cannot be told, or one of both gives no value.
        """
        sides = [self._version(commit) for commit in (good, bad)]
        found, _, campaign = self._turns.run(sides)
        item = found[0] if found else None
        if item is None or item.outcome == "missing":
            print_note(f"{_short(good)} or {_short(bad)} gives no value: {item.verdict if item else 'it did not run'}")
            raise typer.Exit(ExitCode.MEASURED_FAILED)
        if item.outcome not in ("worse", "cannot_tell"):
            raise RequestError(f"{_short(bad)} is not worse than {_short(good)}, so there is no search: {item.verdict}")
        print_note(f"{_short(bad)} against {_short(good)}: {item.verdict}")
        if item.outcome == "cannot_tell":
            if item.pair and item.found and item.found.more and not item.wants_trials:
                print_note(f"for that, pass --max-repeats {len(item.pair.b.values) + item.found.more}")
            raise typer.Exit(ExitCode.CANNOT_TELL)
        return self._step(campaign, sides)

    def measure(self, commit: str, reference: str) -> Step | None:
        """Run one trial of each; None where the commit gave no value."""
        from dlperf.view.versions import failure_of

        sides = [self._version(each) for each in (commit, reference)]
        campaign = self._turns.run_once(sides)
        step = self._step(campaign, sides)
        if commit in dict(step):
            return step
        print_note(f"{_short(commit)} gives no value: {failure_of(self._turns.workspace, campaign, sides[0])}")
        return None

    def spent(self) -> bool:
        """Whether the budget is."""
        return time.monotonic() > self._end

    def _step(self, campaign: str, sides: Sequence[Version]) -> Step:
        from dlperf.view import versions

        return versions.step_of(
            self._turns.workspace, campaign, {side.label: side.commit or side.image for side in sides}
        )


def _short(commit: str) -> str:
    """The first digits of a commit, or an image's tag."""
    return commit.rpartition(":")[2] if ":" in commit else commit[:DIGITS]


def _print_beliefs(beliefs: Beliefs, commit: str) -> None:
    from dlperf.verdicts.inference.commit_search import CONFIDENCE, STATED

    # what is computed is too high near 1
    sure = f"at least {percent(STATED, 0)}" if beliefs.confidence >= CONFIDENCE else percent(beliefs.confidence)
    print_note(f"likeliest so far: {_short(beliefs.likeliest)} with {sure}; next: {_short(commit)}")


def _print_end(beliefs: Beliefs, failed: tuple[str, ...]) -> ExitCode:
    """Print the commit, or those among which it is, and how sure that is."""
    from dlperf.verdicts.inference.commit_search import STATED

    for commit in failed:
        print_note(f"not measured, because it gave no value: {commit}")
    trials = count_noun(sum(beliefs.counts.values()), "trial")
    if beliefs.found:
        print_note(f"first worse commit, at least {percent(STATED, 0)} probable, by {trials}")
        print_text(beliefs.found)
        return ExitCode.DONE
    remaining = beliefs.range()
    if beliefs.is_misfit:
        print_note(f"cannot tell: more than one commit changed the speed, by {trials}; the most likely ones:")
    else:
        print_note(f"cannot tell: one of {count_noun(len(remaining), 'commit')}, by {trials}:")
    print_text("\n".join(remaining))
    return ExitCode.CANNOT_TELL

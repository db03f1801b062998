"""The trials of a comparison in the order in which they ran."""

from collections.abc import Sequence
from dataclasses import replace

from dlperf.measured.model import TrialResult
from dlperf.messages.numbers import four_digits
from dlperf.report import figures
from dlperf.report.data import grouped
from dlperf.report.pages.page import Page
from dlperf.report.site import locations as at
from dlperf.report.views import ColumnView, Link, Prose, TableView, TextView, filled
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import Claim

SHOWN_OF_UUID = 12
TO_THE_SECOND = 19
"""Characters of a time without fractions of a second."""
SEED = "{trial}"
"""Stands for the seed in the command of a program that takes one."""


def trials_in_order(page: Page, found: Claim) -> TableView:
    """Return every trial of the two sides of a verdict: of each campaign in the order in which they began."""
    sides = [row for pair in found.machines or ((found.a, found.b),) for row in pair]
    step = found.alike.step if found.alike else None
    campaigns = grouped(sides, lambda row: row.campaign).values()
    rows = [trial for same in campaigns for trial in _of_campaign(page, same, step)]
    loss = page._("Loss at step {step}", step=f"{step:,}") if step else ""
    heads = (
        *(page._("Campaign"), page._("GPU"), page._("Order"), page._("Started (UTC)"), page._("Seed")),
        *(page._("Framework"), found.b.unit, page._("GPU idle"), loss),
    )
    worded = {0, 1, 5}
    return filled([ColumnView(head, words=place in worded) for place, head in enumerate(heads)], rows)


def _of_campaign(page: Page, sides: Sequence[ConfigurationResult], step: int | None) -> list[tuple[object, ...]]:
    begun = sorted(((trial, row) for row in sides for trial in row.trials), key=lambda each: each[0].started or "")
    return [_trial(page, order, trial, row, step) for order, (trial, row) in enumerate(begun, 1)]


def _trial(
    page: Page, order: int, trial: TrialResult, row: ConfigurationResult, step: int | None
) -> tuple[object, ...]:
    uuid, loss = trial.conditions.get("gpu.uuid", ""), dict(trial.losses).get(step) if step and trial.usable else None
    value = four_digits(trial.value) if trial.usable and trial.value is not None else _without_value(page, trial)
    return (
        row.campaign,
        TextView(uuid[:SHOWN_OF_UUID], "cut", uuid) if uuid else "",
        str(order),
        TextView((trial.started or "")[:TO_THE_SECOND], "time") if trial.started else "",
        _seed(page, trial, row),
        replace(page.framework_link(row.framework, row.campaign), address=""),
        Link(value, at.html_address(page.path, at.configuration_page(row))),
        "" if trial.idle is None else figures.percent(trial.idle),
        "" if loss is None else f"{loss:.4g}",
    )


def _without_value(page: Page, trial: TrialResult) -> str:
    """Return what stands in place of the value of a trial that does not count, or has none."""
    if trial.value is None:
        return figures.stored_word(page.language, trial.state)
    return Prose(page.language.render(trial.why_unusable))


def _seed(page: Page, trial: TrialResult, row: ConfigurationResult) -> str:
    """Return the seed of a trial, which its program draws weights and data from; empty for one that takes none."""
    plan = page.data.plan(row)
    takes_one = plan is not None and SEED in plan.launch.command
    return str(plan.launch.first_seed + trial.number - 1) if plan and takes_one else ""

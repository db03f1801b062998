"""What each trial of a configuration came to and left, as tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dlperf.messages import N_, Language
from dlperf.report import figures, html
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.data import distinct, is_published
from dlperf.report.evidence import Evidence
from dlperf.report.pages.page import Page
from dlperf.results.model import ConfigurationResult, TrialResult

SHOWN_OF_HASH = 12
"""Digits of a SHA-256 that stand on the page; the name of the file has all of them."""


def trials(page: Page, row: ConfigurationResult, found: Mapping[int, Evidence]) -> str:
    """What each trial came to, and what it left."""
    if not row.trials:
        return ""
    files = distinct(file.name for one in found.values() for file in one.downloads)
    outcomes = [_outcome(page, trial, found[trial.number]) for trial in row.trials]
    words = (
        N_("Trial"),
        N_("State"),
        N_("Figure"),
        N_("From timestamps"),
        N_("Samples"),
        N_("Steps"),
        N_("Log lines"),
        N_("Estimator"),
    )
    came_to = _of_trials(page, [*map(page._, (*words, N_("Started (UTC)"), N_("Duration")))], outcomes)
    if is_published(row.campaign):
        return came_to
    left = [_left(page, files, trial, found[trial.number]) for trial in row.trials]
    header = [page._("Trial"), page._("Log"), *map(md.text, files)]
    note = page._("What each trial left. A file is named by its SHA-256, of which the first digits stand here.")
    return f"{came_to}\n{_of_trials(page, header, left, note)}"


def _of_trials(page: Page, header: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> str:
    """A table with a row for each trial."""
    words = [column for column, name in enumerate(header) if name == page._("State")]
    placed = {column: "value" for column, name in enumerate(header) if name == page._("Figure")}
    told = page.told_once(
        header,
        rows,
        words,
        range(1, len(header)),
        said=N_("The same in all trials: {facts}."),
        note=note,
        placed=placed,
    )
    return html.listing(told)


def _outcome(page: Page, trial: TrialResult, found: Evidence) -> tuple[str, ...]:
    """The figure leads to the log that it came from."""
    seconds, figure, log = trial.duration_seconds, figures.optional(trial.value), _log_address(page, trial, found)
    return (
        md.number(str(trial.number)),
        _ended(page.language, trial),
        html.link(figure, log) if figure and log else figure,
        figures.optional(trial.value_from_timestamps),
        md.number(str(trial.samples)) if trial.log else "",
        _range(trial.first_step, trial.last_step),
        _range(trial.first_line, trial.last_line),
        md.code(trial.estimator) if trial.estimator else "",
        f"<time>{md.text(_to_the_second(trial.started))}</time>" if trial.started else "",
        "" if seconds is None else page._("{value} s", value=md.number(f"{seconds:.1f}")),
    )


def _ended(language: Language, trial: TrialResult) -> str:
    """How a trial ended, and why where it gave no figure."""
    cause = language.render(trial.cause) if trial.cause and trial.value is None else ""
    return md.text(f"{figures.stored_word(language, trial.state)}{language.colon + cause if cause else ''}")


def _left(page: Page, names: Sequence[str], trial: TrialResult, found: Evidence) -> list[str]:
    """Links to what the trial left, each under the beginning of its hash."""
    files = {file.name: file for file in found.downloads}
    others = [_file(page.data_file(files[name].path), files[name].sha256) if name in files else "" for name in names]
    return [md.number(str(trial.number)), _log(page, trial, found), *others]


def _log(page: Page, trial: TrialResult, found: Evidence) -> str:
    if found.log is None or not trial.log_sha256:
        return page._("no log kept")
    if found.log_altered:
        changed = page._("log changed since it was measured")
        return f"{html.strong(changed)} {md.code(trial.log_sha256)}"
    return _file(_log_address(page, trial, found), trial.log_sha256)


def _log_address(page: Page, trial: TrialResult, found: Evidence) -> str:
    """Of the log that gave the figure; nothing where it was altered since, or not kept."""
    offered = found.log is not None and trial.log_sha256 and not found.log_altered
    return page.data_file(at.log_download(trial.log_sha256 or "")) if offered else ""


def _file(address: str, sha256: str) -> str:
    return html.link(sha256[:SHOWN_OF_HASH], address)


def estimates(page: Page, trials: Sequence[TrialResult]) -> str:
    """The same samples under each of the other estimators."""
    names = sorted({name for trial in trials for name in trial.estimates})
    rows = [
        (
            md.number(str(trial.number)),
            *(figures.optional(trial.estimates[name]) if name in trial.estimates else "" for name in names),
        )
        for trial in trials
        if trial.estimates
    ]
    if not rows:
        return ""
    lead = html.paragraph(page._("The same samples under other estimators") + page.language.colon.rstrip())
    return html.listing(lead + html.table((page._("Trial"), *map(md.code, names)), rows, placed={}))


def _to_the_second(time: str) -> str:
    return re.sub(r"(?<=:[0-9]{2})\.[0-9]+", "", time)


def _range(first: int | None, last: int | None) -> str:
    return "" if first is None or last is None else md.number(f"{first}-{last}")

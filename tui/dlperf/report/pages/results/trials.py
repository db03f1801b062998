"""Tables of the outcome and artifacts of each trial of a configuration."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median

from dlperf.measured.model import TrialResult
from dlperf.messages import N_, Language
from dlperf.messages.numbers import change, four_digits
from dlperf.report import figures
from dlperf.report.data import distinct, is_published
from dlperf.report.evidence import TrialEvidence
from dlperf.report.pages.page import Page
from dlperf.report.site import locations as at
from dlperf.report.views import ColumnView, Link, Prose, TableView, TextView, filled
from dlperf.table.model import ConfigurationResult
from dlperf.table.shown import shown_value

SHOWN_OF_HASH = 12
"""Digits of a SHA-256 shown on the page; the file name has all of them."""
OUTCOME = (
    *(N_("Trial"), N_("State"), N_("Throughput"), N_("From timestamps"), N_("Samples"), N_("Steps"), N_("Log lines")),
    *(N_("Estimator"), N_("Started (UTC)"), N_("Duration")),
)


def outcomes(page: Page, row: ConfigurationResult, found: Mapping[int, TrialEvidence]) -> TableView:
    return _table(page, OUTCOME, [_outcome(page, trial, found[trial.number]) for trial in row.trials])


def artifacts(page: Page, row: ConfigurationResult, found: Mapping[int, TrialEvidence]) -> TableView | None:
    """Return a table of the files of each trial."""
    if is_published(row.campaign):
        return None
    files = distinct(file.name for one in found.values() for file in one.downloads)
    rows = [_artifacts(page, files, trial, found[trial.number]) for trial in row.trials]
    return _table(page, (N_("Trial"), N_("Log"), *files), rows)


def mfu_text(page: Page, row: ConfigurationResult) -> str:
    """Return the MFU as a calculation that readers can repeat; empty if one of its numbers is unknown."""
    plan = page.data.plan(row)
    peak = plan.accelerator.peak_tflops.get(row.precision) if plan and plan.accelerator else None
    if plan is None or row.mfu is None or not plan.gflops_per_sample or not peak:
        return ""
    return page._(
        "MFU: {work} GFLOP × {throughput} {unit} ÷ ({gpus} × {peak} TFLOP/s dense peak) = {mfu}",
        work=four_digits(plan.gflops_per_sample),
        throughput=figures.value_text(row),
        unit=row.unit,
        gpus=figures.gpus_text(page.language, row),
        peak=four_digits(peak),
        mfu=figures.percent(row.mfu),
    )


def _table(page: Page, titles: Sequence[str], rows: Sequence[Sequence[object]]) -> TableView:
    columns = [
        ColumnView(page._(title), words=title == "State", place="value" if title == "Figure" else "")
        for title in titles
    ]
    return filled(columns, rows, range(1, len(columns)))


def _outcome(page: Page, trial: TrialResult, found: TrialEvidence) -> tuple[object, ...]:
    """Return the row of a trial, whose value links to its log."""
    seconds, figure = trial.duration_seconds, figures.optional(trial.value)
    return (
        str(trial.number),
        _describe_end(page.language, trial),
        Link(figure, _log_address(page, trial, found)) if figure else "",
        figures.optional(trial.value_from_timestamps),
        str(trial.samples) if trial.log else "",
        _range(trial.first_step, trial.last_step),
        _range(trial.first_line, trial.last_line),
        Link(trial.estimator, code=True) if trial.estimator else "",
        TextView(_to_the_second(trial.started), "time") if trial.started else "",
        "" if seconds is None else page._("{value} s", value=f"{seconds:.1f}"),
    )


def _describe_end(language: Language, trial: TrialResult) -> str:
    """Return the state of a trial, with the cause if it gave no value."""
    cause = language.render(trial.cause) if trial.cause and trial.value is None else ""
    return Prose(f"{figures.stored_word(language, trial.state)}{language.colon + cause if cause else ''}")


def _artifacts(page: Page, names: Sequence[str], trial: TrialResult, found: TrialEvidence) -> list[object]:
    """Return links to the files of a trial, labelled with the beginning of their hash."""
    files = {file.name: file for file in found.downloads}
    others = [_file(page.data_file(files[name].path), files[name].sha256) if name in files else "" for name in names]
    return [str(trial.number), _log(page, trial, found), *others]


def _log(page: Page, trial: TrialResult, found: TrialEvidence) -> object:
    if found.log is None or not trial.log_sha256:
        return page._("no log kept")
    if found.log_altered:
        return TextView(page._("log changed since it was measured"), "warning"), Link(trial.log_sha256, code=True)
    return _file(_log_address(page, trial, found), trial.log_sha256)


def _log_address(page: Page, trial: TrialResult, found: TrialEvidence) -> str:
    """Return the address of the log that gave the value; empty if it was altered or not kept."""
    offered = found.log is not None and trial.log_sha256 and not found.log_altered
    return page.data_file(at.log_download(trial.log_sha256 or "")) if offered else ""


def _file(address: str, sha256: str) -> Link:
    return Link(sha256[:SHOWN_OF_HASH], address)


def metrics(page: Page, row: ConfigurationResult) -> TableView:
    """Return a table of the metrics beside the primary one."""
    rows = [
        (
            page.language.colon.join(filter(None, (page.data.metric_title(page.language, metric.id), metric.basis))),
            four_digits(value),
            metric.unit,
            figures.spread(metric.spread),
        )
        for metric in row.metrics[1:]
        if (value := shown_value(row, metric)) is not None and (metric.id != "mfu" or row.mfu is None)
    ]
    heads = page._("Metric"), page._("Value"), page._("Unit"), page._("Spread")
    return filled([ColumnView(head, words=number in (0, 2)) for number, head in enumerate(heads)], rows)


def estimates(page: Page, row: ConfigurationResult) -> TableView:
    """Return a table of what all other estimators give on the same samples: medians of the trials."""
    found: dict[str, list[float]] = defaultdict(list)
    for trial in row.trials:
        for name, value in trial.estimates.items() if trial.usable else ():
            found[name].append(value)
    medians = {name: median(values) for name, values in sorted(found.items())}
    rows = [
        (Link(name, code=True), four_digits(value), change(value / row.value - 1) if row.value else "")
        for name, value in medians.items()
    ]
    heads = page._("Estimator"), page._("Median"), page._("Relative to the result")
    return filled([ColumnView(head) for head in heads], rows)


def _to_the_second(time: str) -> str:
    return re.sub(r"(?<=:[0-9]{2})\.[0-9]+", "", time)


def _range(first: int | None, last: int | None) -> str:
    return "" if first is None or last is None else f"{first}-{last}"


def findings(language: Language, row: ConfigurationResult) -> list[tuple[str, str, str]]:
    """Return findings across trials, then those within trials with the trial numbers."""
    found: dict[tuple[str, str], list[str]] = {}
    numbers: dict[tuple[str, str], list[str]] = {}
    for trial in row.trials:
        for finding in trial.findings:
            numbers.setdefault((finding.severity, language.render(finding.message)), []).append(str(trial.number))
    for finding in row.findings:
        key = finding.severity, language.render(finding.message)
        found |= {} if key in numbers else {key: []}
    return [
        (figures.stored_word(language, severity), language.separator.join(trials), Prose(words))
        for (severity, words), trials in (found | numbers).items()
    ]

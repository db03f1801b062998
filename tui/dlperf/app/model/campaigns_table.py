"""Show the campaigns of a workspace as rows. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from dlperf.app.model.table import Column, Row, SortedView, Tone, bar, packed
from dlperf.catalog.axes import parse_scale
from dlperf.messages import N_, _
from dlperf.view.campaigns import CampaignSummary, Standing, sort_campaigns
from dlperf.view.text import local_time, printable, short_duration

CAVEATS = " †"
"""Behind a figure that has some."""
LOOKS: dict[Standing, tuple[str, Tone]] = {
    Standing.RUNNING: ("▶", "busy"),
    Standing.PAUSED: ("‖", "warn"),
    Standing.INTERRUPTED: ("!", "warn"),
    Standing.FINISHED: ("✓", "good"),
    Standing.LOADING: ("…", "dim"),
    Standing.UNREADABLE: ("✗", "bad"),
}
"""Glyph and tone."""


def look_of(summary: CampaignSummary) -> tuple[str, str, Tone]:
    """Return glyph, word, to be translated, and tone of a campaign's state: of one without a success, how it ended."""
    glyph, tone = LOOKS[summary.standing]
    if summary.standing is not Standing.FINISHED or summary.succeeded == summary.total:
        return glyph, summary.standing.value, tone
    if summary.succeeded:
        return "■", summary.standing.value, "warn"
    return ("✗", N_("failed"), "bad") if summary.bad else ("–", N_("cancelled"), "warn")


def how_ended(summary: CampaignSummary) -> tuple[str, Literal["information", "warning", "error"]]:
    """Return what is said of a campaign that has ended, to be translated, and how grave that is."""
    if summary.succeeded == summary.total:
        return N_("{name} has finished"), "information"
    if summary.succeeded:
        return N_("{name} has finished, not all trials succeeded"), "warning"
    if summary.bad:
        return N_("{name} has failed: no trial succeeded"), "error"
    return N_("{name} was cancelled"), "warning"


@dataclass(frozen=True)
class CampaignsView(SortedView[CampaignSummary]):
    """Running campaigns first, then interrupted ones, then the newest."""

    summaries: Mapping[str, CampaignSummary] = field(default_factory=dict)

    def items(self) -> Sequence[CampaignSummary]:
        return sort_campaigns(list(self.summaries.values()))

    def text(self, item: CampaignSummary) -> str:
        word = look_of(item)[1]
        return " ".join((named(item), word, _(word), *item.hardware, *_axes(item)))

    def key(self, item: CampaignSummary, column: int) -> object:
        best = item.best[0] if item.best else None
        gain = item.scaling[0] if item.scaling else None
        keys = (item.name, item.standing, item.done - item.bad, best, gain, item.seconds, item.created)
        return (*keys, item.hardware or None, _axes(item))[column]

    def columns(self) -> tuple[Column, ...]:
        return (
            Column(_("campaign"), 32, importance=9),
            Column(_("state"), 16, importance=9),
            Column(_("trials"), 17, importance=8, largest_first=True),
            Column(_("best result"), 17, right=True, importance=7, largest_first=True),
            Column(_("scaling"), 11, right=True, importance=3, largest_first=True),
            Column(_("time"), 10, right=True, importance=6),
            Column(_("started"), 11, importance=6, largest_first=True),
            Column(_("hardware"), 12, importance=5),
            Column(_("what"), 20, importance=1, flexible=True),
        )

    def cells(self, item: CampaignSummary) -> Row:
        glyph, word, tone = look_of(item)
        read = item.standing not in (Standing.LOADING, Standing.UNREADABLE)
        cells = (
            named(item),
            f"{glyph} {_(word)}",
            _trials(item) if read else "",
            best_text(item),
            _("{gain:.1f}× on {gpus}", gain=item.scaling[0], gpus=item.scaling[1]) if item.scaling else "",
            _time(item),
            local_time(item.created) if read else "",
            printable(", ".join(item.hardware)),
            " · ".join(_axes(item)),
        )
        return Row(cells, tones=("", tone, "warn" if item.bad else "", "", "", "", "dim", "dim", "dim"))


def named(summary: CampaignSummary) -> str:
    return printable(" ".join((summary.name, *(f"#{tag}" for tag in summary.tags))))


def best_text(summary: CampaignSummary) -> str:
    """Return the best figure, marked if it has caveats."""
    return (summary.best[1] if summary.best else "") + (CAVEATS if summary.is_marked else "")


def _trials(summary: CampaignSummary) -> str:
    if summary.standing is Standing.FINISHED:
        return counts_text(summary.succeeded, summary.bad, summary.cancelled)
    share = summary.done / summary.total if summary.total else 0.0
    failed = f" {summary.bad} ✗" if summary.bad else ""
    return f"{bar(share, 5)} {summary.done}/{summary.total}{failed}"


def counts_text(succeeded: int, bad: int, cancelled: int) -> str:
    """Return how many trials succeeded, failed and were cancelled: ``8 ✓ 2 ✗ 7 –``."""
    counts = {"✓": succeeded, "✗": bad, "–": cancelled}
    return " ".join(f"{count:,} {glyph}" for glyph, count in counts.items() if count or glyph == "✓")


def _time(summary: CampaignSummary) -> str:
    """Return the time left while it runs, else the time it took."""
    if summary.live and summary.seconds_left is not None:
        return _("{time} left", time=short_duration(summary.seconds_left))
    return short_duration(summary.seconds) if summary.seconds is not None else ""


def _axes(summary: CampaignSummary) -> list[str]:
    selection = summary.selection
    scales = tuple(map(_scale_text, selection.scales))
    axes = (selection.frameworks, selection.cases, selection.precisions, scales)
    return [", ".join(axis) for axis in axes if axis]


def _scale_text(text: str) -> str:
    """Return a scale as ``2n8g``; the text itself where it is none."""
    try:
        return "{}n{}g".format(*parse_scale(text))
    except ValueError:
        return printable(text)


def why_stopped(standing: Standing, reason: str, damaged_lines: int) -> list[str]:
    """Return why a campaign does not go on, and what its journal lacks."""
    lines = []
    if standing is Standing.INTERRUPTED and reason:
        lines.append(_("The engine has stopped: {reason}. R starts it again.", reason=reason.rstrip(".")))
    elif standing is Standing.INTERRUPTED:
        lines.append(_("The engine has stopped before the end. R starts it again: what still runs is taken over."))
    if damaged_lines:
        lines.append(_("Damaged lines of journal.jsonl: {count}; trials may be missing here.", count=damaged_lines))
    return lines


def about_campaign(summary: CampaignSummary, width: int) -> str:
    if summary.problem:
        return printable(summary.problem)
    lines = packed([*summary.hardware, *_axes(summary)], width, " · ")
    lines += [
        _("{node} unreachable since {time}; what runs there goes on", node=printable(node), time=local_time(since))
        for node, since in summary.unreachable.items()
    ]
    lines += why_stopped(summary.standing, summary.stop_reason, summary.damaged_lines)
    return "\n".join(line for line in lines if line)

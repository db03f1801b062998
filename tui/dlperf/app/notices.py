"""What is said beside the screens: which campaigns have ended, and the mistake that ended the program."""

import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path

from textual.notifications import Notification, SeverityLevel

from dlperf.app.model.campaigns_table import best_text, counts_text, how_ended
from dlperf.messages import _
from dlperf.view.campaigns import CampaignSummary, Standing
from dlperf.view.text import printable

SHORTEST_SECONDS = 0.01


class Notice(Notification):
    """A notification that waits no negative time where it is over before it is shown, as on a machine that stood still.

    Textual 8.2 would compute that for ever.
    """

    @property
    def time_left(self) -> float:
        return max(super().time_left, SHORTEST_SECONDS)

    @property
    def has_expired(self) -> bool:
        return super().time_left <= 0


class EndedCampaigns:
    """Finds the campaigns whose engine has ended."""

    def __init__(self) -> None:
        self._live: set[str] = set()
        """Campaigns whose engine ran at the last look."""

    def since_last_look(self, summaries: Mapping[str, CampaignSummary]) -> Iterator[CampaignSummary]:
        before, self._live = self._live, {name for name, summary in summaries.items() if summary.live}
        ended = (summaries[name] for name in before - self._live if name in summaries)
        return (summary for summary in ended if summary.standing is Standing.FINISHED)


def ended_text(summary: CampaignSummary) -> tuple[str, str, SeverityLevel]:
    """Return title, text and severity of the notice that a campaign has ended."""
    words, severity = how_ended(summary)
    counts = counts_text(summary.succeeded, summary.bad, summary.cancelled)
    best = _("best {value}", value=best_text(summary)) if summary.best else ""
    return _(words, name=printable(summary.name)), " · ".join(filter(None, (counts, best))), severity


def report_mistake() -> str:
    """Write the traceback to a file, and return what is said of it; Textual would print every local variable."""
    report = Path.home() / ".dlperf" / "dlperf-tui-crash.txt"
    try:
        report.parent.mkdir(parents=True, exist_ok=True)
        report.write_text(traceback.format_exc())
    except OSError:
        report = Path("-")
    error = traceback.format_exc().strip().splitlines()[-1]
    return _(
        "dlperf-tui: {error}\nWhat runs goes on. A report of this mistake lies in {file}.", error=error, file=report
    )

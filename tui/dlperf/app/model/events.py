"""Show the journal of a campaign as a list of events, the newest first."""

from collections.abc import Hashable

from dlperf.app.model.table import Column, Row, Tone
from dlperf.app.model.trials import LOOKS
from dlperf.messages import N_, _, render
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import Event, State
from dlperf.runs.store import read_records
from dlperf.view.text import local_time, printable

TEXTS = {
    "campaign_started": N_("campaign started"),
    "campaign_finished": N_("campaign finished"),
    "engine_stopped": N_("engine stopped"),
    "paused": N_("paused"),
    "unpaused": N_("went on after the pause"),
    "planned": N_("trial added"),
    "measured": N_("measured again"),
    "node_unreachable": N_("node lost"),
    "node_reachable": N_("node answers again"),
    "node_left_out": N_("node left out"),
    "node_taken_back": N_("node taken back"),
    "configuration_stopped": N_("configuration given up"),
    "request": N_("request"),
}
TONES: dict[str, Tone] = {
    "node_unreachable": "bad",
    "node_left_out": "bad",
    "configuration_stopped": "bad",
    "node_reachable": "good",
}


def event_columns() -> tuple[Column, ...]:
    return (
        Column(_("time"), 14, importance=9),
        Column(_("event"), 16, importance=9),
        Column("", 18, importance=9),
        Column(_("cause"), 12, importance=8, flexible=True),
    )


def event_rows(paths: CampaignPaths) -> dict[Hashable, Row]:
    """Return rows of time, event, what it concerns and its cause, by their place in the journal."""
    events, _offset = read_records(paths.journal, Event)
    return {number: _row(event) for number, event in reversed(list(enumerate(events)))}


def _row(event: Event) -> Row:
    look = LOOKS.get(State(event.state)) if event.state in set(State) else None
    text = f"{look.glyph} {_(look.name)}" if look else _(TEXTS.get(event.event, event.event))
    cause = render(event.cause) if event.cause else ""
    cells = (local_time(event.time, seconds=True), text, _concerned(event), cause)
    tone: Tone = look.tone if look else TONES.get(event.event, "")
    return Row(tuple(map(printable, cells)), tones=("dim", tone, "", ""))


def _concerned(event: Event) -> str:
    """Return the node and the trial that an event is about, its number first: the end may be cut."""
    configuration, _slash, number = (event.trial or "").rpartition("/")
    trial = f"#{number} {configuration}" if configuration else event.trial
    node, *others = (event.data.get(name) for name in ("node", "configuration", "action"))
    return " · ".join(str(part) for part in (node, trial or next(filter(None, others), None)) if part)

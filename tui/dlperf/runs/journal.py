"""Fold a campaign's plan and journal into its present state."""

from collections.abc import Iterable
from copy import copy
from dataclasses import fields, replace
from sys import float_info
from typing import Any

from dlperf.messages import Message, message, quoted
from dlperf.opening import size_of
from dlperf.plan import TrialKey
from dlperf.runs.names import file_name
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import CampaignRecord, CampaignStatus, Event, JournaledFigure, State, TrialStatus
from dlperf.runs.store import LONGEST_NAME, MOST, read_campaign, read_lines, records_of


def trial_key(text: str) -> TrialKey:
    """Parse the text of a ``TrialKey``. Raises ValueError: it is none."""
    configuration, _, number = text.rpartition("/")
    key = TrialKey(configuration, int(number))
    if not 0 < key.number <= MOST or len(file_name(configuration)) > LONGEST_NAME:
        raise ValueError(f"not a trial: {text}")
    return key


class CampaignFold:
    """A campaign's state, updated by each event in constant time."""

    def __init__(self, record: CampaignRecord) -> None:
        self.name = record.name
        self._keys = {str(key): key for key in record.trials}
        self._configurations = {key.configuration for key in record.trials}
        self.trials = {key: TrialStatus(key) for key in record.trials}
        self.paused = False
        self.finished = False
        self.stopped_configurations: dict[str, Message] = {}
        self.unreachable: dict[str, str] = {}
        self.silence: dict[str, Message] = {}
        self.left_out: dict[str, Message] = {}

    def take(self, event: Event) -> None:
        """Apply an event; an unknown one changes nothing."""
        node = str(event.data.get("node"))
        match event.event:
            case "planned" | "state" | "measured" if event.trial:
                self._take_trial(event)
            case "paused" | "unpaused":
                self.paused = event.event == "paused"
            case "campaign_started" | "campaign_finished":
                self.finished = event.event == "campaign_finished"
            case "configuration_stopped":
                self.stopped_configurations[str(event.data.get("configuration"))] = event.cause or quoted("")
            case "node_unreachable":
                self.unreachable.setdefault(node, event.time)
                self.silence.setdefault(node, event.cause or message("waiting"))
            case "node_reachable":
                self.unreachable.pop(node, None)
                self.silence.pop(node, None)
            case "node_left_out":
                self.left_out[node] = event.cause or quoted("")
            case "node_taken_back":
                self.left_out.pop(node, None)

    def _take_trial(self, event: Event) -> None:
        try:
            key = self._keys.get(event.trial or "") or trial_key(event.trial or "")
            state = _STATES[event.state or State.PLANNED]
        except (ValueError, KeyError):
            return
        if key.configuration not in self._configurations:  # of another campaign
            return
        known = self.trials.get(key)
        if event.event == "planned":
            self.trials.setdefault(key, TrialStatus(key, retry_of=_earlier(event.data.get("retry_of"), key)))
            self.stopped_configurations.pop(key.configuration, None)
        elif event.event == "state":
            self.trials[key] = _after(known or TrialStatus(key), state, event)
        elif known is not None:
            self.trials[key] = replace(known, figure=_figure(event))

    def status(self) -> CampaignStatus:
        """Return a frozen snapshot."""
        return CampaignStatus(**{item.name: copy(getattr(self, item.name)) for item in fields(CampaignStatus)})


def _earlier(number: Any, key: TrialKey) -> int | None:
    """Return the number of the trial that this one repeats; None for what can be none, such as a later one."""
    return number if type(number) is int and 0 < number < key.number else None


def _after(known: TrialStatus, state: State, event: Event) -> TrialStatus:
    begun = event.time if state is State.RUNNING and known.started is None else known.started
    if not state.finished:
        return TrialStatus(known.key, state, event.cause, event.time, begun, None, known.retry_of)
    never_ran = known.state is State.PLANNED and state is State.CANCELLED
    figure = _figure(event) if "value" in event.data or never_ran else None
    return TrialStatus(known.key, state, event.cause, event.time, begun, event.time, known.retry_of, figure)


_STATES = {str(state): state for state in State}


def figure_data(value: float | None, unit: str) -> dict[str, Any]:
    """Return the fields of an event's ``data`` that hold a trial's figure."""
    return {"value": value, "unit": unit}


def _figure(event: Event) -> JournaledFigure:
    value, unit = event.data.get("value"), event.data.get("unit")
    finite = isinstance(value, (int, float)) and abs(value) <= float_info.max
    return JournaledFigure(value if finite else None, unit if isinstance(unit, str) else "")


def fold(record: CampaignRecord, events: Iterable[Event]) -> CampaignStatus:
    """Return the state of a campaign after all its events."""
    state = CampaignFold(record)
    for event in events:
        state.take(event)
    return state.status()


class CampaignReader:
    """Follows a campaign for a viewer: reads only what was appended to the journal.

    Raises:
        DlperfError: there is no such campaign, or its plan cannot be read.
    """

    def __init__(self, paths: CampaignPaths) -> None:
        self.paths = paths
        self._start()

    def _start(self) -> None:
        self.record = read_campaign(self.paths)
        self._fold = CampaignFold(self.record)
        self._offset = 0
        self.damaged_lines = 0
        """Of the journal: what they said is missing in the state."""
        self.status = self._fold.status()

    def refresh(self) -> CampaignStatus:
        """Return the present state; the same object while nothing was appended."""
        size = size_of(self.paths.journal)
        if size < self._offset:  # a journal only grows: a shorter one belongs to a new campaign of the same name
            self._start()
        if size != self._offset or not size:
            self._read()
        return self.status

    def _read(self) -> None:
        before = self._offset
        lines, self._offset = read_lines(self.paths.journal, before)
        events = records_of(lines, Event)
        self.damaged_lines += sum(bool(line) for line in lines) - len(events)
        for event in events:
            self._fold.take(event)
        if self._offset != before:
            self.status = self._fold.status()


def campaign_status(paths: CampaignPaths) -> CampaignStatus:
    """Read the present state of a campaign."""
    return CampaignReader(paths).refresh()

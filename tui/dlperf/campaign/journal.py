"""The journal as the engine writes it, with the state that follows from it."""

from __future__ import annotations

from contextlib import suppress

from dlperf.campaign.left_out import Reliability
from dlperf.campaign.rules import trials_to_cancel
from dlperf.errors import RequestError
from dlperf.messages import Message
from dlperf.plan import TrialKey
from dlperf.runs.journal import CampaignFold
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import CampaignRecord, Event, Request, utc_now
from dlperf.runs.store import append_records, read_records


class EngineJournal(CampaignFold):
    """Write every state change and decision before it is acted on.

    Events that belong together are one append: a crash leaves all of them or none.
    """

    def __init__(self, paths: CampaignPaths, record: CampaignRecord) -> None:
        super().__init__(record)
        self._path = paths.journal
        self.reliability = Reliability(record.configurations)
        self.requests_read = 0
        """Bytes of ``control.jsonl`` that have been handled."""
        self.cancelling: set[TrialKey] = set()
        """Trials that were running when their cancellation was requested."""
        for event in read_records(paths.journal, Event)[0]:
            self.take(event)

    def write(self, *events: Event, durable: bool = True) -> None:
        """Append events and update the state.

        Args:
            durable: wait for the disk; an observation that a crash loses is made again.

        Raises:
            StorageError: the journal cannot be written.
        """
        append_records(self._path, events, durable)
        for event in events:
            self.take(event)

    def note_silence(self, key: TrialKey, node: str, why: Message | None) -> None:
        """Journal that a node answers again (None) or why it does not, unless that is known."""
        if (why is None) == (node in self.unreachable):
            event = "node_reachable" if why is None else "node_unreachable"
            self.write(Event(utc_now(), event, str(key), cause=why, data={"node": node}))

    def note(self, cause: Message, key: TrialKey | None = None) -> None:
        self.write(Event(utc_now(), "note", str(key) if key else None, cause=cause))

    def take(self, event: Event) -> None:
        if event.event == "request":
            self.requests_read = int(event.data.get("offset", self.requests_read))
            if "refused" not in event.data:
                asked = Request(event.time, str(event.data.get("action")), event.trial)
                with suppress(RequestError):  # a line that names no trial of this campaign
                    self.cancelling.update(trials_to_cancel(asked, self.trials))
        super().take(event)
        with suppress(ValueError):  # the same
            self.reliability.take(event)

"""The machines of a trial: the newest samples while it runs, their means once it has ended."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path

from textual import work
from textual.content import Content
from textual.message import Message

from dlperf.app.campaigns import modified
from dlperf.app.model.table import Row
from dlperf.app.model.telemetry import DeviceRow, device_columns, device_rows, node_row, read_devices, read_means
from dlperf.app.watching import WatchedCampaign
from dlperf.app.widgets.row_table import RowTable
from dlperf.app.widgets.status_line import set_titles
from dlperf.messages import _
from dlperf.plan import TrialKey
from dlperf.runs.paths import NodePaths


class DeviceTable(RowTable):
    """Hidden while nothing is known of the machines."""

    class Changed(Message):
        """``devices`` has changed."""

    def __init__(self) -> None:
        super().__init__(device_columns(), id="devices", classes="-nothing")
        self.devices: Sequence[DeviceRow] = ()
        self._trial: TrialKey | None = None
        self._seen: tuple[object, ...] = ()
        """Trial, whether it has ended, and when its telemetry was written, at the last look."""
        self._silent: Mapping[str, float] = {}
        """Nodes that do not answer, and since how many seconds."""
        self._rows: dict[Hashable, Row] = {}

    def on_resize(self) -> None:
        if self._trial is not None:
            self._show(self._trial, self.devices)

    def show_trial(self, campaign: WatchedCampaign, key: TrialKey, now: float) -> None:
        """Read the newest samples of a trial that runs, and the means of one that has ended, where they are new."""
        ended = campaign.status.trials[key].state.finished
        if key != self._trial:
            self._trial, self.devices = key, ()
        set_titles(self, Content(_("Whole trial: means, peak memory and heat") if ended else _("Machines")))
        nodes = campaign.nodes(key)
        before, self._silent = self._silent, campaign.silences(key, now).nodes
        seen = (key, ended, [modified(node.telemetry) for node in nodes])
        if seen != self._seen:
            if ended and seen[:2] != self._seen[:2]:
                self._show(key, ())
            self._seen = seen
            self._read(key, nodes, read_means if ended else read_devices)
        elif before.keys() != self._silent.keys():
            self._show(key, self.devices)
        elif self._silent:
            self._rows |= {node: node_row(node, age) for node, age in self._silent.items() if node in self._rows}
            self.refresh_rows()

    @work(thread=True, exclusive=True, group="telemetry")
    def _read(self, key: TrialKey, nodes: Sequence[NodePaths], read: Callable[[Path, str], list[DeviceRow]]) -> None:
        devices = [item for node in nodes for item in read(node.telemetry, node.directory.name)]
        self.call_later(self._show, key, devices)

    def _show(self, key: TrialKey, devices: Sequence[DeviceRow]) -> None:
        if key != self._trial:
            return
        changed, self.devices = devices != self.devices, devices
        self._rows = device_rows(devices, self._silent, room=self.size.height - 1)
        self.set_class(not self._rows, "-nothing")
        self.show_rows(list(self._rows), lambda key: self._rows.get(key, Row(())))
        if changed:
            self.post_message(self.Changed())

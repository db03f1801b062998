"""Show the machines of a workspace as rows, by what `dlperf machines` prints of them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import Any

from dlperf.app.model.table import NOTHING, Column, Row, SortedView
from dlperf.messages import Message, _, pgettext, render
from dlperf.view.text import local_time, printable, short_duration


@dataclass(frozen=True)
class MachineRow:
    """A machine that entries of the catalogue name, and its newest answer."""

    hardware: str
    """Entries that name it."""
    node: str
    login: tuple[str, ...] = ()
    """Arguments of ssh; empty for this machine."""
    answer: Mapping[str, Any] | None = None
    """A line of ``dlperf machines --json``; None before the first."""

    @property
    def elsewhere(self) -> bool:
        """Whether the entry says of itself that it is this machine, and describes another one."""
        return bool((self.answer or {}).get("elsewhere"))

    @property
    def state(self) -> Mapping[str, Any]:
        return (self.answer or {}).get("state") or {}

    def mean(self, key: str) -> float | None:
        values = [gpu[key] for gpu in self.state.get("gpus", ()) if gpu.get(key) is not None]
        return fmean(values) if values else None


@dataclass(frozen=True)
class MachinesView(SortedView[MachineRow]):
    machines: tuple[MachineRow, ...] = ()
    now: float = 0.0
    """Seconds since the epoch, for the time of the last look."""

    def items(self) -> Sequence[MachineRow]:
        return self.machines

    def text(self, item: MachineRow) -> str:
        return " ".join((item.hardware, item.node, *self.cells(item).cells))

    def key(self, item: MachineRow, column: int) -> object:
        state = item.state
        keys = (item.hardware, item.node, bool(state), _owner(item), len(state.get("gpus", ())))
        means = (item.mean("utilization_percent"), item.mean("memory_used_mib"), item.mean("power_watts"))
        rest = (item.mean("temperature_celsius"), state.get("disk_free_bytes"), (item.answer or {}).get("seen"))
        return (*keys, *means, *rest)[column]

    def columns(self) -> tuple[Column, ...]:
        return (
            Column(_("hardware"), 14, importance=8),
            Column(_("node"), 14, importance=9),
            Column(_("state"), 12, importance=9),
            Column(_("used by"), 20, importance=7),
            Column(_("GPUs"), 14, importance=6),
            Column(_("busy"), 6, right=True, importance=8, largest_first=True),
            Column(pgettext("narrow column", "memory"), 13, right=True, importance=5, largest_first=True),
            Column(_("power"), 6, right=True, importance=4, largest_first=True),
            Column(_("heat"), 6, right=True, importance=3, largest_first=True),
            Column(_("free disk"), 9, right=True, importance=6),
            Column(_("seen"), 8, right=True, importance=2),
        )

    def cells(self, item: MachineRow) -> Row:
        if item.answer is None:
            return Row((item.hardware, item.node, _("asking …")), tones=("", "", "dim"))
        state = item.state
        if not state:
            named = (_("not here"), "dim") if item.elsewhere else (_("no answer"), "bad")
            words = (printable(item.hardware), printable(item.node), named[0], problem_text(item))
            return Row(words, "dim" if item.elsewhere else "", tones=("", "", named[1], ""), merged=3)
        cells = (
            item.hardware,
            item.node,
            _("in use") if state.get("lease") else _("free"),
            _owner(item),
            _gpus(state.get("gpus", ())),
            _busy_text(item),
            _memory(item),
            _with_unit(item.mean("power_watts"), "W"),
            _with_unit(item.mean("temperature_celsius"), "°C"),
            f"{state['disk_free_bytes'] / 2**30:,.1f} GiB",
            _age(item, self.now),
        )
        tone = "busy" if state.get("lease") else "good"
        return Row(tuple(map(printable, cells)), tones=("", "", tone))


def problem_text(item: MachineRow) -> str:
    """Return why a machine did not answer."""
    problem = (item.answer or {}).get("problem_code")
    return printable(render(Message.from_json(problem))) if problem else ""


def about_machine(item: MachineRow) -> list[str]:
    """Return what is known of a machine in words, a line for each GPU."""
    if not item.state:
        return [line for line in (_named(item), problem_text(item)) if line]
    lease = item.state.get("lease") or {}
    lines = [_named(item)]
    if lease.get("trial"):
        user, trial, since = (printable(str(lease.get(name, ""))) for name in ("user", "trial", "since"))
        lines.append(_("{user} runs {trial} there since {since}", user=user, trial=trial, since=local_time(since)))
    for gpu in item.state.get("gpus", ()):
        figures = (
            _with_unit(gpu.get("utilization_percent"), "%"),
            _with_unit((gpu.get("memory_used_mib") or 0) / 1024, "GiB"),
            _with_unit(gpu.get("power_watts"), "W"),
            _with_unit(gpu.get("temperature_celsius"), "°C"),
        )
        lines.append(printable(f"GPU {gpu.get('index')}  {gpu.get('name')}  {'  '.join(figures)}"))
    return lines


def _named(item: MachineRow) -> str:
    """Return the names of a machine, and how it is reached."""
    reached = f"ssh {' '.join(item.login)}" if item.login else _("this machine")
    return printable(f"{item.hardware} · {item.node} · {reached}")


def _owner(item: MachineRow) -> str:
    lease = item.state.get("lease") or {}
    return str(lease.get("problem") or " · ".join(filter(None, (lease.get("user"), lease.get("trial")))))


def _gpus(gpus: Sequence[Mapping[str, Any]]) -> str:
    names = dict.fromkeys(str(gpu.get("name")) for gpu in gpus)
    return f"{len(gpus)} × {', '.join(names)}" if gpus else "CPU"


def _busy_text(item: MachineRow) -> str:
    """Return how busy the GPUs are; of a machine without one, its load."""
    if item.state.get("gpus"):
        return _with_unit(item.mean("utilization_percent"), "%")
    return _("load {value}", value=f"{item.state['load']:.1f}")


def _memory(item: MachineRow) -> str:
    used = item.mean("memory_used_mib")
    return NOTHING if used is None else f"{used / 1024:.0f} GiB"


def _with_unit(value: float | None, unit: str) -> str:
    return NOTHING if value is None else f"{value:.0f} {unit}"


def _age(item: MachineRow, now: float) -> str:
    seen = datetime.fromisoformat(str((item.answer or {}).get("seen"))).timestamp()
    return short_duration(max(0.0, now - seen))

"""Read the newest telemetry of a trial's nodes and show it as rows."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from statistics import fmean

from rich.cells import cell_len

from dlperf.app.model.table import GAP, Column, Row
from dlperf.app.model.trial_rows import sparkline
from dlperf.evidence.telemetry import TelemetryRow, parse_telemetry, read_telemetry
from dlperf.messages import _, language, pgettext
from dlperf.opening import open_regular
from dlperf.view.text import printable, short_duration

TAIL_BYTES = 65536
"""The last minutes of 8 GPUs."""
SPARK_WIDTH, HISTORY_WIDTH = 6, 26


@dataclass(frozen=True)
class DeviceRow:
    """A GPU, or the processors of a machine without one: newest sample or means. None: not reported."""

    node: str
    name: str
    utilization_percent: float | None = None
    memory_mib: float | None = None
    power_watts: float | None = None
    temperature_celsius: float | None = None
    sm_clock_mhz: float | None = None
    _: KW_ONLY
    throttled: bool = False
    foreign_processes: int = 0
    history: Mapping[str, Sequence[float]]
    """Samples by column of telemetry, utilization first; the newest last."""
    seconds: float = 0.0
    """From the first to the last of these samples."""


SLOWED = 0x08 | 0x40 | 0x80 | 0x20
"""NVML throttle reasons that mean trouble: hardware, heat, power brake; the power cap is normal."""


def read_devices(path: Path, node: str) -> list[DeviceRow]:
    """Return the newest sample of each device; empty if there is none."""
    try:
        with open_regular(path) as stream:
            header = stream.readline().decode("ascii", "replace")
            start = stream.tell()
            stream.seek(max(start, path.stat().st_size - TAIL_BYTES))
            tail = stream.read().decode("ascii", "replace")
    except OSError:
        return []
    lines = tail.splitlines() if start + len(tail) < TAIL_BYTES else tail.splitlines()[1:]
    whole = lines if tail.endswith("\n") else lines[:-1]
    return [_device(node, name, rows[-1:], rows) for name, rows in _by_device(parse_telemetry([header, *whole], node))]


def read_means(path: Path, node: str) -> list[DeviceRow]:
    """Return the means of each device over the whole trial, and the peaks of memory and temperature."""
    return [_device(node, name, rows, rows) for name, rows in _by_device(read_telemetry(path, node))]


def _by_device(rows: Iterable[TelemetryRow]) -> list[tuple[str, list[TelemetryRow]]]:
    devices: dict[str, list[TelemetryRow]] = defaultdict(list)
    for row in rows:
        devices[printable(row.reading.gpu.rpartition(":")[2]) if row.reading else "CPU"].append(row)
    return sorted(devices.items(), key=lambda item: (len(item[0]), item[0]))


def _device(node: str, name: str, rows: Sequence[TelemetryRow], known: Sequence[TelemetryRow]) -> DeviceRow:
    busy = "cpu_percent" if name == "CPU" else "utilization_percent"

    def merged(column: str, merge: Callable[[list[float]], float]) -> float | None:
        values = [row.metrics[column] for row in rows if column in row.metrics]
        return merge(values) if values else None

    readings = [row.reading for row in rows if row.reading]
    return DeviceRow(
        node,
        name,
        merged(busy, fmean),
        merged("memory_used_mib", max),
        merged("power_watts", fmean),
        merged("temperature_celsius", max),
        merged("sm_clock_mhz", fmean),
        throttled=any((reading.throttle_reasons or 0) & SLOWED for reading in readings),
        foreign_processes=max((reading.foreign_processes or 0 for reading in readings), default=0),
        seconds=known[-1].time - known[0].time if known else 0.0,
        history={
            column: [row.metrics[column] for row in known if column in row.metrics]
            for column in (busy, "power_watts", "sm_clock_mhz", "memory_used_mib")
        },
    )


def device_columns() -> tuple[Column, ...]:
    return (
        Column(_("GPU"), 4, importance=9, flexible=True),
        Column(_("busy"), SPARK_WIDTH + 6, importance=9),
        Column(pgettext("narrow column", "memory"), 7, right=True, importance=8),
        Column(_("power"), 6, right=True, importance=7),
        Column(_("heat"), 5, right=True, importance=5),
        Column("MHz", 5, right=True, importance=6),
    )


def _device_row(device: DeviceRow) -> Row:
    busy = device.utilization_percent
    gauge = "" if busy is None else f"{_over_time(next(iter(device.history.values())), SPARK_WIDTH)} {busy:3.0f} %"
    slow = device.throttled or device.foreign_processes > 0
    cells = (
        f"{device.name}{'!' if slow else ''}",
        gauge,
        _with_unit(device.memory_mib and device.memory_mib / 1024, "GiB"),
        _with_unit(device.power_watts, "W"),
        _with_unit(device.temperature_celsius, "°C"),
        _with_unit(device.sm_clock_mhz),
    )
    return Row(cells, "warn" if slow else "")


def _over_time(values: Sequence[float], width: int) -> str:
    """Return a sparkline of values evenly taken from all, from 0 to the highest."""
    step = max(1.0, len(values) / width)
    return sparkline([values[int(index * step)] for index in range(min(width, len(values)))], width, low=0.0)


def node_row(node: str, unanswered_seconds: float | None) -> Row:
    """Return the heading of a node's devices: its name, and how long it has not answered."""
    if unanswered_seconds is None:
        return Row((node,), "group")
    return Row((_("{node}: no answer for {time}", node=node, time=short_duration(unanswered_seconds)),), "group")


def device_rows(devices: Sequence[DeviceRow], unanswered: Mapping[str, float], room: int = 0) -> dict[Hashable, Row]:
    """Return rows by node and device; those of a node that does not answer are grey, with their age in seconds.

    Below each device is what it did over time, as much of it as there is room for, in rows.
    """
    by_node, titles = _by_node(devices), (_("busy"), _("power"), "MHz", pgettext("narrow column", "memory"))
    lines = max(0, (room - len(by_node)) // max(1, len(devices)) - 1)
    rows: dict[Hashable, Row] = {}
    for node, known in by_node.items():
        rows[node] = node_row(node, unanswered.get(node))
        for device in known:
            row = _device_row(device)
            rows[node, device.name] = replace(row, tone="dim") if node in unanswered else row
            busy, *others = zip(titles, device.history.values(), strict=True)
            for title, values in [*others, busy][:lines]:
                if spark := _over_time(values, HISTORY_WIDTH):
                    rows[node, device.name, title] = Row(("", f"{spark} {title}"), "dim", merged=1)
    return rows


def history_columns() -> tuple[Column, ...]:
    return (
        Column(_("GPU"), 4, importance=9),
        Column("", 6, importance=9),
        Column(_("lowest"), 9, right=True, importance=8),
        Column(_("highest"), 9, right=True, importance=8),
        Column(_("over the trial"), 20, importance=9, flexible=True),
    )


def history_rows(devices: Sequence[DeviceRow], width: int) -> dict[Hashable, Row]:
    """Return for each device what was measured over time, drawn from 0 to the highest in a page of so many cells."""
    titles = (_("busy"), _("power"), "MHz", pgettext("narrow column", "memory"))
    units = (("%", 1.0), ("W", 1.0), ("", 1.0), ("GiB", 1 / 1024))
    taken = sum(column.width + GAP for column in history_columns()[:-1])
    cells = max(10, width - taken)
    rows: dict[Hashable, Row] = {}
    for node, known in _by_node(devices).items():
        rows[node] = node_row(node, None)
        for device in known:
            for title, (unit, scale), values in zip(titles, units, device.history.values(), strict=True):
                if values:
                    low, high = (_with_unit(end * scale, unit) for end in (min(values), max(values)))
                    name = device.name if title == titles[0] else ""
                    drawn = [values[index * len(values) // cells] for index in range(cells)]
                    line = sparkline(drawn, cells, low=0.0)
                    rows[node, device.name, title] = Row((name, title, low, high, line))
        longest = max((device.seconds for device in known), default=0.0)
        rows[node, "axis"] = Row(("", "", "", "", _time_axis(longest, cells)), "dim")
    return rows


def _time_axis(seconds: float, cells: int) -> str:
    """Return a line with the times at its ends and in its middle."""
    marks = [short_duration(seconds * share) for share in (0.0, 0.5, 1.0)]
    left = (cells - cell_len("".join(marks))) // 2
    return f"{marks[0]}{'─' * left}{marks[1]}{'─' * left}{marks[2]}"


def node_summaries(devices: Sequence[DeviceRow], ended: bool) -> list[str]:
    """Return a line for each node: of an ended trial, the means of ``read_means``."""
    summaries = {node: _summarize(known) for node, known in _by_node(devices).items()}
    if ended:
        return [_("{node}, whole trial: {means}", node=node, means=means) for node, means in summaries.items()]
    return [f"{node}{language().colon}{newest}" for node, newest in summaries.items()]


def _by_node(devices: Sequence[DeviceRow]) -> dict[str, list[DeviceRow]]:
    nodes = dict.fromkeys(device.node for device in devices)
    return {node: [device for device in devices if device.node == node] for node in nodes}


def _summarize(known: Sequence[DeviceRow]) -> str:
    """Return the means over the devices of a node, and what slows them."""
    name = "CPU" if known[0].name == "CPU" else "GPU" if len(known) == 1 else f"{len(known)} × GPU"
    parts = [
        name,
        _mean_text([device.utilization_percent for device in known], "%"),
        _mean_text([device.memory_mib and device.memory_mib / 1024 for device in known], "GiB"),
        _mean_text([device.power_watts for device in known], "W"),
        _mean_text([device.temperature_celsius for device in known], "°C"),
        _("throttled") if any(device.throttled for device in known) else "",
        _("not alone on the GPU") if any(device.foreign_processes for device in known) else "",
    ]
    return " ".join(part for part in parts if part)


def _mean_text(values: Iterable[float | None], unit: str) -> str:
    present = [value for value in values if value is not None]
    return f"{fmean(present):.0f} {unit}" if present else ""


def _with_unit(value: float | None, unit: str = "") -> str:
    return "-" if value is None else f"{value:.0f} {unit}".rstrip()

"""Read the newest telemetry of a trial's nodes and show it as rows."""

from __future__ import annotations

import csv
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from statistics import fmean

from dlperf.app.model.table import Column, Row, bar
from dlperf.messages import _, pgettext
from dlperf.view.text import printable

TAIL_BYTES = 8192
"""Several times the last second of 16 GPUs."""


@dataclass(frozen=True)
class Device:
    """The newest sample of a GPU, or of the processors of a machine without one. None: not reported."""

    node: str
    name: str
    time: float
    utilization_percent: float | None = None
    memory_mib: float | None = None
    power_watts: float | None = None
    temperature_celsius: float | None = None
    sm_clock_mhz: float | None = None
    _: KW_ONLY
    throttled: bool = False
    foreign_processes: int = 0


MEASURED = ("utilization_percent", "memory_used_mib", "power_watts", "temperature_celsius", "sm_clock_mhz")
"""Columns of telemetry that a ``Device`` holds, in its order."""
SLOWED = 0x08 | 0x40 | 0x80 | 0x20
"""NVML throttle reasons that mean trouble: hardware, heat, power brake; the power cap is normal."""


def read_devices(path: Path, node: str) -> list[Device]:
    """Return the newest sample of each device; empty if there is none."""
    try:
        with path.open("rb") as stream:
            header = stream.readline().decode("ascii", "replace")
            start = stream.tell()
            stream.seek(max(start, path.stat().st_size - TAIL_BYTES))
            tail = stream.read().decode("ascii", "replace")
    except OSError:
        return []
    lines = tail.splitlines() if start + len(tail) < TAIL_BYTES else tail.splitlines()[1:]
    whole = lines if tail.endswith("\n") else lines[:-1]
    return _newest(csv.DictReader([header, *whole]), node)


def _newest(rows: Iterable[Mapping[str, str | None]], node: str) -> list[Device]:
    devices: dict[str, Device] = {}
    for row in rows:
        device = _device(row, node)
        if device is not None:
            devices[device.name] = device
    return sorted(devices.values(), key=lambda device: (len(device.name), device.name))


def _device(row: Mapping[str, str | None], node: str) -> Device | None:
    time = _number(row.get("time"))
    if time is None:
        return None
    if "gpu" not in row:
        return Device(node, "CPU", time, _number(row.get("cpu_percent")), _number(row.get("memory_used_mib")))
    return Device(
        node,
        printable(row.get("gpu") or "?"),
        time,
        *(_number(row.get(column)) for column in MEASURED),
        throttled=bool(_mask(row.get("throttle_reasons")) & SLOWED),
        foreign_processes=int(_number(row.get("foreign_processes")) or 0),
    )


def device_columns() -> tuple[Column, ...]:
    return (
        Column(_("GPU"), 4, importance=9, flexible=True),
        Column(_("busy"), 9, importance=9),
        Column(pgettext("narrow column", "memory"), 7, right=True, importance=8),
        Column(_("power"), 6, right=True, importance=7),
        Column(_("heat"), 5, right=True, importance=5),
        Column("MHz", 5, right=True, importance=6),
    )


def _device_row(device: Device) -> Row:
    busy = device.utilization_percent
    gauge = "" if busy is None else f"{bar(busy / 100, 3)} {busy:3.0f} %"
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


def device_rows(devices: Sequence[Device]) -> dict[Hashable, Row]:
    rows: dict[Hashable, Row] = {}
    for node, known in _by_node(devices).items():
        rows[node] = Row((node,), "group")
        rows |= {(node, device.name): _device_row(device) for device in known}
    return rows


def node_summaries(devices: Sequence[Device]) -> list[str]:
    return [f"{node}: {_summarize(known)}" for node, known in _by_node(devices).items()]


def _by_node(devices: Sequence[Device]) -> dict[str, list[Device]]:
    nodes = dict.fromkeys(device.node for device in devices)
    return {node: [device for device in devices if device.node == node] for node in nodes}


def _summarize(known: Sequence[Device]) -> str:
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


def _number(cell: str | None) -> float | None:
    try:
        return float(cell or "")
    except ValueError:
        return None


def _mask(cell: str | None) -> int:
    try:
        return int(cell or "0", 0)
    except ValueError:
        return 0

"""Energy of processors and power of whole machines, from counters and a controller that stand in for real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlperf.nodes.supervisor.host.telemetry import CpuTelemetry, NodePower, Telemetry

READING = """
    Instantaneous power reading:                   WATTS Watts
    Minimum during sampling period:                162 Watts
    Average power reading over sample period:      176 Watts
    Power reading state is:                        activated
"""


def zone(powercap: Path, folder: str, name: str, energy: int, most: int = 1_000_000) -> None:
    (powercap / folder).mkdir(parents=True, exist_ok=True)
    for file, content in (("name", name), ("energy_uj", energy), ("max_energy_range_uj", most)):
        (powercap / folder / file).write_text(f"{content}\n")


def test_packages_are_added_up_over_the_wrap_of_a_counter_and_without_parts_of_them(tmp_path: Path):
    zone(tmp_path, "intel-rapl:0", "package-0", 900_000)
    zone(tmp_path, "intel-rapl:1", "package-1", 100_000)
    for folder, name in (("intel-rapl:0:0", "dram"), ("intel-rapl:2", "psys"), ("intel-rapl-mmio:0", "package-0")):
        zone(tmp_path, folder, name, 500_000)
    power = NodePower(str(tmp_path))
    assert power.added_to("1,2\n3,4\n") == "1,2,0,\n3,4,0,\n"
    zone(tmp_path, "intel-rapl:0", "package-0", 50_000)
    zone(tmp_path, "intel-rapl:1", "package-1", 130_000)
    assert power.added_to("") == ""
    assert power.added_to("1,2\n") == "1,2,180,\n"


def test_a_counter_that_may_not_be_read_leaves_its_cell_empty(tmp_path: Path):
    zone(tmp_path, "intel-rapl:0", "package-0", 1)
    (tmp_path / "intel-rapl:0/energy_uj").unlink()
    assert NodePower(str(tmp_path)).added_to("1\n") == NodePower(str(tmp_path / "none")).added_to("1\n") == "1,,\n"


@pytest.mark.parametrize(("watts", "cell"), [("1215", "1215"), ("0", "")])
def test_the_power_of_the_machine_is_what_its_controller_says(tmp_path: Path, monkeypatch, watts, cell):
    (tmp_path / "ipmitool").write_text(f"#!/bin/sh\ncat <<'END'{READING.replace('WATTS', watts)}END\n")
    (tmp_path / "ipmitool").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("dlperf.nodes.supervisor.host.telemetry.IPMI_DEVICES", ("/dev/null",))
    telemetry = Telemetry(CpuTelemetry({}), NodePower(str(tmp_path)))
    while not telemetry.power.watts and watts != "0":
        telemetry.receive(telemetry.sources[0], 1.0)
    row = dict(zip(telemetry.header.strip().split(","), telemetry.tick(5.0).strip().split(","), strict=True))
    telemetry.close()
    assert (row["time"], row["node_watts"], row["cpu_package_millijoules"]) == ("5.000", cell, "")

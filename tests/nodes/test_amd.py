"""AMD's GPUs by outputs of amd-smi in the shapes that users published; their addresses are in tests/data/amd-smi."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dlperf.nodes.supervisor.accelerators.amd import Amd
from dlperf.nodes.supervisor.accelerators.rocm_smi import RocmSmi
from dlperf.nodes.supervisor.host.machine import environment, readiness, vendor_here
from dlperf.nodes.supervisor.host.telemetry import GpuTelemetry

SAMPLES = Path(__file__).parents[1] / "data/amd-smi"
SMI = f"""#!/bin/sh
case "$1" in
metric) cat {SAMPLES}/metric-rocm7.json;;
static) cat {SAMPLES}/static-rocm7.json;;
list|process) cat {SAMPLES}/$1.json;;
*) echo "topology of $1";;
esac
"""
FIRST = "0eff74a1-0000-1000-8000-000000000000"
SECOND = "1eff74a1-0000-1000-8000-000000000001"


@pytest.fixture
def amd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Amd:
    """A machine on which amd-smi prints the samples."""
    (tmp_path / "amd-smi").write_text(SMI)
    (tmp_path / "amd-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(Amd, "is_present", lambda self: True)
    vendor = vendor_here()
    assert isinstance(vendor, Amd)
    vendor.known_uuids.clear()
    return vendor


def test_the_gpus_of_a_machine_are_recorded_and_marked_as_never_run(amd: Amd):
    facts = environment({})
    first, second = facts["gpus"]
    assert first == {
        "index": 0,
        "name": "AMD Instinct MI300X",
        "uuid": FIRST,
        "pci_bus": "0000:05:00.0",
        "memory_mib": 196592.0,
        "driver": "6.16.6",
        "vbios": "00154951",
        "power_limit_watts": 700.0,
        "max_sm_clock_mhz": 2100.0,
        "max_memory_clock_mhz": 1300.0,
        "utilization_percent": 97.0,
        "memory_used_mib": 150000.0,
        "memory_errors_corrected": 3,
        "memory_errors_uncorrected": 1,
        "driver_errors": first["driver_errors"],
    }
    assert (second["memory_errors_corrected"], second["memory_errors_uncorrected"]) == (None, None)
    assert second["uuid"] == SECOND
    assert (facts["driver"], facts["topology"], facts["never_run_vendor"]) == (
        "6.16.6",
        "topology of topology\n",
        "AMD",
    )


def test_a_process_is_on_the_gpu_whose_memory_it_holds(amd: Amd):
    facts = readiness({}, [], [])
    assert amd.applications() == [(FIRST, 4242)]
    assert [(used["gpu"], used["pid"]) for used in facts["gpu_processes"]] == [(FIRST, 4242)]
    assert facts["never_run_vendor"] == "AMD"


def test_telemetry_has_a_row_for_each_gpu_and_document(amd: Amd):
    monitored = GpuTelemetry(amd, [0, 1], "mark", {})
    rows = ""
    while rows.count("\n") < 2:
        rows += monitored.receive(monitored.readings.source, 5.0)
    monitored.close()
    assert rows.splitlines() == [
        "5.000,0,97.0,150000.0,742.0,2000.0,1300.0,0x4,71.0,0,20909145914",
        "5.000,1,0.0,283.0,141.0,132.0,1300.0,0x0,71.0,0,18204411020",
    ]


def test_what_a_gpu_does_not_report_is_left_out(amd: Amd):
    (reading,) = amd.readings((SAMPLES / "metric-rocm6.json").read_text())
    assert {name: value for name, value in reading.values.items() if value is not None} == {
        "utilization_percent": 42.0,
        "memory_used_mib": 20450.0,
        "power_watts": 171.0,
        "sm_clock_mhz": 2400.0,
        "memory_clock_mhz": 1258.0,
        "temperature_celsius": 54.0,
    }


@pytest.mark.parametrize("document", ["", "no JSON", "[{", "{}", "[1]", '{"gpu_data": "N/A"}', '[{"gpu": "N/A"}]'])
def test_a_damaged_document_says_nothing(amd: Amd, document):
    assert amd.readings(document) == amd.applications_in(document) == RocmSmi().readings(document) == []


def test_a_reader_that_goes_away_ends_the_loop_of_queries(amd: Amd):
    monitored = GpuTelemetry(amd, [], "mark", {})
    monitored.readings.source.close()
    monitored.readings.child.wait(timeout=20)
    monitored.close()
    assert not os.path.exists(f"/proc/{monitored.applications.child.pid}")


def test_without_amd_smi_rocm_smi_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "rocm-smi").write_text(f"#!/bin/sh\ncat {SAMPLES}/rocm-smi.json\n")
    (tmp_path / "rocm-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(RocmSmi, "is_present", lambda self: True)
    first, second = vendor_here().gpus()
    assert (first["uuid"], first["driver"], first["memory_mib"]) == ("0x1122334455667788", "6.2.4", 65520.0)
    assert (first["name"], first["power_limit_watts"]) == ("AMD INSTINCT MI200 (MCM) OAM LC MBA HPE C2", 560.0)
    assert (second["uuid"], second["name"], second["memory_mib"]) == ("0000:C4:00.0", None, None)
    monitored = GpuTelemetry(vendor_here(), [0, 1], "mark", {})
    rows = ""
    while rows.count("\n") < 2:
        rows += monitored.receive(monitored.readings.source, 5.0)
    monitored.close()
    assert rows.splitlines() == [
        "5.000,0,98.0,32760.0,489.0,1690.0,1600.0,,35.0,0,171254",
        "5.000,1,19.0,,7.222,800.0,,,31.0,0,",
    ]

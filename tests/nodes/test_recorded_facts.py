"""What a node records of its GPUs and of the libraries that a payload loaded."""

from __future__ import annotations

import mmap
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from dlperf.nodes.supervisor.accelerators import nvidia as nvidia_module
from dlperf.nodes.supervisor.accelerators.nvidia import EnergyCounters, Nvidia
from dlperf.nodes.supervisor.host import telemetry
from dlperf.nodes.supervisor.host.libraries import Libraries
from dlperf.nodes.supervisor.host.machine import environment
from dlperf.nodes.supervisor.processes import MARK_VARIABLE

MAP_FILES = """
import mmap, sys
files = [open(name, "rb") for name in sys.argv[1:]]
maps = [mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) for file in files]
print(len(maps), flush=True)
sys.stdin.read()
"""
NVML = """
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) { *device = (void *)uuid; return 0; }
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *energy) { *energy = 5000000123ULL; return 0; }
"""
SMI = r"""#!/bin/sh
case "$*" in
*query-gpu=uuid,index,*-i\ 0,1\ *-lms\ 1000) echo "GPU-aa, 0, 98, 1000, 690.1, 1700, [N/A], 0x4, 60"; sleep 60;;
*compute-apps=gpu_uuid,pid\ *-lms\ 2000) echo "GPU-aa, $PPID"; sleep 60;;
*ecc.errors*) echo "2, 0";;
*clocks.applications*) echo "1980, [Requested functionality has been deprecated]";;
*index,name*) echo "0, NVIDIA H200, GPU-aa, 0:1, 143771, 580.1, 96.00.B9, 700, 1980, 3201, Enabled, Enabled, 0, 0";;
esac
"""


@pytest.fixture
def nvidia(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is searched for programs, and a machine that has a driver."""
    (tmp_path / "nvidia-smi").write_text(SMI)
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (tmp_path / "dxg").touch()
    monkeypatch.setattr(nvidia_module, "DRIVERS", ("/nowhere", str(tmp_path / "dxg")))
    return tmp_path


def test_gpus_under_wsl_are_found_without_a_driver_of_linux(nvidia):
    assert Nvidia().is_present()
    (nvidia / "dxg").unlink()
    assert not Nvidia().is_present()


def test_the_libraries_that_a_process_mapped_are_recorded_with_their_versions(tmp_path):
    packages = tmp_path / "site-packages"
    names = ["nvidia/nccl/lib/libnccl.so.2", "nvidia/cudnn/lib/libcudnn.so.9", "libcublas.so.13.0.2", "libother.so.1.2"]
    for name in names:
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / name).write_bytes(bytes(mmap.PAGESIZE))
    for wheel in ("nvidia_nccl_cu13-2.28.9", "nvidia_nccl_other-1.0"):
        (packages / f"{wheel}.dist-info").mkdir()
    command = [sys.executable, "-c", MAP_FILES, *(str(packages / name) for name in names)]
    mark = f"t-{uuid4().hex}/n0"
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={MARK_VARIABLE: mark}) as payload:
        assert payload.stdout
        payload.stdout.readline()
        libraries = Libraries(mark)
        libraries.look_if_due(libraries.due)
        payload.kill()
    assert libraries.versions() == {"cublas": ["13.0.2"], "cudnn": ["9"], "nccl": ["2.28.9"]}
    of_others = libraries.packages.keys() - {str(packages)}  # of children that other tests of this process left
    for folder in of_others:
        del libraries.packages[folder]
    assert libraries.all_packages() == ["nvidia_nccl_cu13==2.28.9", "nvidia_nccl_other==1.0"]
    assert libraries.due > libraries.started


def test_a_gpu_is_recorded_with_its_vbios_and_clocks_that_the_driver_still_knows(nvidia):
    (gpu,) = environment({})["gpus"]
    assert (gpu["uuid"], gpu["vbios"], gpu["power_limit_watts"]) == ("GPU-aa", "96.00.B9", 700.0)
    assert (gpu["memory_errors_corrected"], gpu["memory_errors_uncorrected"]) == (2, 0)
    assert (gpu["application_sm_clock_mhz"], gpu["application_memory_clock_mhz"]) == (1980.0, None)


def test_the_load_of_gpus_and_processes_of_others_on_them_come_line_by_line(nvidia):
    monitored = telemetry.GpuTelemetry(Nvidia(), [0, 1], "mark", {})
    while not monitored.seen:
        monitored.receive(monitored.applications.source, 4.0)
    assert monitored.receive(monitored.readings.source, 5.0) == "5.000,0,98,1000,690.1,1700,,0x4,60,1,\n"
    monitored.close()


def test_each_row_of_telemetry_holds_the_energy_counter_of_its_gpu(nvidia, monkeypatch):
    (nvidia / "nvml.c").write_text(NVML)
    library = nvidia / "libnvidia-ml.so.1"
    subprocess.run(["cc", "-shared", "-o", library, nvidia / "nvml.c"], check=True)
    load = nvidia_module.importlib.import_module("ctypes").CDLL
    monkeypatch.setattr("ctypes.CDLL", lambda name: load(str(library) if name == library.name else name))
    monitored = telemetry.GpuTelemetry(Nvidia(), [0], "mark", {})
    (reading,) = monitored.vendor.readings("GPU-aa, 0, 98, 1000, 690.1, 1700, [N/A], 0x4, 60")
    row = monitored.row(reading, 5.0)
    monitored.close()
    assert dict(zip(monitored.header.split(","), row.split(","), strict=True))["energy_millijoules\n"] == "5000000123\n"
    assert row.startswith("5.000,0,98,1000,690.1,1700,,0x4,60,0,")


def test_a_machine_without_nvml_has_no_energy_counter():
    assert EnergyCounters().read("GPU-aa") is None

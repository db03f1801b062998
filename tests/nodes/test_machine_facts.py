"""What a machine tells of its links and of an image's file, from the words of driver, kernel and header."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dlperf.nodes.supervisor.accelerators.nvidia import Nvidia
from dlperf.nodes.supervisor.accelerators.vendor import Vendor
from dlperf.nodes.supervisor.host import kernel_log, machine
from dlperf.nodes.supervisor.host.containers import image_digest, runtime_error
from dlperf.nodes.supervisor.host.machine import cuda_version, infiniband_ports, vendor_here

NVLINK = """\
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaa-1)
\t Link 0: 26.562 GB/s
\t Link 1: 26.562 GB/s
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-bbbb-2)
\t Link 0: 26.562 GB/s
\t Link 1: <inactive>
GPU 2: NVIDIA H100 PCIe (UUID: GPU-cccc-3)
"""


def test_the_links_of_each_gpu_are_counted(tmp_path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\ncat << 'END'\n{NVLINK}END\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert Nvidia().links() == {"GPU-aaaa-1": 2, "GPU-bbbb-2": 1}


def test_a_machine_without_a_driver_has_neither_gpus_nor_links(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nowhere")
    vendor = vendor_here()
    assert (vendor.name, vendor.gpus(), vendor.links(), vendor.applications()) == ("", [], {}, [])


XID = "NVRM: Xid (PCI:0000:3b:00): {}, pid=7, GPU has fallen off the bus."


def test_errors_of_failing_hardware_are_found_in_the_kernels_log_and_given_to_their_gpu(monkeypatch):
    reader, writer = os.pipe2(os.O_DIRECT | os.O_NONBLOCK)  # each read gives one record, as of /dev/kmsg
    for second, text in enumerate(
        (XID.format(79), XID.format(31), "usb 1-1: new device\n SUBSYSTEM=usb", XID.format(48))
    ):
        os.write(writer, f"6,{second},{second}000000,-;{text}\n".encode())
    log = list(kernel_log.records(reader))
    os.close(reader)
    os.close(writer)
    monkeypatch.setattr(machine, "kernel_lines", lambda since: [text for moment, text in log if moment >= since])
    gpus = [{"pci_bus": "00000000:3B:00.0"}, {"pci_bus": "00000000:5E:00.0"}]
    machine.add_driver_errors(Nvidia(), gpus)
    assert [gpu["driver_errors"] for gpu in gpus] == [[79, 48], []]
    assert machine.driver_errors(Nvidia(), since=1.0) == [{"pci_bus": "0000:3b:00", "code": 48}]
    assert machine.driver_errors(Vendor()) == []


def test_errors_are_unknown_where_the_kernels_log_may_not_be_read(monkeypatch):
    assert kernel_log.kernel_lines(path="/nowhere") is None
    assert kernel_log.kernel_lines(path="/") is None
    assert kernel_log.kernel_lines(path=os.devnull) is None
    monkeypatch.setattr(machine, "kernel_lines", lambda since: None)
    gpus: list[dict[str, object]] = [{}]
    machine.add_driver_errors(Nvidia(), gpus)
    assert gpus == [{"driver_errors": None}]


def test_the_ports_of_each_adapter_are_told(tmp_path):
    for name, state, rate in (("mlx5_0", "4: ACTIVE", "400 Gb/sec (4X NDR)"), ("mlx5_1", "1: DOWN", "40 Gb/sec")):
        port = tmp_path / name / "ports" / "1"
        port.mkdir(parents=True)
        (port / "state").write_text(f"{state}\n")
        (port / "rate").write_text(f"{rate}\n")
    assert infiniband_ports(str(tmp_path)) == [
        {"name": "mlx5_0:1", "state": "ACTIVE", "rate": "400 Gb/sec (4X NDR)"},
        {"name": "mlx5_1:1", "state": "DOWN", "rate": "40 Gb/sec"},
    ]
    assert infiniband_ports(str(tmp_path / "none")) == []


def test_an_adapter_without_ports_has_none(tmp_path):
    (tmp_path / "mlx5_0").mkdir()
    assert infiniband_ports(str(tmp_path)) == []


@pytest.mark.parametrize("content", ['{"cuda": "12.4"}', '{"cuda": null}', "[]", "{}"])
def test_a_cuda_toolkit_with_another_version_file_has_no_version(content, tmp_path):
    (tmp_path / "version.json").write_text(content)
    assert cuda_version(str(tmp_path / "version.json")) is None


def test_an_apptainer_image_is_known_by_the_identifier_in_its_header(tmp_path):
    header = b"#!/usr/bin/env run-singularity\n".ljust(32, b"\0") + b"SIF_MAGIC\x0001\x0002\0" + bytes(range(16))
    for name, end in (("image.sif", b"content"), ("copy.sif", b"content"), ("text.sif", b"")):
        (tmp_path / name).write_bytes(header + end if end else b"no image")
    digest = "sif:000102030405060708090a0b0c0d0e0f"
    assert [apptainer_digest(tmp_path / name) for name in ("image.sif", "copy.sif")] == [digest] * 2
    assert apptainer_digest(tmp_path / "text.sif") == f"file:{tmp_path}/text.sif"
    assert apptainer_digest(tmp_path) == f"file:{tmp_path}"
    assert apptainer_digest(tmp_path / "none.sif") is None


def apptainer_digest(image: Path) -> str | None:
    return image_digest({"runtime": "apptainer", "image": str(image)})


def test_why_a_container_runtime_cannot_be_used_is_its_own_last_word(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    docker = {"runtime": "docker"}
    assert runtime_error(docker) == "No such file or directory"
    (tmp_path / "docker").write_text("#!/bin/sh\necho version 1\necho 'Is the docker daemon running?' >&2\nexit 1\n")
    (tmp_path / "docker").chmod(0o755)
    assert runtime_error(docker) == "Is the docker daemon running?"
    (tmp_path / "docker").write_text("#!/bin/sh\nexit 0\n")
    assert runtime_error(docker) == runtime_error({}) == ""


def test_free_space_is_known_though_the_folder_of_trials_was_removed(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(machine, "ROOT", str(tmp_path / ".dlperf"))
    assert machine.readiness({}, [], [])["disk_free_bytes"] > 0

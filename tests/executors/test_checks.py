"""What must be equal on all nodes before a trial over several of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dlperf.executors.checks import agreement, items, ssh_options
from dlperf.nodes.messages import Hello
from dlperf.plan import Container, Launch, Node

HELLO = Hello("3.11", "a", "/root", 1e9, 20000)
NOTHING_ODD: dict[str, Any] = {
    "disk_free_bytes": 10**12,
    "files_free": None,
    "disk_problem": "",
    "gpus": [],
    "missing": [],
    "infiniband": [],
    "nvlinks": {},
    "unresolved": {},
}
DOCKED = Container("registry.test/tiny:1", "docker")
NODES = tuple(Node(name, "ssh", name, name) for name in ("a", "b", "c"))


def facts(driver: str | None = None, cuda: str | None = None, digest: str | None = None) -> dict[str, Any]:
    gpus = [{"driver": driver}] if driver else []
    return NOTHING_ODD | {"gpus": gpus, "cuda": cuda, "image_digest": digest}


def told(*answers: dict[str, Any]) -> list[tuple[str, str, bool, str]]:
    found = agreement(list(zip(NODES, answers, strict=False)))
    return [(item.node, item.check, item.ok, str(item.message)) for item in found]


def test_a_node_with_another_driver_is_named():
    assert told(facts("550.1", "12.4"), facts("535.2", "12.4")) == [
        ("b", "driver", False, "driver 535.2, but driver 550.1 on a"),
        ("a", "cuda", True, "CUDA 12.4 on all nodes"),
    ]


def test_the_node_that_differs_from_most_is_named_even_if_it_is_the_first():
    assert told(facts("535.2"), facts("550.1"), facts("550.1")) == [
        ("a", "driver", False, "driver 535.2, but driver 550.1 on b"),
    ]


def test_a_node_with_another_image_is_named_and_one_without_is_not():
    assert told(facts(digest="sha256:1"), facts(), facts(digest="sha256:2")) == [
        ("c", "image_equal", False, "sha256:2, but sha256:1 on a")
    ]


@pytest.mark.parametrize(
    ("offset", "error", "right"),
    [(0.5, 0.01, True), (-1.9, 0.0, True), (2.5, 0.1, False), (-3.0, 0.1, False), (2.5, 2.6, True)],
)
def test_a_clock_is_wrong_only_by_what_a_slow_answer_does_not_explain(offset, error, right):
    hello = Hello("3.11", "a", "/root", 1e9, 20000, offset, error)
    node = NODES[0]
    told = items(node, Launch("direct", (node,), 1, "plain", (), ("true",)), hello, NOTHING_ODD)
    assert [item.ok for item in told if item.check == "clock"] == [right]


def gpu(index: int) -> dict[str, Any]:
    return {"index": index, "uuid": f"GPU-{index}", "name": "H100", "utilization_percent": 0.0, "driver": "550.1"}


@pytest.mark.parametrize(
    ("links", "right", "message"),
    [
        ({"GPU-0": 18, "GPU-1": 18}, True, "18 NVLinks up on each GPU"),
        ({"GPU-0": 18, "GPU-1": 17}, False, "fewer than the 18 NVLinks of other GPUs are up: GPU 1: 17"),
        ({"GPU-0": 0, "GPU-1": 18}, False, "fewer than the 18 NVLinks of other GPUs are up: GPU 0: 0"),
    ],
)
def test_a_gpu_with_fewer_links_than_its_siblings_is_named(links, right, message):
    node = NODES[0]
    launch = Launch("direct", (node,), 2, "plain", (), ("true",), expected_gpu=("H100",))
    answer = NOTHING_ODD | {"gpus": [gpu(0), gpu(1)], "gpu_processes": [], "nvlinks": links}
    told = items(node, launch, HELLO, answer)
    assert [(item.ok, str(item.message)) for item in told if item.check == "nvlink"] == [(right, message)]


@pytest.mark.parametrize(("vendor", "count"), [("AMD", 1), (None, 0)])
def test_a_vendor_whose_hardware_never_ran_is_named(vendor, count):
    launch = Launch("direct", NODES[:1], 1, "plain", (), ("true",), expected_gpu=("H100",))
    answer = NOTHING_ODD | {"gpus": [gpu(0)], "gpu_processes": [], "nvlinks": {}, "never_run_vendor": vendor}
    found = items(NODES[0], launch, HELLO, answer)
    said = [str(item.message) for item in found if item.check == "gpu_vendor" and item.ok]
    assert len(said) == count
    assert all("AMD GPUs follow published outputs of its tools and never ran" in text for text in said)


def test_the_state_of_infiniband_is_said_and_a_node_with_other_ports_up_is_named():
    up = {"name": "mlx5_0:1", "state": "ACTIVE", "rate": "400 Gb/sec (4X NDR)"}
    down = {"name": "mlx5_1:1", "state": "DOWN", "rate": "40 Gb/sec (4X QDR)"}
    hello, launch = HELLO, Launch("direct", NODES, 1, "plain", (), ("true",))
    told_by_one = items(NODES[0], launch, hello, NOTHING_ODD | {"infiniband": [up, down]})
    assert [(item.ok, str(item.message)) for item in told_by_one if item.check == "infiniband"] == [
        (True, "mlx5_0:1 ACTIVE, 400 Gb/sec (4X NDR); mlx5_1:1 DOWN, 40 Gb/sec (4X QDR)")
    ]
    both, one = NOTHING_ODD | {"infiniband": [up, up]}, NOTHING_ODD | {"infiniband": [up, down]}
    both, one = ({"cuda": None, "image_digest": None, **answer} for answer in (both, one))
    assert told(both, both, one) == [
        ("c", "infiniband_equal", False, "1 of 2 ports active, but 2 of 2 ports active on a")
    ]


def test_one_node_agrees_with_itself():
    assert told(facts("550.1", "12.4", "sha256:1")) == []


def test_ssh_is_tried_with_the_options_that_open_mpi_will_give_it():
    launch = Launch("direct", NODES, 1, "mpirun", (), ("true",))
    given = Launch("direct", NODES, 1, "mpirun", (), ("true",), ("-mca", "plm_rsh_args", "-p 12345 -q"))
    by_variable = Launch("direct", NODES, 1, "mpirun", (), ("true",), env={"OMPI_MCA_plm_rsh_args": "-F /some/file"})
    assert ssh_options(launch) == []
    assert ssh_options(given) == ["-p", "12345", "-q"]
    assert ssh_options(by_variable) == ["-F", "/some/file"]
    unbalanced = replace(launch, env={"OMPI_MCA_plm_rsh_args": "-i '/some/my key"})
    assert ssh_options(unbalanced) == ["-i", "'/some/my", "key"]


def test_ssh_is_tried_with_the_key_that_horovod_will_give_it():
    launch = Launch("direct", NODES, 1, "horovodrun", (), ("true",), ("--gloo", "--ssh-identity-file", "/some/key"))
    assert ssh_options(launch)[-2:] == ["-i", "/some/key"]
    assert "StrictHostKeyChecking=no" in ssh_options(launch)


@pytest.mark.parametrize(
    ("complaint", "ready", "message"),
    [
        ("", True, "image registry.test/tiny:1 is not on the node and is pulled before the measurement"),
        ("No such file or directory", False, "cannot use docker on the node (No such file or directory)"),
    ],
)
def test_an_image_can_only_be_pulled_where_its_runtime_answers(complaint, ready, message):
    launch = Launch("direct", NODES[:1], 1, "plain", (), ("true",), container=DOCKED)
    answer = NOTHING_ODD | {"image_digest": None, "runtime_complaint": complaint}
    told = items(NODES[0], launch, HELLO, answer)
    assert [(item.ok, str(item.message)) for item in told if item.check == "image"] == [(ready, message)]


def test_of_a_machine_without_gpus_only_their_number_is_told():
    launch = Launch("direct", NODES[:1], 8, "plain", (), ("true",), expected_gpu=("H100",))
    told = items(NODES[0], launch, HELLO, NOTHING_ODD)
    assert [(item.check, str(item.message)) for item in told if "gpu" in item.check] == [
        ("gpu_count", "0 GPUs, 8 required")
    ]


def test_a_gpu_without_a_name_is_of_another_model():
    launch = Launch("direct", NODES[:1], 1, "plain", (), ("true",), expected_gpu=("H100",))
    answer = NOTHING_ODD | {"gpus": [gpu(0), gpu(1) | {"name": None}], "gpu_processes": []}
    told = items(NODES[0], launch, HELLO, answer)
    assert [item.ok for item in told if item.check == "gpu_model"] == [False]


@pytest.mark.parametrize(
    ("odd", "text"),
    [
        ({"disk_free_bytes": 10**8}, "0.1 GiB free in the home directory, 2 GiB required"),
        ({"files_free": 60}, "60 more files can be made in the home directory, 200 required"),
        ({"disk_problem": "Disk quota exceeded"}, "no files can be made in the home directory (Disk quota exceeded)"),
    ],
)
def test_a_full_disk_says_how_much_is_wanted(odd, text):
    launch = Launch("direct", NODES[:1], 1, "plain", (), ("true",))
    told = items(NODES[0], launch, HELLO, NOTHING_ODD | odd)
    assert [str(item.message) for item in told if not item.ok] == [text]

"""What must be equal on all nodes before a trial over several of them."""

from __future__ import annotations

from typing import Any

import pytest

from dlperf.executors.checks import agreement, items, ssh_options
from dlperf.nodes.messages import Hello
from dlperf.plan import Launch, NodePlan

NOTHING_ODD: dict[str, Any] = {"disk_free_bytes": 10**12, "gpus": [], "missing": []}
NODES = tuple(NodePlan(name, "ssh", name, name) for name in ("a", "b", "c"))


def facts(driver: str | None = None, cuda: str | None = None, digest: str | None = None) -> dict[str, Any]:
    return {"gpus": [{"driver": driver}] if driver else [], "cuda": cuda, "image_digest": digest}


def told(*answers: dict[str, Any]) -> list[tuple[str, str, bool, str]]:
    found = agreement(list(zip(NODES, answers, strict=False)))
    return [(item.node, item.check, item.ok, item.message) for item in found]


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
    hello = Hello("3.11", "a", "boot", "/root", offset, error)
    node = NODES[0]
    told = items(node, Launch("direct", (node,), 1, "plain", (), ("true",)), hello, NOTHING_ODD)
    assert [item.ok for item in told if item.check == "clock"] == [right]


def test_one_node_agrees_with_itself():
    assert told(facts("550.1", "12.4", "sha256:1")) == []


def test_ssh_is_tried_with_the_options_that_open_mpi_will_give_it():
    launch = Launch("direct", NODES, 1, "mpirun", (), ("true",))
    given = Launch("direct", NODES, 1, "mpirun", (), ("true",), ("-mca", "plm_rsh_args", "-p 12345 -q"))
    by_variable = Launch("direct", NODES, 1, "mpirun", (), ("true",), env={"OMPI_MCA_plm_rsh_args": "-F /some/file"})
    assert ssh_options(launch) == []
    assert ssh_options(given) == ["-p", "12345", "-q"]
    assert ssh_options(by_variable) == ["-F", "/some/file"]


def test_ssh_is_tried_with_the_key_that_horovod_will_give_it():
    launch = Launch("direct", NODES, 1, "horovodrun", (), ("true",), ("--gloo", "--ssh-identity-file", "/some/key"))
    assert ssh_options(launch)[-2:] == ["-i", "/some/key"]
    assert "StrictHostKeyChecking=no" in ssh_options(launch)

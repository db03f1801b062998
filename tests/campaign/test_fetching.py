"""``dlperf fetch``: which wheels fit a node, and what is downloaded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dlperf.campaign import fetching
from dlperf.campaign.fetching import NodePython, Wanted, fetch
from dlperf.errors import DlperfError, RequestError
from dlperf.executors.wheels import Locked
from dlperf.plan import Launch
from dripping import dripping_server
from made_wheels import keep, lock_line, make_wheel, python_with_pip

NODE = NodePython("3.12.3", "linux-x86_64", "2.28", {"numpy": "2.5.2"})


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("a-1-py3-none-any.whl", True),
        ("a-1-cp312-cp312-manylinux_2_28_x86_64.whl", True),
        ("a-1-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.whl", True),
        ("a-1-cp39-abi3-manylinux_2_17_x86_64.whl", True),
        ("a-1-cp312-cp312-manylinux_2_34_x86_64.whl", False),
        ("a-1-cp311-cp311-manylinux_2_17_x86_64.whl", False),
        ("a-1-cp312-cp312-manylinux_2_17_aarch64.whl", False),
        ("not a wheel.whl", False),
    ],
)
def test_a_wheel_fits_by_its_tags(name, fits):
    assert NODE.fits(Path(name)) is fits


def test_a_node_without_glibc_is_refused_in_one_line():
    with pytest.raises(RequestError, match=r"Linux with glibc 2, and the node has linux-x86_64 $"):
        NodePython("3.12.3", "linux-x86_64", "", {}).fits(Path("a-1-py3-none-any.whl"))


@pytest.fixture
def wanted(tmp_path, monkeypatch):
    """A framework whose lock has numpy, a package of the node, and one that was fetched."""
    monkeypatch.setenv("DLPERF_WHEELS", str(tmp_path / "cache"))
    wheel = make_wheel(tmp_path, "made", "1.5", "")
    keep(tmp_path / "cache", wheel)
    (tmp_path / "workloads").mkdir()
    lock = f"numpy==2.5.2 --hash=sha256:{'1' * 64}\npandas==3.0 --hash=sha256:{'2' * 64}\n{lock_line(wheel)}"
    (tmp_path / "workloads" / "stack.lock").write_text(lock)
    launch = Launch("direct", (), 1, "plain", (), (), requirements="stack.lock")
    return Wanted("stack", "box", launch, ("pandas",))


def test_what_the_node_has_and_what_is_here_is_not_downloaded(tmp_path, wanted):
    node = NodePython("3.12.3", "linux-x86_64", "2.28", {"numpy": "2.5.2", "pandas": "2.0"})
    found = fetch(wanted, node, tmp_path)
    assert (found.packages, found.of_node, found.cached, found.downloaded) == (3, 2, 1, 0)


def test_a_python_that_is_too_old_for_the_lock_is_named_before_anything_is_downloaded(tmp_path, wanted):
    old = NodePython("3.11.7", "linux-x86_64", "2.28", {})
    alone = replace(wanted, launch=replace(wanted.launch, python="3.12"), own_packages=())
    with pytest.raises(
        RequestError, match=r"^stack needs Python 3\.12 or newer, and box has 3\.11\.7: name another by"
    ):
        fetch(alone, old, tmp_path)


def test_what_pip_cannot_find_is_an_error_of_one_line(tmp_path, wanted, monkeypatch):
    python = python_with_pip()
    monkeypatch.setattr(fetching.sys, "executable", python)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    said: list[str] = []
    with pytest.raises(
        DlperfError, match=r"^pip could not download the wheels for Python 3\.12\.3 on linux-x86_64: .*pandas==3\.0"
    ):
        fetch(wanted, NODE, tmp_path, said.append)
    assert said[0] == "stack for box: 1 of 3 packages to fetch"


def test_a_mistake_of_which_pip_prints_no_error_is_its_last_line(monkeypatch):
    monkeypatch.setattr(fetching.sys, "executable", python_with_pip())
    with pytest.raises(DlperfError, match=r"^pip could not download the wheels .*: no such option: --nothing$"):
        list(fetching._pip(NODE, "download", "--nothing"))


def test_a_lock_without_hashes_is_refused(tmp_path, wanted):
    (tmp_path / "workloads" / "stack.lock").write_text("numpy==2.5.2\n")
    with pytest.raises(RequestError, match=r"stack\.lock: 'numpy==2\.5\.2' has no exact version with hashes"):
        fetch(wanted, NODE, tmp_path)


def test_an_index_that_sends_a_byte_now_and_then_is_given_up(tmp_path, wanted, monkeypatch):
    monkeypatch.setattr(fetching.sys, "executable", python_with_pip())
    monkeypatch.setattr(fetching, "_PACKAGE_SECONDS", 1.5)
    node = NodePython("3.12.3", "linux-x86_64", "2.28", {"pandas": "2.0"})
    with dripping_server() as address:
        monkeypatch.setenv("PIP_INDEX_URL", address)
        with pytest.raises(DlperfError, match=r"not whole after 1\.5 s"):
            fetch(wanted, node, tmp_path)


def test_a_server_of_a_file_that_sends_a_byte_now_and_then_is_given_up(wanted, monkeypatch):
    monkeypatch.setattr(fetching, "_FILE_SECONDS", 0.5)
    with dripping_server() as address, pytest.raises(DlperfError, match=r"not whole within 0\.5 s"):
        fetching._file(Locked("x", "", ("0" * 64,), "x", address))

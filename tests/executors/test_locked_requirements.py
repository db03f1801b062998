"""Locked requirements: wheels are sent to a node once, by content, and installed there without an index."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from trials import run_to_end, shell_trial

import dlperf.workloads
from dlperf.nodes.client import NodeClient
from dlperf.nodes.transport import LocalTransport
from dlperf.runs.records import State
from made_wheels import keep, lock_line, make_wheel, python_with_pip, sha256

LOCKED = Path(dlperf.workloads.__file__).parent / "stacks" / "locked.py"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Where wheels lie that were fetched."""
    monkeypatch.setenv("DLPERF_WHEELS", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def programs(executor, tmp_path):
    """The folder of the workspace's own programs and locks."""
    executor._workspace_catalog = tmp_path / "catalog"
    folder = tmp_path / "catalog" / "workloads"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def stack(tmp_path):
    """A function that makes a trial which prints a module of its locked requirements."""
    python = python_with_pip()

    def trial(*keep_options):
        plain = shell_trial(tmp_path, f"PYTHONPATH={{build}}/site {python} -c 'import made; print(made.text)'")
        install = " ".join([python, "locked.py install stack.lock site", *keep_options])
        files = ("stack.lock", "locked.py")
        return replace(plain, launch=replace(plain.launch, build=(install,), files=files, requirements="stack.lock"))

    return trial


def build_log(trial):
    return (trial.paths.node("here").ranks / "build.log").read_text()


async def test_fetched_wheels_are_sent_and_installed_without_an_index(
    executor, home, cache, programs, stack, tmp_path, monkeypatch
):
    wheel = make_wheel(tmp_path, "made", "1.5", "text = 'installed'")
    keep(cache, wheel)
    (programs / "stack.lock").write_text(lock_line(wheel))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/none")
    first, second = stack(), stack()
    for trial in (first, second):
        assert (await run_to_end(executor, trial)).state is State.SUCCEEDED
        assert trial.paths.node("here").log.read_text() == "installed\n"
        assert "package made==1.5 fetched\n" in build_log(trial)
    assert build_log(second).startswith("used again: ")
    sent = home / ".dlperf" / "wheels" / sha256(wheel) / wheel.name
    assert sent.read_bytes() == wheel.read_bytes()


@pytest.mark.parametrize("content", [b"text = 'at a commit'", b"text = 'other'"])
async def test_a_locked_file_that_is_no_package_is_sent_and_checked(executor, home, cache, programs, stack, content):
    digest = hashlib.sha256(b"text = 'at a commit'").hexdigest()
    (programs / "stack.lock").write_text(
        f"made.py @ https://localhost:9/c0ffee/made.py \\\n    --hash=sha256:{digest}\n"
    )
    fetched = content.endswith(b"commit'")
    folder = (cache if fetched else home / ".dlperf" / "wheels") / digest
    folder.mkdir(parents=True)
    (folder / "made.py").write_bytes(content)
    trial = stack()
    seen = await run_to_end(executor, trial)
    if fetched:
        assert trial.paths.node("here").log.read_text() == "at a commit\n"
        assert f"file made.py {digest} fetched\n" in build_log(trial)
    else:
        assert seen.cause.code == "build_failed"
        assert "https://localhost:9/c0ffee/made.py cannot be read or has another hash" in build_log(trial)


async def test_a_wheel_with_another_content_than_its_lock_says_fails_the_build(
    executor, home, cache, programs, stack, tmp_path, monkeypatch
):
    wheel, other = (make_wheel(tmp_path, "made", "1.5", f"text = {number}") for number in (1, 2))
    (programs / "stack.lock").write_text(lock_line(wheel))
    folder = home / ".dlperf" / "wheels" / sha256(wheel)
    folder.mkdir(parents=True)
    (folder / other.name).write_bytes(make_wheel(tmp_path, "made", "1.5", "text = 3").read_bytes())
    seen = await run_to_end(executor, stack())
    assert seen.state is State.FAILED
    assert seen.cause.code == "build_failed"


async def test_a_package_of_the_node_is_kept_where_the_hardware_says_so(
    executor, cache, programs, stack, tmp_path, monkeypatch
):
    wheel = make_wheel(tmp_path, "made", "1.5", "text = 'locked'")
    (programs / "stack.lock").write_text(lock_line(wheel))
    own = tmp_path / "own"
    own.mkdir()
    (own / "made.py").write_text("text = 'of the node'")
    (own / "made-0.9.dist-info").mkdir()
    (own / "made-0.9.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: made\nVersion: 0.9\n")
    monkeypatch.setenv("PYTHONPATH", str(own))
    trial = stack("--keep", "made")
    program = trial.launch.command[-1].replace("{build}/site", str(own))
    trial = replace(trial, launch=replace(trial.launch, command=("sh", "-c", program)))
    assert (await run_to_end(executor, trial)).state is State.SUCCEEDED
    assert "package made==0.9 of this Python\n" in build_log(trial)


async def test_a_wheel_of_several_parts_arrives_whole_and_a_wrong_one_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("dlperf.nodes.client.RAW_BYTES", 1000)
    wheel = make_wheel(tmp_path, "made", "1.5", "text = '" + "many words " * 500 + "'")
    client = NodeClient("node", LocalTransport())
    digest = sha256(wheel)
    await client.send_wheels({f"wheels/{digest}/{wheel.name}": wheel})
    assert (tmp_path / ".dlperf" / "wheels" / digest / wheel.name).read_bytes() == wheel.read_bytes()
    with pytest.raises(Exception, match=f"arrived with the hash {digest}"):
        await client.send_wheels({f"wheels/{'0' * 64}/{wheel.name}": wheel})
    assert not (tmp_path / ".dlperf" / "wheels" / ("0" * 64)).exists()
    await client.close()


def test_a_python_without_pip_is_named(tmp_path):
    (tmp_path / "stack.lock").write_text(lock_line(make_wheel(tmp_path, "made", "1.5", "")))
    for action in ("check", "install"):
        words = (sys.executable, "-S", LOCKED, action, tmp_path / "stack.lock", tmp_path / "site")
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert done.stderr.startswith(f"{sys.executable} has no pip, which 1 of 1 packages need: ")

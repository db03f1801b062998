"""One trial at a time on a machine: the lease that engines and users of dlperf take there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from trials import finished, printed, run_to_end, shell_trial

from dlperf.executors.base import CheckItem, Executor, Trial
from dlperf.executors.direct import DirectExecutor
from dlperf.nodes.supervisor import lease
from dlperf.nodes.supervisor.processes import has_mark
from dlperf.runs.records import State
from waiting import until_async

NOBODY = 65534


@pytest.fixture
def lease_file(tmp_path, monkeypatch) -> Path:
    path = tmp_path / "lease"
    monkeypatch.setattr(lease, "PATH", str(path))
    monkeypatch.setenv("DLPERF_LEASE", str(path))
    return path


async def lease_item(executor: Executor, trial: Trial) -> CheckItem:
    (item,) = [item for item in await executor.check(trial.launch) if item.check == "lease"]
    return item


async def test_a_machine_that_another_engine_uses_is_not_ready_and_its_owner_is_named(executor, tmp_path):
    first, second = shell_trial(tmp_path, "echo up; exec sleep 91"), shell_trial(tmp_path, "echo mine")
    await executor.submit(first)
    await printed(executor, first, b"up\n")
    other = DirectExecutor()
    item = await lease_item(other, second)
    assert (item.ok, item.message.code, item.message.parameters["trial"]) == (False, "lease_held", first.trial_id)
    assert item.message.parameters["user"] == lease.user_name()
    raced = await run_to_end(other, second)
    assert (raced.state, raced.cause and raced.cause.code) == (State.FAILED, "lease_lost")
    assert second.paths.node("here").log.exists() is False
    await executor.cancel(first, 0.1)
    await finished(executor, first)
    assert (await lease_item(other, second)).ok
    await other.close()


@pytest.mark.parametrize(("value", "path"), [("", "/tmp/dlperf.lease"), ("lease", "/home/u/lease"), ("/x/y", "/x/y")])
def test_the_lease_is_one_file_whatever_the_variable_says(monkeypatch, value, path):
    monkeypatch.setenv("HOME", "/home/u")
    monkeypatch.setenv("DLPERF_LEASE", value)
    assert lease.lease_path() == path


def test_who_has_the_lease_open_is_known_where_a_link_leads_to_its_folder(lease_file, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.setattr(lease, "PATH", str(tmp_path / "link" / "lease"))
    with lease_file.open("w"):
        assert lease.has_lease_open(os.getpid())


async def test_a_trial_that_ended_whole_leaves_no_name(executor, lease_file, tmp_path):
    await run_to_end(executor, shell_trial(tmp_path, "cp $DLPERF_LEASE during"))
    assert lease_file.read_bytes() == b""


async def test_a_payload_holds_the_machine_after_its_supervisor_and_its_mark_are_gone(executor, home, tmp_path):
    trial = shell_trial(tmp_path, "exec env -i sh -c 'echo up; echo $$ > pid; while ! test -e go; do sleep 0.05; done'")
    reference = await executor.submit(trial)
    await printed(executor, trial, b"up\n")
    os.kill(reference.data["nodes"]["here"]["pid"], signal.SIGKILL)
    item = await lease_item(executor, trial)
    folder = home / ".dlperf" / trial.trial_id / "here"
    pid = (folder / "pid").read_text().strip()
    assert (item.ok, item.message.code, item.message.mentions("lease_held")) == (False, "lease_left", True)
    assert f"{pid} (sh)" in str(item.message)
    assert re.search(rf"`kill [\d ]*\b{pid}\b", str(item.message))
    (folder / "go").touch()


async def test_a_payload_that_removes_the_lease_keeps_the_machine_and_its_name_comes_back(
    executor, lease_file, tmp_path
):
    first = shell_trial(tmp_path, f"rm {lease_file}; echo up; exec sleep 93")
    await executor.submit(first)
    await printed(executor, first, b"up\n")
    with pytest.raises(lease.LeaseHeldError):
        lease.take_machine("other.trial.1/n1", "now")
    await until_async(lambda: (lease.lease_owner() or {}).get("trial") == first.trial_id, "the name never came back")
    await executor.cancel(first, 0.1)
    await finished(executor, first)
    assert lease.lease_owner() is None


def test_processes_with_the_owners_mark_hold_the_machine_without_the_lock(lease_file):
    os.close(lease.take_lease("campaign.trial.1/n1", "now"))
    assert lease.lease_owner() is None
    marked = {**os.environ, "DLPERF_TRIAL": "campaign.trial.1/n2"}
    with subprocess.Popen(["sleep", "92"], env=marked) as left:
        while not has_mark(left.pid, "campaign.trial.1/"):  # Linux shows it a little after Popen has returned
            time.sleep(0.01)
        owner = lease.lease_owner()
        left.kill()
    assert owner
    assert owner["trial"] == "campaign.trial.1"
    assert lease.lease_owner() is None


def test_nodes_of_one_trial_share_their_machine_and_the_last_one_frees_it(lease_file):
    held = [lease.take_lease(f"campaign.trial.1/n{number}", "now") for number in (1, 2)]
    for descriptor in held:
        with pytest.raises(lease.LeaseHeldError):
            lease.take_lease("campaign.trial.2/n1", "now")
        os.close(descriptor)
    os.close(lease.take_lease("campaign.trial.2/n1", "now"))


@pytest.mark.parametrize("trap", ["link", "fifo", "folder"])
def test_a_lease_that_is_no_file_is_not_followed_and_said(lease_file, tmp_path, trap):
    (tmp_path / "victim").write_text("unharmed")
    {
        "link": lambda: lease_file.symlink_to("victim"),
        "fifo": lambda: os.mkfifo(lease_file),
        "folder": lease_file.mkdir,
    }[trap]()
    owner = lease.lease_owner()
    assert owner
    assert owner["problem"].startswith(f"{lease_file}: ")
    with pytest.raises(OSError, match=str(lease_file)):
        lease.take_lease("campaign.trial.1/n1", "now")
    assert (tmp_path / "victim").read_text() == "unharmed"


@pytest.mark.parametrize(("spoil", "why"), [("full", "No space left on device"), ("ro", "Read-only file system")])
def test_a_lease_on_a_disk_that_takes_nothing_is_said_with_its_file(monkeypatch, small_disk, spoil, why):
    monkeypatch.setattr(lease, "PATH", str(small_disk / "lease"))
    if spoil == "full":
        with pytest.raises(OSError, match=why):
            (small_disk / "all").write_bytes(bytes(2 << 20))
    else:
        subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(OSError, match=why) as refused:
        lease.take_lease("campaign.trial.1/n1", "now")
    assert lease.why_unusable(refused.value) == f"{small_disk}/lease: {why}"


@pytest.mark.parametrize("content", ["", "garbage", "[]", '{"trial": ["x"], "user": 1}', "\xff", "9" * 5000])
def test_any_text_in_the_lease_does_no_harm(lease_file, content):
    lease_file.write_text(content, "latin-1")
    assert lease.lease_owner() is None
    os.close(lease.take_lease("campaign.trial.1/n1", "now"))


@pytest.mark.skipif(os.getuid() != 0, reason="needs two users")
def test_another_user_finds_the_machine_taken_and_takes_it_when_it_is_free(monkeypatch):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o1777)
        monkeypatch.setattr(lease, "PATH", f"{folder}/lease")
        descriptor = lease.take_lease("campaign.trial.1/n1", "now")
        assert as_nobody(lambda: (lease.lease_owner() or {}).get("trial")) == "campaign.trial.1"
        os.close(descriptor)
        assert as_nobody(lambda: os.close(lease.take_lease("other.trial.1/n1", "now"))) == "None"
        assert '"trial": "other.trial.1"' in Path(lease.PATH).read_text()
        os.close(lease.take_lease("campaign.trial.2/n1", "now"))


def as_nobody(ask: Callable[[], object]) -> str:
    """What a function returns to another user."""
    source, sink = os.pipe()
    if not os.fork():
        try:
            os.setuid(NOBODY)
            os.write(sink, str(ask()).encode())
        finally:
            os._exit(0)
    os.close(sink)
    os.wait()
    with os.fdopen(source) as stream:
        return stream.read()


def test_the_file_of_a_lease_goes_only_when_nobody_holds_it(lease_file: Path):
    held = lease.take_lease("trial/n0", "2026-01-31T12:00:00Z")
    lease.remove_lease()
    assert lease_file.is_file()
    lease.release_lease(held, vacant=True)
    lease.remove_lease()
    assert not lease_file.exists()

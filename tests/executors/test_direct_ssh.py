"""Trials behind a real ssh server: what the network does changes no state and loses no byte."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from trials import finished, held, printed, processes_of, run_to_end, seen, shell_trial

from delay_proxy import delay_proxy
from dlperf.errors import RefusedError, UnreachableError
from dlperf.executors.base import Trial
from dlperf.executors.direct import DirectExecutor
from dlperf.executors.logs import archived_size
from dlperf.nodes import agent_channel, connection
from dlperf.plan import Node
from dlperf.runs.records import State
from sshd import Sshd, prepare
from waiting import until_async

REMOTE = Node("alpha", "ssh", "node-a", "127.0.0.1")


LINES = """\
i=0
until [ -e $HOME/go ] && [ $i -ge 3000 ]; do
    i=$((i+1)); echo line $i of the log
    [ $((i % 50)) -eq 0 ] && sleep 0.02
done
exit 0
"""
"""Prints numbered lines, some at a time, until there are many and somebody has seen enough of them."""


async def test_a_trial_runs_on_the_other_side(remote: DirectExecutor, sshd: Sshd, tmp_path: Path):
    trial = shell_trial(tmp_path, 'echo "$HOME"', (REMOTE,))
    observation = await run_to_end(remote, trial)
    assert observation.state is State.SUCCEEDED
    assert trial.paths.node("alpha").log.read_text() == f"{sshd.home}\n"


async def test_a_log_is_complete_after_connections_died_in_the_middle(
    remote: DirectExecutor, sshd: Sshd, tmp_path: Path
):
    trial = shell_trial(tmp_path, LINES, (REMOTE,))
    await remote.submit(trial)
    ending = asyncio.create_task(finished(remote, trial))
    for drops in range(1, 6):
        before = archived_size(trial.paths.node("alpha").log)
        await until_async(partial(_grew, trial, before), f"nothing came after {drops - 1} dropped connections")
        assert sshd.drop_connections() > 0
    (sshd.home / "go").touch()
    observation = await ending
    await remote.collect(trial)
    (written,) = sshd.home.glob(".dlperf/test-*/alpha/out.log")
    assert observation.state is State.SUCCEEDED
    log = written.read_bytes()
    assert trial.paths.node("alpha").log.read_bytes() == log
    assert log.splitlines() == [b"line %d of the log" % number for number in range(1, log.count(b"\n") + 1)]


async def test_over_a_slow_link_that_breaks_a_log_is_asked_for_in_parts_and_each_is_kept(
    remote: DirectExecutor, sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """At 30 kB/s, with the limits of a request at a sixtieth of theirs: the first answer of 256 KiB cannot arrive."""
    monkeypatch.setattr(agent_channel, "REQUEST_SECONDS", 2.0)
    monkeypatch.setattr(agent_channel, "SLOWEST_BYTES_PER_SECOND", 1 << 40)
    monkeypatch.setattr(connection, "READ_SECONDS", 1.0)
    monkeypatch.setattr(connection, "FIRST_DELAY_SECONDS", 0.1)
    await remote.submit(shell_trial(tmp_path / "first", "true", (REMOTE,)))  # sends the agent before the link is slow
    await remote.close()
    config, known = (sshd.operator / ".ssh" / name for name in ("config", "known_hosts"))
    async with delay_proxy("127.0.0.1", sshd.port, 0.0, rate=30_000) as proxy:
        config.write_text(
            config.read_text().replace(f"Port {sshd.port}", f"Port {proxy.listens_at}\n HostKeyAlias alpha")
        )
        known.write_text(known.read_text().replace(f"[127.0.0.1]:{sshd.port}", "alpha"))
        trial = shell_trial(tmp_path / "second", "seq -f 'line %.0f of the log' 6000", (REMOTE,))
        await remote.submit(trial)
        observation = await finished(remote, trial)
        collecting = asyncio.create_task(_collected(remote, trial))
        for _ in range(2):
            before = archived_size(trial.paths.node("alpha").log)
            await until_async(partial(_grew, trial, before), "nothing came")
            proxy.drop_connections()
        await collecting
        await remote.close()
    log = trial.paths.node("alpha").log.read_bytes()
    assert observation.state is State.SUCCEEDED
    assert log.splitlines() == [b"line %d of the log" % number for number in range(1, 6001)]
    assert proxy.passed < 4 * len(log)


async def _collected(executor: DirectExecutor, trial: Trial) -> None:
    """Collect as an engine does: again where the node did not answer."""
    while True:
        with suppress(UnreachableError):
            return await executor.collect(trial)
        await asyncio.sleep(0.1)


def _grew(trial: Trial, before: int) -> bool:
    return archived_size(trial.paths.node("alpha").log) > before


async def test_silence_is_a_flag_and_never_a_state(remote: DirectExecutor, sshd: Sshd, tmp_path: Path):
    trial = shell_trial(tmp_path, f"{held('echo up')}; echo down", (REMOTE,))
    await remote.submit(trial)
    await printed(remote, trial, b"up\n", "alpha")
    assert (await remote.poll([trial]))[0].state is State.RUNNING
    sshd.stop()
    (silent,) = await remote.poll([trial])
    (still,) = await remote.poll([trial])
    assert silent.state is still.state is State.RUNNING
    assert silent.nodes[0].unreachable_since is not None
    assert still.nodes[0].unreachable_since == silent.nodes[0].unreachable_since
    archived = archived_size(trial.paths.node("alpha").log)
    await remote.tail([trial])
    assert archived_size(trial.paths.node("alpha").log) == archived
    with pytest.raises(UnreachableError, match=r"^node alpha: "):
        await remote.collect(trial)
    (sshd.home / "go").touch()
    sshd.start()
    observation = await finished(remote, trial)
    assert observation.state is State.SUCCEEDED
    assert observation.nodes[0].unreachable_since is None
    await remote.collect(trial)
    assert trial.paths.node("alpha").log.read_bytes() == b"up\ndown\n"


async def test_a_cancel_reaches_a_node_when_it_answers_again(remote: DirectExecutor, sshd: Sshd, tmp_path: Path):
    trial = shell_trial(tmp_path, "echo up; exec sleep 81", (REMOTE,))
    await remote.submit(trial)
    await printed(remote, trial, b"up\n", "alpha")
    sshd.stop()
    await remote.cancel(trial, grace_seconds=0.2)
    assert (await remote.poll([trial]))[0].state is not State.CANCELLED
    sshd.start()
    assert (await finished(remote, trial)).state is State.CANCELLED
    assert processes_of(trial) == []


async def test_a_refused_node_starts_nothing(remote: DirectExecutor, sshd: Sshd, tmp_path: Path):
    (sshd.operator / ".ssh" / "known_hosts").unlink()
    trial = shell_trial(tmp_path, "echo never", (REMOTE,))
    with pytest.raises(RefusedError, match=r"^node alpha: .* is not in known_hosts"):
        await remote.submit(trial)
    assert not trial.paths.reference.exists()
    items = await remote.check(trial.launch)
    assert [(item.node, item.check, item.ok) for item in items] == [("alpha", "reachable", False)]
    assert str(items[0].message).startswith("127.0.0.1 port ")


@pytest.fixture
def four(sshd: Sshd, tmp_path: Path) -> Iterator[list[Sshd]]:
    """Four machines: servers with homes of their own that the same operator knows."""
    servers = [prepare(tmp_path / f"machine{index}") for index in range(4)]
    config, known = "", ""
    for index, server in enumerate(servers):
        (server.folder / "authorized_keys").write_text((sshd.folder / "authorized_keys").read_text())
        config += f"Host m{index}\n HostName 127.0.0.1\n Port {server.port}\n"
        known += server.known_hosts_line()
        server.start()
    (sshd.operator / ".ssh" / "config").write_text(config)
    (sshd.operator / ".ssh" / "known_hosts").write_text(known)
    yield servers
    for server in servers:
        server.stop()


FOUR = tuple(Node(f"m{index}", "ssh", f"m{index}", "127.0.0.1") for index in range(4))


async def test_one_silent_machine_keeps_no_other_from_being_cancelled(remote, four: list[Sshd], tmp_path: Path):
    trial = shell_trial(tmp_path, "echo up; exec sleep 82", FOUR)
    await remote.submit(trial)
    four[2].stop()
    await remote.cancel(trial, grace_seconds=0.2)
    observation = await seen(
        remote, trial, lambda told: [node.state for node in told.nodes].count(State.CANCELLED) == 3
    )
    assert observation.nodes[2].state in (State.SUBMITTED, State.RUNNING)
    assert observation.state is State.RUNNING
    four[2].start()
    assert (await finished(remote, trial)).state is State.CANCELLED
    assert processes_of(trial) == []


async def test_a_silent_machine_holds_up_no_verdict_that_another_gave(remote, four: list[Sshd], tmp_path: Path):
    script = f'case "$DLPERF_TRIAL" in */m1) {held(":")}; exit 5;; *) exec sleep 83;; esac'
    trial = shell_trial(tmp_path, script, FOUR)
    await remote.submit(trial)
    await remote.poll([trial])
    four[3].stop()
    (four[1].home / "go").touch()
    observation = await finished(remote, trial)
    assert (observation.state, str(observation.cause)) == (
        State.FAILED,
        "node m1: exit code 5; node m3 does not answer",
    )
    assert observation.nodes[3].unreachable_since is not None
    four[3].start()
    await _cancelled(remote, trial)


async def test_a_node_that_stays_silent_fails_the_trial_and_ends_its_siblings(remote, four: list[Sshd], tmp_path: Path):
    trial = shell_trial(tmp_path, "exec sleep 84", FOUR)
    await remote.submit(trial)
    await remote.poll([trial])
    four[2].stop()
    impatient = replace(trial, launch=replace(trial.launch, stall_seconds=0.5))
    observation = await finished(remote, impatient)
    assert observation.state is State.FAILED
    assert str(observation.cause).startswith("node m2: unreachable since 20")
    assert "no server listens at 127.0.0.1" in str(observation.cause)
    assert {str(node.cause) for node in observation.nodes if node.node != "m2"} == {"cancelled because node m2 failed"}
    four[2].start()
    await _cancelled(remote, trial)


async def _cancelled(remote: DirectExecutor, trial: Trial) -> None:
    """A machine that answers again is told when its client tries to connect the next time."""
    while processes_of(trial):
        await remote.cancel(trial)
        await asyncio.sleep(0.1)


async def test_a_trial_whose_nodes_are_all_silent_goes_on(remote, four: list[Sshd], tmp_path: Path):
    trial = shell_trial(tmp_path, "exec sleep 2", FOUR)
    await remote.submit(trial)
    for server in four:
        server.stop()
    impatient = replace(trial, launch=replace(trial.launch, stall_seconds=0.1))
    for _ in range(3):
        (observation,) = await remote.poll([impatient])
        assert not observation.state.finished
        await asyncio.sleep(0.2)
    for server in four:
        server.start()
    assert (await finished(remote, trial)).state is State.SUCCEEDED


async def test_every_node_writes_its_own_telemetry_and_exit(remote, four: list[Sshd], tmp_path: Path):
    trial = shell_trial(tmp_path, "echo $DLPERF_TRIAL", FOUR)
    observation = await run_to_end(remote, trial)
    assert observation.state is State.SUCCEEDED
    for node in FOUR:
        paths = trial.paths.node(node.name)
        assert paths.log.read_text() == f"{trial.trial_id}/{node.name}\n"
        assert json.loads(paths.exit.read_text())["state"] == "succeeded"
        assert paths.telemetry.is_file()

"""Campaigns on a machine behind a real ssh server, whose network comes and goes."""

from __future__ import annotations

import asyncio

import pytest

from counting_workspace import Counting, counting_workspace
from dlperf.campaign.create import create_campaign
from dlperf.campaign.dependencies import Timeouts, engine_dependencies
from dlperf.campaign.engine import run_campaign
from dlperf.campaign.rules import exit_code
from dlperf.catalog.files.load import load_catalog
from dlperf.errors import ExitCode
from dlperf.plan import Selection, expand
from dlperf.runs.journal import campaign_status
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import Event
from dlperf.runs.store import read_campaign, read_records
from sshd import sshd
from waiting import until, until_async

__all__ = ["sshd"]

HARDWARE = "id: remote\ntitle: Behind ssh\nnodes: [{name: alpha, host: node-a, address: 127.0.0.1}]\n"
RUN = ("run", "-H", "remote", "-f", "counting", "-c", "lenet5", "-b", "32", "--name", "try")


@pytest.fixture
def remote(sshd, tmp_path):
    """The counting workspace, with its node on the other side of the server."""
    here = counting_workspace(tmp_path)
    hardware = here.workspace.catalog / "hardware"
    hardware.mkdir()
    (hardware / "remote.yaml").write_text(HARDWARE)
    return Counting(here.workspace, sshd.home, sshd.operator)


def events(remote: Counting, name: str) -> list[Event]:
    return [event for event in read_records(remote.campaign("try").journal, Event)[0] if event.event == name]


def wait_for_event(remote: Counting, name: str) -> None:
    until(lambda: events(remote, name), lambda: f"{name} never came")


def test_a_machine_that_falls_silent_changes_no_state_and_loses_no_line(remote, sshd):
    hold = remote.hold(32)
    engine = remote.start(*RUN, "--repeats", "1")
    remote.wait_for("try", "32/1", "running")
    sshd.stop()
    wait_for_event(remote, "node_unreachable")
    assert remote.states("try") == {"32/1": "running"}
    assert "node alpha does not answer since" in remote.dlperf("status", "try").stderr
    hold.unlink()
    sshd.start()
    engine.communicate()
    assert engine.returncode == 0
    assert [event.state for event in events(remote, "state")] == ["submitted", "running", "succeeded"]
    assert events(remote, "node_reachable")
    paths = remote.campaign("try")
    (key,) = campaign_status(paths).trials
    assert paths.trial(key).node("alpha").log.read_bytes().count(b"DLPERF") == 12


def test_an_engine_killed_in_the_middle_finds_its_trial_again(remote):
    hold = remote.hold(32)
    engine = remote.start(*RUN, "--repeats", "2")
    remote.wait_for("try", "32/1", "running")
    engine.kill()
    engine.wait()
    hold.unlink()
    remote.dlperf("resume", "try")
    assert remote.states("try") == {"32/1": "succeeded", "32/2": "succeeded"}
    assert len(remote.starts) == len(set(remote.starts)) == 2


def test_a_machine_that_starts_anew_between_two_trials_is_waited_for(remote, sshd):
    hold = remote.hold(32)
    engine = remote.start(*RUN, "--repeats", "2")
    remote.wait_for("try", "32/1", "running")
    remote.dlperf("pause", "try")
    hold.unlink()
    remote.wait_for("try", "32/1", "succeeded")
    sshd.stop()
    remote.dlperf("resume", "try")
    wait_for_event(remote, "node_unreachable")
    assert "node alpha does not answer since" in remote.dlperf("status", "try").stderr
    assert remote.states("try") == {"32/1": "succeeded", "32/2": "planned"}
    sshd.start()
    _, said = engine.communicate()
    assert engine.returncode == 0
    assert said.count(b"node alpha does not answer: ") == said.count(b"waiting for up to 5 min") == 1
    assert remote.states("try") == {"32/1": "succeeded", "32/2": "succeeded"}
    assert len(events(remote, "node_unreachable")) == len(events(remote, "node_reachable")) == 1


def planned(remote: Counting, name: str) -> CampaignPaths:
    plan = expand(
        Selection(("remote",), ("counting",), ("lenet5",), batch_sizes=(32,), repeats=1),
        load_catalog(remote.workspace.catalog),
    )
    return create_campaign(remote.workspace, plan, name)


async def test_two_campaigns_take_turns_on_a_machine_and_the_one_that_waits_names_the_other(remote):
    hold = remote.hold(32)
    first = remote.start(*RUN, "--repeats", "1")
    await asyncio.to_thread(remote.wait_for, "try", "32/1", "running")
    paths = planned(remote, "second")
    dependencies = engine_dependencies(remote.workspace, read_campaign(paths))
    second = asyncio.create_task(run_campaign(paths, dependencies, Timeouts(reconnect=0.1, busy=0.1, progress=0.1)))
    await until_async(lambda: "lease_held" in progress_text(paths), "it never waited")
    assert '"trial":"try-' in progress_text(paths).replace(" ", "")
    assert remote.states("second") == {"32/1": "planned"}
    hold.unlink()
    await second
    first.communicate()
    assert remote.states("try") == remote.states("second") == {"32/1": "succeeded"}
    assert len(remote.starts) == 2


def progress_text(paths: CampaignPaths) -> str:
    return paths.progress.read_text() if paths.progress.exists() else ""


async def test_a_machine_that_never_answers_is_left_out_and_exit_code_3(remote, sshd):
    sshd.stop()
    paths = planned(remote, "try")
    await run_campaign(
        paths, engine_dependencies(remote.workspace, read_campaign(paths)), Timeouts(machine_rest=0.1, silence=1.0)
    )
    status = campaign_status(paths)
    assert exit_code(status) is ExitCode.UNREACHABLE
    assert str(status.left_out["alpha"]).startswith("failed 2 times in a row: unreachable: ")
    assert remote.states("try") == {"32/1": "failed", "32/2": "failed"}
    assert list(status.unreachable) == ["alpha"]
    assert str(status.silence["alpha"]).startswith(
        f"no server listens at 127.0.0.1 port {sshd.port} (connection refused): "
    )
    assert "`ssh node-a` must work; no answer yet after 1 s of attempts" in str(status.silence["alpha"])


def test_a_machine_that_refuses_is_exit_code_3_at_once(remote, sshd):
    (sshd.operator / ".ssh" / "known_hosts").unlink()
    done = remote.dlperf(*RUN, "--repeats", "1", code=3)
    assert "failed: unreachable: alpha" in done.stderr
    assert "node alpha is left out: failed 2 times in a row: unreachable: " in done.stderr
    assert remote.states("try") == {"32/1": "failed", "32/2": "failed"}

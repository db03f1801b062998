"""Slurm with accounting: what the controller forgot, sacct tells, and a trial without an exit file has its cause."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from slurm_trials import array_trials, open_executor, slurm_trial
from trials import finished, printed

import slurm_database
import slurm_lab
from dlperf.executors.base import Trial
from dlperf.executors.batch.slurm import SACCT_FORMAT, parse_sacct
from dlperf.runs.records import State
from slurm_lab import SlurmLab
from waiting import until_async


@pytest.fixture(scope="module")
def accounted():
    """A cluster whose controller forgets a job seconds after its end, and whose accounting does not."""
    if missing := [*slurm_lab.missing_programs(), *slurm_database.missing_programs()]:
        pytest.skip(
            f"no Slurm accounting here: {', '.join(missing)} missing (Debian: slurm-wlm slurmdbd mariadb-server)"
        )
    with tempfile.TemporaryDirectory(prefix="dlperf-slurmdbd-") as folder:
        lab = SlurmLab(Path(folder), remembers_seconds=2)
        try:
            lab.start_munge()
            slurm_database.start_accounting(lab)
            lab.start_slurm()
            yield lab
        finally:
            lab.stop_all()


@pytest.fixture
async def executor(home, accounted, monkeypatch):
    monkeypatch.setenv("SLURM_CONF", str(accounted.configuration))
    under_slurm = open_executor()
    yield under_slurm
    await under_slurm.close()


async def forgotten(lab: SlurmLab, job: str) -> None:
    """Wait until the controller knows nothing of a job."""
    asked = ("squeue", "-h", "--states=all", f"--jobs={job}")
    await until_async(lambda: not lab.command(*asked).strip(), "it is still known")


def without_exit_file(trial: Trial, home: Path) -> None:
    (home / ".dlperf" / trial.trial_id / "node0" / "exit.json").unlink(missing_ok=True)


async def test_a_job_that_the_controller_forgot_is_told_by_the_accounting(executor, accounted, home, tmp_path):
    trial = slurm_trial(tmp_path, "echo on; exec sleep 60")
    job = (await executor.submit(trial)).data["job"]
    await printed(executor, trial, b"on", "node0")
    accounted.command("scancel", job)
    await forgotten(accounted, job)
    without_exit_file(trial, home)
    later = open_executor()
    observation = await finished(later, trial)
    await later.close()
    assert (observation.state, str(observation.cause)) == (State.CANCELLED, "cancelled in the queue")


async def test_a_node_that_failed_is_told_by_the_accounting(executor, accounted, home, tmp_path):
    trial = slurm_trial(tmp_path, "echo on; exec sleep 60")
    job = (await executor.submit(trial)).data["job"]
    await printed(executor, trial, b"on", "node0")
    node = accounted.command("squeue", "-h", f"--jobs={job}", "--format=%N").strip()
    accounted.command("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
    await forgotten(accounted, job)
    accounted.command("scontrol", "update", f"nodename={node}", "state=resume")
    without_exit_file(trial, home)
    later = open_executor()
    observation = await finished(later, trial)
    await later.close()
    assert (observation.state, str(observation.cause)) == (State.LOST, "a node of the job failed")


async def test_the_accounting_names_the_tasks_of_an_array(executor, accounted, tmp_path):
    trials = array_trials(tmp_path, "echo done", 2)
    jobs = [(await executor.submit(trial)).data["job"] for trial in trials]
    assert [(await finished(executor, trial)).state for trial in trials] == [State.SUCCEEDED] * 2
    asked = ("sacct", "-n", "-X", "-P", f"--format={SACCT_FORMAT}", f"--jobs={','.join(jobs)}")
    slurm_lab.wait_for(lambda: accounted.command(*asked).count("COMPLETED") == 2)
    assert {number: job.state for number, job in parse_sacct(accounted.command(*asked)).items()} == dict.fromkeys(
        jobs, "COMPLETED"
    )


async def test_an_accounting_that_falls_silent_changes_no_state(executor, accounted, tmp_path):
    trial = slurm_trial(tmp_path, "echo on; sleep 3")
    await executor.submit(trial)
    await printed(executor, trial, b"on", "node0")
    accounted.stop("slurmdbd")
    assert (await finished(executor, trial)).state is State.SUCCEEDED
    accounted.begin("slurmdbd", "-D")

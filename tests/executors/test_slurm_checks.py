"""What is asked of a real Slurm, and what it refuses, is said before a trial is submitted."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from slurm_trials import executor, slurm_trial
from trials import finished, run_to_end, seen

from dlperf.campaign.starting import start_items, start_of
from dlperf.errors import DlperfError
from dlperf.plan import Configuration, Container, PlannedConfiguration, PlannedProtocol
from dlperf.runs.archive import TrialFiles
from dlperf.runs.records import State
from podman_lab import IMAGE

__all__ = ["executor"]


async def test_no_more_time_is_asked_for_than_the_partition_gives(executor, slurm, tmp_path):
    trial = slurm_trial(tmp_path, "echo done", queue={"partition": "short"})
    items = {item.check: item for item in await executor.check(trial.launch)}
    assert [(items[name].ok, items[name].caution) for name in ("time_limit", "slurm")] == [(True, True), (True, False)]
    assert str(items["time_limit"].message) == (
        "partition short allows at most 2 min, but a trial may take 6 min: Slurm would end it"
    )
    assert (await run_to_end(executor, trial)).state is State.SUCCEEDED
    assert b"#SBATCH --time=2\n" in TrialFiles(trial.paths).read(trial.paths.rendered / "batch.sh")


async def test_more_time_than_the_partition_gives_is_said_before_and_while_the_job_waits(executor, slurm, tmp_path):
    trial = slurm_trial(tmp_path, "echo never", queue={"partition": "short", "time_limit_minutes": 30})
    items = {item.check: item for item in await executor.check(trial.launch)}
    assert (items["time_limit"].ok, str(items["time_limit"].message)) == (
        False,
        "partition short allows at most 2 min: lower time_limit_minutes (30)",
    )
    await executor.submit(trial)
    pending = await seen(executor, trial, lambda observation: observation.pending_reason is not None)
    word, _, advice = str(pending.pending_reason).partition(": ")
    assert word in ("PartitionConfig", "PartitionTimeLimit")
    assert re.fullmatch(r"requests more time .*than the partition allows: cancel it and .*", advice)
    await executor.cancel(trial)
    assert (await finished(executor, trial)).state is State.CANCELLED


@pytest.mark.parametrize(
    ("slurm_options", "message"),
    [
        ({"partition": "none"}, "Invalid partition name specified"),
        ({"gres": "gpu:9"}, "Requested node configuration is not available"),
        ({"constraint": "no such"}, "Invalid feature specification"),
        ({"licenses": "none:1"}, "Invalid license specification"),
        ({"reservation": "none"}, "Requested reservation is invalid"),
    ],
)
async def test_what_slurm_refuses_is_said_before_and_at_submission(executor, tmp_path, slurm_options, message):
    trial = slurm_trial(tmp_path, "echo never", queue=slurm_options)
    items = {item.check: item for item in await executor.check(trial.launch)}
    assert (items["reachable"].ok, items["slurm"].ok) == (True, False)
    assert message in str(items["slurm"].message)
    with pytest.raises(DlperfError, match="sbatch: "):
        await executor.submit(trial)


async def test_a_ready_cluster_says_when_the_job_would_start(executor, tmp_path):
    items = {item.check: item for item in await executor.check(slurm_trial(tmp_path, "echo never").launch)}
    assert items["slurm"].ok
    assert re.match(r"1n\dg: .*to start at", str(items["slurm"].message))


async def test_the_start_of_a_program_is_tried_in_a_job(executor, tmp_path):
    launch = slurm_trial(tmp_path, "echo never").launch
    plan = Configuration("slurm", "a", "case", "fp32", 32, 1, 1)
    found, missing = (
        start_of(
            PlannedConfiguration(
                plan, replace(launch, interpreter=(program,)), "dlperf", "images/s", PlannedProtocol(), 1
            )
        )
        for program in ("python3", "no-such-python")
    )
    items = await start_items(executor, [found, missing])
    assert [(item.node, item.ok, str(item.message)) for item in items] == [
        ("node0", True, "plain starts and finds python3"),
        ("node0", False, "plain does not start or does not find no-such-python: exit code 127"),
    ]


async def test_an_image_is_found_in_storage_that_only_the_hardware_names(executor, podman_store, tmp_path):
    launch = slurm_trial(tmp_path, "echo never", queue={"gres": ""}).launch
    variables, nodes = podman_store.variables, tuple(replace(node, gpu_indices=()) for node in launch.nodes)
    launch = replace(launch, nodes=nodes, interpreter=("sh",), env=variables, runtime_env=tuple(variables))
    plan = Configuration("slurm", "a", "case", "fp32", 32, 1, 1)
    inside = replace(launch, container=Container(IMAGE, "podman"))
    (item,) = await start_items(
        executor, [start_of(PlannedConfiguration(plan, inside, "dlperf", "images/s", PlannedProtocol(), 1))]
    )
    assert (item.ok, str(item.message)) == (True, "plain starts and finds sh")

"""The conditions that a result keeps: what it ran on and with, as nodes, logs and sent files say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlperf.derived.timeline import measure_trial
from dlperf.evidence.facts import NodeFacts, conditions_of
from dlperf.measured.model import TrialResult
from dlperf.plan import TrialKey
from dlperf.runs.archive import keep_sent, sha256_of
from dlperf.runs.paths import TrialPaths
from dlperf.runs.records import State, TrialStatus
from dlperf.table.conditions import continued, row_conditions
from dlperf.table.model import ConfigurationResult, Status
from handmade_trials import PROTOCOL, START, own_log, planned, write_trial

GPUS = [
    {"index": index, "uuid": f"GPU-{index}", "name": "H200", "vbios": "96.00", "power_limit_watts": 700.0}
    for index in range(3)
]
ENVIRONMENT = {"driver": "580.1", "nccl": "2.28.3", "boot_id": "f00", "gpus": GPUS}
HEADER = "time,gpu,power_watts,sm_clock_mhz,foreign_processes,energy_millijoules"


def measured(paths: TrialPaths, files: dict[str, str], seconds: int = 0) -> TrialResult:
    write_trial(paths, files)
    plan = planned(protocol=PROTOCOL | {"seconds": seconds})
    return measure_trial(paths, plan, TrialStatus(TrialKey(plan.configuration.id, 1), State.SUCCEEDED, None))


def telemetry(energies: list[str]) -> str:
    """Two GPUs at 1 Hz, of which the second has this energy counter."""
    start = START.timestamp()
    rows = [f"{start + second},1,400,1700,0,{1000 * 500 * second}" for second in range(len(energies))]
    rows += [f"{start + second},2,300,1700,0,{energy}" for second, energy in enumerate(energies)]
    return "\n".join([HEADER, *sorted(rows), ""])


def test_a_result_keeps_its_gpus_programs_and_loaded_libraries(tmp_path: Path):
    paths = TrialPaths(tmp_path / "trial")
    keep_sent(paths, {"n0/files/train.py": b"pass\n", "n0/launch.sh": b"python train.py\n"})
    (tmp_path / "train.py").write_text("pass\n")
    result = measured(
        paths,
        {
            "n0/out.log": "h200:1:1 [0] NCCL version 2.28.9+cuda13.0\n" + own_log(80.0),
            "n0/environment.json": json.dumps(ENVIRONMENT),
            "n0/exit.json": json.dumps({"libraries": {"nccl": ["2.27.0"], "cudnn": ["9.14.0", "9.15.0"]}}),
            "n0/telemetry.csv": telemetry(["0"] * 12),
        },
    )
    assert result.conditions == {
        "driver": "580.1",
        "gpu.uuid": "GPU-1, GPU-2",
        "gpu.name": "H200",
        "gpu.vbios": "96.00",
        "gpu.power_limit_watts": "700.0",
        "libraries.cudnn": "9.14.0, 9.15.0",
        "libraries.nccl": "2.28.9",
        "programs.train.py": sha256_of(tmp_path / "train.py"),
    }
    assert (result.window_seconds, result.telemetry_samples) == (10.0, 10)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (
            {"machine_id": "m", "hostname": "a", "boot_id": "1"},
            {"machine_id": "m", "hostname": "a", "boot_id": "2"},
            True,
        ),
        ({"machine_id": "m", "hostname": "a"}, {"machine_id": "n", "hostname": "a"}, False),
        ({"hostname": "a", "boot_id": "1"}, {"hostname": "a", "boot_id": "2"}, True),
        ({"hostname": "a", "boot_id": "1"}, {"hostname": "b", "boot_id": "1"}, False),
        ({"boot_id": "1"}, {"boot_id": "2"}, False),
    ],
)
def test_a_machine_without_gpus_is_the_same_one_after_a_boot(first: dict[str, str], second: dict[str, str], same: bool):
    names = [conditions_of([NodeFacts({**each, "gpus": []})], {}, {})["machine"] for each in (first, second)]
    assert (names[0] == names[1]) == same
    assert "a" not in names, "the host's name is not published"


def test_a_result_of_a_trial_without_such_files_has_unknown_conditions(tmp_path: Path):
    hostile = {
        "n0/environment.json": '{"gpus": [7, {"uuid": {"a": []}}], "cpu": 3, "packages": 7}',
        "n0/exit.json": '{"libraries": 1}',
    }
    assert measured(TrialPaths(tmp_path / "trial"), {"n0/out.log": own_log(80.0), **hostile}).conditions == {}


def test_power_is_by_energy_counters_where_every_gpu_has_one_that_only_rises(tmp_path: Path):
    counters = {
        "counter": [str(1000 * 600 * second) for second in range(13)],
        "readings": ["" for _ in range(13)],
        "reset": [str(1000 * 600 * (13 - second)) for second in range(13)],
    }
    found = {
        name: measured(
            TrialPaths(tmp_path / name), {"n0/out.log": own_log(80.0), "n0/telemetry.csv": telemetry(energies)}
        )
        for name, energies in counters.items()
    }
    assert {name: (result.power_watts, result.power_source) for name, result in found.items()} == {
        "counter": (1100.0, "counter"),
        "readings": (700.0, "readings"),
        "reset": (700.0, "readings"),
    }


def test_a_window_shorter_than_its_protocol_demands_is_a_finding_with_its_seconds(tmp_path: Path):
    files = {"n0/out.log": own_log(78.125), "n0/telemetry.csv": telemetry(["0"] * 13)}
    found = measured(TrialPaths(tmp_path / "short"), files, seconds=45).findings
    assert [(item.code, dict(item.message.parameters)) for item in found] == [
        ("short_window", {"seconds": 10.24, "least": 20}),
        ("few_readings", {"count": 10, "least": 20}),
    ]
    files = {"n0/out.log": own_log(20.2), "n0/telemetry.csv": telemetry(["0"] * 45)}
    assert measured(TrialPaths(tmp_path / "long"), files, seconds=45).findings == ()
    assert measured(TrialPaths(tmp_path / "without"), files).findings == ()


@pytest.mark.parametrize(("gpus", "stated"), [(1, False), (2, True)])
def test_how_gradients_are_reduced_is_stated_on_several_gpus_only(gpus: int, stated: bool):
    row = ConfigurationResult(
        *("box", "jax", "resnet50", "bf16", 256, 1, gpus),
        campaign="c",
        unit="images/s",
        status=Status("measured"),
        numerics={"weights": "fp32", "reduction": "bf16"},
    )
    assert row_conditions(row)["numerics.weights"] == "fp32"
    assert ("numerics.reduction" in row_conditions(row)) == stated


def test_what_a_ledger_adds_to_what_it_said_is_stated_of_kept_results_too():
    said = {"own_kernels": "none", "loss": "kept", "data": "tokens"}
    now = {"own_kernels": "Triton", "loss": "kept; 26 GB more", "pooling": "none"}
    assert continued(said, now) == {"own_kernels": "none", "loss": "kept; 26 GB more", "data": "tokens"}


def test_what_the_ledger_says_besides_or_takes_back_is_told_where_it_goes_on_from_all_that_was_said():
    said = {"model": "GPT-2", "pooling": "windows: 3,665 images/s", "cuda_graph": False}
    now = {"model": "GPT-2", "pooling": "windows", "cuda_graph": "none", "normalization": "10 GB"}
    assert continued(said, now) == {**now, "cuda_graph": False}
    assert "normalization" not in continued({**said, "pooling": "slices"}, now)

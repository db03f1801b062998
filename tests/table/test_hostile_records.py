"""A node may write anything into its records: its trial is measured, its result and its page are made."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from changed_records import HOLE, holes
from dlperf.catalog.axes import field_values, profiled_configuration
from dlperf.derived.profiles import read_profile
from dlperf.derived.timeline import derive
from dlperf.measured.model import TrialResult
from dlperf.messages import ENGLISH
from dlperf.plan import TrialKey
from dlperf.report.data import SiteData
from dlperf.report.evidence import EvidenceReader
from dlperf.report.machine import format_fact, machine_facts
from dlperf.report.pages.page import Page
from dlperf.report.pages.results.profiles import profile_view
from dlperf.report.site import locations as at
from dlperf.runs.paths import CampaignPaths, TrialPaths, WorkspacePaths
from dlperf.runs.records import State, TrialStatus
from dlperf.table.model import ConfigurationResult, Status
from handmade_trials import PROTOCOL, own_log, planned, workspace_in, write_planned, write_trial

HOSTILE = ("1e999", "NaN", "9" * 400, "-1", '"\\ud800"', "[" * 100_000, f'"{"x" * 300}"', '"../../.."', '"\\u0000"')
"""Texts in place of a value, some of which are no JSON."""
ODD = (*HOSTILE, "null", "true", "0", '""', "[]", "{}", "[[1]]", '{"a": []}', "1e308", "[1e308, 1e308]")
GPU = {
    "index": 0,
    "name": "H200",
    "uuid": "u",
    "driver": "1",
    "memory_mib": 8.0,
    "pci_bus": "0:1",
    "driver_errors": [7],
}
ENVIRONMENT = {
    **{"schema": 2, "os": "Linux", "cpu": {"model": "Xeon", "threads": 8}, "memory_bytes": 1 << 30, "gpus": [GPU]},
    **{"container": {"image": "i"}, "packages": ["numpy==2"], "memory_errors_corrected": 1, "boot_id": "b"},
}
EXIT = {
    **{"duration_seconds": 3.5, "telemetry_rows_lost": 1, "libraries": {"nccl": ["2.1"]}, "modules": {"cuda": "12"}},
    **{"driver_errors": [{"pci_bus": "0:1", "code": 79}], "state": "succeeded"},
}
OPERATIONS = {"name": "gemm", "calls": 3, "total_ms": 1.5, "share": 0.5, "kind": "other"}
PROFILE = {
    **{"framework": "x", "device": "gpu", "steps": 3, "step_ms": 1.0, "profiled_step_ms": 2.0, "busy_ms": 1.0},
    **{"idle_share": 0.5, "trace": "", "kernels": [OPERATIONS], "classes": [OPERATIONS], "schema": 2},
}
COLUMNS = "time,gpu,utilization_percent,memory_used_mib,power_watts,sm_clock_mhz,throttle_reasons,foreign_processes"
CELLS = ("1e308", "-1e308", "1e15", "nan", "inf", "-1", "x", "", "9" * 400, "0x" + "f" * 300)


def damaged(document: dict[str, Any]) -> Iterator[str]:
    """Yield a record with each value in each place."""
    for text in (json.dumps(copy) for _, copy in holes(document)):
        yield from (text.replace(json.dumps(HOLE), value) for value in ODD)


@pytest.fixture
def campaign(tmp_path: Path) -> CampaignPaths:
    return write_planned(workspace_in(tmp_path), "a", [planned(1, repeats=1)])


def measured(paths: TrialPaths) -> TrialResult:
    item = planned(1, repeats=1)
    status = TrialStatus(TrialKey(item.configuration.id, 1), State.SUCCEEDED)
    return derive(paths, item, status).result


def trial_of(campaign: CampaignPaths) -> TrialPaths:
    paths = campaign.trial(TrialKey(planned(1).configuration.id, 1))
    row = "1769860802.0,0,99,8,700,1900,0x0,0"
    write_trial(paths, {"n0/out.log": own_log(80.0, gpus=1), "n0/telemetry.csv": f"{COLUMNS}\n{row}\n"})
    return paths


@pytest.mark.parametrize(("name", "document"), [("environment.json", ENVIRONMENT), ("exit.json", EXIT)])
def test_a_trial_is_measured_and_shown_whatever_is_in_a_record(campaign, name, document):
    paths = trial_of(campaign)
    row = ConfigurationResult(
        **field_values(planned(1).configuration), campaign="a", unit="images/s", status=Status("measured")
    )
    for text in damaged(document):
        write_trial(paths, {f"n0/{name}": text})
        result = measured(paths)
        assert result.value == pytest.approx(80.0)
        facts = EvidenceReader(WorkspacePaths(campaign.directory.parents[1])).read(row, result, planned(1)).environment
        assert all(format_fact(name, value) for name, value in (*facts.items(), *machine_facts(facts).items()))


@pytest.mark.parametrize("column", COLUMNS.split(","))
def test_a_trial_is_measured_whatever_is_in_its_telemetry(campaign, column):
    paths = trial_of(campaign)
    usual = dict(zip(COLUMNS.split(","), ["0", "0", "99", "8", "700", "1900", "0x0", "0"], strict=True))
    for cell in CELLS:
        rows = [usual | {"time": str(1769860800.0 + second)} | {column: cell} for second in range(20)]
        text = "\n".join([COLUMNS, *(",".join(row.values()) for row in rows), ""])
        write_trial(paths, {"n0/telemetry.csv": text})
        assert measured(paths).value == pytest.approx(80.0)


@pytest.mark.parametrize("rule", ["rate(skip=20, take=100)", "skipmean(2)", "window(20, 120)", "printed()"])
@pytest.mark.parametrize("number", ["1e308", "-1e308", "1e150", "9" * 300, "nan", "inf", "0"])
@pytest.mark.parametrize("field", ["step", "samples", "throughput", "loss"])
def test_a_trial_has_a_result_whatever_numbers_are_in_its_log(campaign, rule, number, field):
    paths, item = trial_of(campaign), planned(1, protocol=PROTOCOL | {"estimator": rule})
    log = own_log(80.0, gpus=1).replace(" step=", " loss=1 step=")
    write_trial(paths, {"n0/out.log": re.sub(rf" {field}=\S+", f" {field}={number}", log)})
    result = derive(paths, item, TrialStatus(TrialKey(item.configuration.id, 1), State.SUCCEEDED)).result
    assert result.value is None or 0 < result.value < 1e101


def test_a_profile_is_shown_or_left_out_whatever_is_in_it(campaign):
    item = planned(1)
    node = campaign.trial(TrialKey(profiled_configuration(item.configuration).id, 1)).node("n0")
    node.ranks.mkdir(parents=True)
    page = Page(ENGLISH, SiteData(()), at.HOME)
    for text in damaged(PROFILE):
        node.profile.write_text(text)
        profile_view(page, "a", read_profile(campaign, item.configuration))

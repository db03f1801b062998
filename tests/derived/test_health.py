"""Machines of a diagnosis beside the others of their fleet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dlperf.campaign.create import create_campaign
from dlperf.catalog.files.load import Catalog, load_catalog
from dlperf.derived.health import Fleet, diagnosis_of
from dlperf.evidence.logs import BUILTIN_FORMATS
from dlperf.plan import Selection, TrialKey, expand
from dlperf.plan.diagnosis import plan_diagnosis
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.records import Event
from dlperf.runs.store import append_records

FLEET = """\
id: fleet
title: Fleet
description: Three machines of two GPUs.
accelerator: h200-sxm
gpus_per_node: 2
nodes:
  - {name: a, transport: local}
  - {name: b, transport: local}
  - {name: c, transport: local}
"""
Errors = Mapping[int, dict[str, Any]]
NONE: Errors = {}
PRODUCTS = (700.0, 702.0, 699.0, 701.0, 640.0, 703.0)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    folder = tmp_path_factory.mktemp("catalog")
    (folder / "hardware").mkdir()
    (folder / "hardware/fleet.yaml").write_text(FLEET)
    return load_catalog(folder)


def diagnosed(
    workspace: WorkspacePaths, catalog: Catalog, products: tuple[float, ...], errors: Errors = NONE
) -> CampaignPaths:
    """A campaign of one trial that measured these products on its GPUs, and disks of 1, 2 and 3 GB/s.

    Args:
        errors: facts of a GPU, by rank.
    """
    workspace.runs.mkdir(exist_ok=True)
    plan = plan_diagnosis(Selection(hardware=("fleet",), repeats=1), catalog)
    paths = create_campaign(workspace, plan, f"diagnosis-{len(errors)}")
    (item,) = plan.configurations
    key = TrialKey(item.configuration.id, 1)
    lines = ['DLPERF 2026-01-01T00:00:00.000000Z run {"gpus": 6, "steps": 6}']
    for rank, product in enumerate(products):
        disk = f" disk_write={1 + rank // 2}" if rank % 2 == 0 else ""
        lines.append(f"DLPERF 2026-01-01T00:00:01.000000Z step={rank + 1} matrix_product={product}{disk}")
    log = paths.trial(key).node("a").log
    log.parent.mkdir(parents=True)
    for number, node in enumerate("abc"):
        gpus = [errors.get(2 * number + index, {}) | {"index": index} for index in (0, 1)]
        environment = paths.trial(key).node(node).environment
        environment.parent.mkdir(parents=True, exist_ok=True)
        environment.write_text(json.dumps({"gpus": [{"memory_errors_uncorrected": 0} | gpu for gpu in gpus]}))
    log.write_text("\n".join([*lines, "DLPERF 2026-01-01T00:00:02.000000Z summary {}"]) + "\n")
    append_records(paths.journal, [Event("2026-01-01T00:00:03Z", "state", str(key), "succeeded")])
    return paths


def outliers(found: list[Fleet]) -> list[tuple[str, str, float]]:
    return [(item.place, fleet.metric, item.value) for fleet in found for item in fleet.outliers]


def test_a_gpu_that_is_slower_than_its_fleet_is_an_outlier(tmp_path: Path, catalog: Catalog):
    found = diagnosis_of(diagnosed(WorkspacePaths(tmp_path), catalog, PRODUCTS), BUILTIN_FORMATS)
    assert outliers(found) == [("fleet c GPU 0", "matrix_product", 640.0)]
    (disk,) = (fleet for fleet in found if fleet.metric == "disk_write")
    assert disk.of_nodes
    assert {item.place: item.value for item in disk.members} == {"fleet a": 1, "fleet b": 2, "fleet c": 3}


def test_a_faster_gpu_is_none_and_an_uncorrected_error_always_is(tmp_path: Path, catalog: Catalog):
    found = diagnosis_of(
        diagnosed(
            WorkspacePaths(tmp_path), catalog, (*PRODUCTS[:4], 760.0, 703.0), {3: {"memory_errors_uncorrected": 1}}
        ),
        BUILTIN_FORMATS,
    )
    assert outliers(found) == [("fleet b GPU 1", "memory_errors_uncorrected", 1.0)]


def test_driver_errors_are_compared_only_where_every_machine_could_read_them(tmp_path: Path, catalog: Catalog):
    told = {rank: {"driver_errors": [79, 79] if rank == 4 else []} for rank in range(6)}
    found = diagnosis_of(diagnosed(WorkspacePaths(tmp_path), catalog, (700.0,) * 6, told), BUILTIN_FORMATS)
    assert outliers(found) == [("fleet c GPU 0", "driver_errors", 2.0)]
    unread = diagnosed(WorkspacePaths(tmp_path), catalog, (700.0,) * 6, {1: {"driver_errors": None}})
    assert "driver_errors" not in {fleet.metric for fleet in diagnosis_of(unread, BUILTIN_FORMATS)}


def test_a_diagnosis_takes_all_of_a_machine_and_is_planned_only_where_it_is_named(catalog: Catalog):
    plan = plan_diagnosis(Selection(hardware=("fleet", "local"), repeats=1), catalog)
    assert [item.configuration.id for item in plan.configurations] == [
        "fleet_diagnosis_node-health_bf16_bs1_3n2g",
        "local_diagnosis_node-health_bf16_bs1_1n1g",
    ]
    everything = expand(Selection(hardware=("local",)), catalog).configurations
    assert "node-health" not in {item.configuration.case for item in everything}
    assert expand(Selection(hardware=("local",), cases=("node-health",)), catalog).configurations

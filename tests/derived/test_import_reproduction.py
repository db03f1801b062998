"""The figures of the public reports once more, by the long way: import, archive, measure, verify."""

from __future__ import annotations

import csv
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from dlperf.catalog.files.load import load_catalog
from dlperf.derived.import_writer import write_import
from dlperf.derived.importing import ImportRequest, plan_import
from dlperf.evidence.logs import BUILTIN_FORMATS
from dlperf.plan import PlannedProtocol
from dlperf.runs.paths import WorkspacePaths
from dlperf.table.load import load_results
from dlperf.verification.audit import audit_workspace, verdict_of
from dlperf.verification.verify import verify_campaign
from handmade_trials import workspace_in
from real_logs import LOGS, needs_real_logs

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "tests" / "data" / "reproduction.csv"

pytestmark = needs_real_logs


def rows_by_estimator() -> dict[str, list[dict[str, str]]]:
    found = defaultdict(list)
    with TABLE.open(newline="") as stream:
        for row in csv.DictReader(stream):
            if row["verdict"] == "exact":
                found[row["estimator"]].append(row)
    return found


def imported(
    workspace: WorkspacePaths, estimator: str, logs: list[Path], source: str | None = None
) -> dict[str, float]:
    """Figures by the name of the log, from a campaign in which ``estimator`` is the protocol."""
    protocol = PlannedProtocol(estimator, estimator=estimator)
    request = ImportRequest(tuple(logs), "v100", gpus_per_node=8, trusts_names=True, protocol=protocol, origin=source)
    plan = plan_import(request, load_catalog(), BUILTIN_FORMATS)
    assert plan.skipped == ()
    results = write_import(workspace, estimator, plan, BUILTIN_FORMATS)
    return {log.file.path.name: results[key].value or 0.0 for key, log in plan.trials.items()}


@pytest.mark.parametrize(("estimator", "rows"), rows_by_estimator().items(), ids=list(rows_by_estimator()))
def test_import_and_verify_reproduce_every_exact_figure(tmp_path: Path, estimator: str, rows: list[dict[str, str]]):
    workspace = workspace_in(tmp_path)
    values = imported(workspace, estimator, [LOGS / row["log"] for row in rows])
    verdicts = {row["log"]: verdict_of(row["published"], values[Path(row["log"]).name]).code for row in rows}
    assert verdicts == dict.fromkeys(verdicts, "exact")
    (campaign,) = workspace.campaigns()
    found = verify_campaign(campaign, BUILTIN_FORMATS)
    assert (found.figures, found.differences) == (len(rows), ())


def test_the_audit_of_imported_logs_finds_the_exact_figures_and_the_others(tmp_path: Path):
    workspace = workspace_in(tmp_path)
    shutil.copytree(ROOT / "runs" / "published", workspace.runs / "published", dirs_exist_ok=True)
    imported(workspace, "mean()", [LOGS / "perf" / "ResNet50V1.5"], "PaddlePaddle/Perf@e7a07c4")
    rows = [row for row in audit_workspace(workspace) if row.report == "perf-resnet50-2.5" and row.local_log]
    verdicts = {row.published: str(row.verdict) for row in rows}
    assert verdicts["3019.361"] == "exact"
    assert verdicts["1438.518"] == "-0.448 %"
    assert verdicts["10936.815"] == "+0.054 %"
    assert sum(row.verdict.code == "exact" for row in rows) == 17


def test_the_repeats_of_tensorflow_2_are_the_trials_of_their_configurations(tmp_path: Path):
    workspace = workspace_in(tmp_path)
    imported(workspace, "skipmean(1)", [LOGS / "dlperf" / "tensorflow2-resnet50"])
    one, eight = load_results(workspace)
    assert (one.n, eight.n) == (5, 5)
    assert (round(one.value or 0, 2), round(eight.value or 0, 2)) == (321.80, 2458.74)

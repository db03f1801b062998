"""Somebody else's logs become an ordinary campaign, or nothing at all."""

from __future__ import annotations

import gzip
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from import_requests import ids, paddle_log, request_for

from dlperf.app.model.results.table import ResultsView
from dlperf.catalog.files.load import Catalog
from dlperf.derived.import_writer import write_import
from dlperf.derived.importing import plan_import
from dlperf.errors import RequestError
from dlperf.evidence.log_table import read_log_table
from dlperf.evidence.logs import BUILTIN_FORMATS
from dlperf.evidence.names import NameFacts, parse_pattern
from dlperf.plan import PlannedProtocol
from dlperf.report.files.downloads import site_rows
from dlperf.report.load import load_site_data
from dlperf.runs.archive import TrialFiles
from dlperf.runs.journal import campaign_status
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import TrialRecord
from dlperf.runs.store import parse_record, read_campaign
from dlperf.table.database import results_database
from dlperf.table.load import load_results
from dlperf.table.rows import row_of_trial
from dlperf.verification.verify import verify_campaign
from handmade_trials import own_log

MEGATRON = (
    " [2025-01-01 10:00:{second:02}.0] iteration {step:8}/ 100 | consumed samples: {samples} | elapsed time per "
    "iteration (ms): 1000.0 | learning rate: 1.0E-06 | global batch size:    64 | lm loss: 1.1E+01 |\n"
)


def test_a_folder_as_perf_lays_it_out_becomes_a_campaign(workspace: WorkspacePaths, folder: Path, catalog: Catalog):
    (folder / "PaddleClas_ResNet50_bs256_fp32_DP_N1C1_log").write_text(paddle_log(394.0))
    (folder / "PaddleClas_ResNet50_bs256_fp32_DP_N1C8_log").write_text(paddle_log(380.0))
    protocol = PlannedProtocol("perf-paddle", estimator="tipc(skip=10)")
    plan = plan_import(request_for(folder, protocol=protocol), catalog, BUILTIN_FORMATS)
    write_import(workspace, "perf", plan, BUILTIN_FORMATS)
    one, eight = load_results(workspace)
    assert one.id == "v100_paddle_resnet50_fp32_bs256_1n1g"
    assert (one.value, eight.value) == (394.0, 8 * 380.0)
    assert eight.speedup == pytest.approx(8 * 380 / 394)
    assert (one.unit, one.protocol) == ("images/s", "perf-paddle")


def test_runs_of_one_configuration_are_its_trials_under_their_own_numbers(folder: Path, catalog: Catalog):
    for number in (1, 2, 5):
        file = folder / "1n2g" / f"lenet_b4_fp32_{number}.log"
        file.parent.mkdir(exist_ok=True)
        file.write_text(own_log(100.0 + number))
    plan = plan_import(request_for(folder), catalog, BUILTIN_FORMATS)
    assert ids(plan) == [f"v100_numpy_lenet5_fp32_bs4_1n2g/{number}" for number in (1, 2, 5)]
    assert plan.configurations[0].repeats == 3


def test_a_log_is_kept_byte_for_byte_and_sealed(workspace: WorkspacePaths, folder: Path, catalog: Catalog):
    plain, packed = folder / "a.log", folder / "b.log"
    plain.write_bytes(own_log(100.0).encode() + b"\0 \xff no line end")
    packed.write_bytes(gzip.compress(own_log(200.0).encode()))
    plan = plan_import(request_for(folder), catalog, BUILTIN_FORMATS)
    write_import(workspace, "a", plan, BUILTIN_FORMATS)
    first, second = (workspace.campaign("a").trial(key) for key in plan.trials)
    assert first.node("log").log.read_bytes() == plain.read_bytes()
    assert second.node("log").compressed_log.read_bytes() == packed.read_bytes()
    assert TrialFiles(first).problems() == TrialFiles(second).problems() == []
    record = parse_record(first.trial, TrialFiles(first).read(first.trial), TrialRecord)
    assert record.source == "logs/a.log"
    assert [trial.value for trial in load_results(workspace)[0].trials] == [pytest.approx(100), pytest.approx(200)]


def test_an_imported_campaign_says_that_nothing_was_launched_and_verifies(
    workspace: WorkspacePaths, folder: Path, catalog: Catalog
):
    (folder / "a.log").write_text(own_log(100.0))
    write_import(workspace, "a", plan_import(request_for(folder), catalog, BUILTIN_FORMATS), BUILTIN_FORMATS)
    campaign = workspace.campaign("a")
    (planned,) = read_campaign(campaign).configurations
    assert (planned.launch.imported, planned.launch.launcher, planned.launch.command) == (True, "", ())
    assert campaign_status(campaign).finished
    assert verify_campaign(campaign, BUILTIN_FORMATS).differences == ()


def test_imported_values_are_called_measured_nowhere(workspace: WorkspacePaths, folder: Path, catalog: Catalog):
    (folder / "a.log").write_text(paddle_log(394.0))
    facts = NameFacts(model="resnet50", framework="paddle", precision="fp32", batch_size=256, nodes=1, gpus=8)
    plan = plan_import(replace(request_for(folder / "a.log"), given=facts), catalog, BUILTIN_FORMATS)
    write_import(workspace, "theirs", plan, BUILTIN_FORMATS)
    (row,) = load_results(workspace)
    database = results_database(workspace, None)
    assert database.execute("SELECT origin, status FROM campaigns JOIN results").fetchall() == [
        ("imported", "imported")
    ]
    assert (str(row.status), str(row_of_trial(row, row.trials[0]).status)) == ("imported", "imported")
    assert "| imported · findings: " in ResultsView(rows=(row,)).as_markdown()
    assert [each.date for each in site_rows(load_site_data(workspace), [row])] == [""]


def test_an_id_of_the_catalogue_brings_its_facts(folder: Path, catalog: Catalog):
    (folder / "resnet50_gpu32_fp32_bs256.txt").write_text(paddle_log(340.0))
    request = replace(request_for(folder), hardware="perf-v100-4nodes")
    (planned,) = plan_import(request, catalog, BUILTIN_FORMATS).configurations
    assert planned.configuration.scale == "4n8g"
    assert planned.unit == "images/s"
    assert planned.accelerator is not None
    assert planned.gflops_per_sample == catalog.cases["resnet50"].gflops_per_sample


@pytest.mark.parametrize("hardware", ["h100", "lab-h100", "perf-a100", "lab"])
@pytest.mark.parametrize("precision", ["bf16", "bf16-pure"])
def test_what_no_accelerator_of_that_name_computes_is_said(
    workspace: WorkspacePaths, folder: Path, catalog: Catalog, hardware: str, precision: str
):
    """41,000 images/s of ResNet-50 on one GPU are 1005 TFLOP/s; an H100 has 989 at most."""
    (folder / "resnet50_b4.log").write_text(own_log(41_000.0, gpus=1))
    given = NameFacts("resnet50", "pytorch", precision, 4, 1)
    request = replace(request_for(folder), hardware=hardware, given=given)
    write_import(workspace, "fast", plan_import(request, catalog, BUILTIN_FORMATS), BUILTIN_FORMATS)
    (row,) = load_results(workspace)
    caveats = [str(finding.message) for finding in row.findings if finding.code == "above_flop_limit"]
    assert [text.partition(": ")[2] for text in caveats] == (
        [] if hardware == "lab" else ["the case is not what ran, or the GPU count is wrong"]
    )
    assert (row.value is None) == bool(caveats)


def test_several_runs_in_one_log_are_several_trials(workspace: WorkspacePaths, folder: Path, catalog: Catalog):
    (folder / "a.log").write_text(own_log(100.0, gpus=1) + own_log(790.0, gpus=8))
    plan = plan_import(request_for(folder), catalog, BUILTIN_FORMATS)
    write_import(workspace, "a", plan, BUILTIN_FORMATS)
    one, eight = load_results(workspace)
    assert (one.scale, one.value) == ("1n1g", pytest.approx(100.0))
    assert (eight.scale, eight.value) == ("1n8g", pytest.approx(790.0))


def test_a_run_that_lacks_a_fact_does_not_keep_the_others_of_its_log_out(folder: Path, catalog: Catalog):
    unknown = own_log(100.0, gpus=1).replace('"gpus": 1, ', "")
    (folder / "a.log").write_text(unknown + own_log(790.0, gpus=8))

    plan = plan_import(request_for(folder), catalog, BUILTIN_FORMATS)

    assert ids(plan) == ["v100_numpy_lenet5_fp32_bs4_1n8g/1"]
    assert [item.reason.partition(" (")[0] for item in plan.skipped] == ["run 1: not known: gpus"]


def test_what_cannot_be_imported_is_said_file_by_file(folder: Path, catalog: Catalog, tmp_path: Path):
    outside = tmp_path / "outside.log"
    outside.write_text(own_log(100.0))
    (folder / "link.log").symlink_to(outside)
    (folder / "links").symlink_to(tmp_path)
    (folder / "logs.tar.gz").write_bytes(b"\x1f\x8b")
    (folder / "README.md").write_text("# Results\n")
    (folder / "empty.log").touch()
    os.mkfifo(folder / "pipe")
    (folder / "x.log").write_text(paddle_log(100.0))
    (folder / "y.log.zst").write_bytes(b"\x28\xb5\x2f\xfd log")
    plan = plan_import(request_for(folder), catalog, BUILTIN_FORMATS)
    assert plan.trials == {}
    reasons = {Path(item.log).relative_to(folder).as_posix(): item.reason for item in plan.skipped}
    assert reasons.keys() == {"link.log", "logs.tar.gz", "README.md", "empty.log", "pipe", "x.log", "y.log.zst"}
    assert reasons["link.log"] == "a link: not followed"
    assert reasons["logs.tar.gz"] == "an archive: unpack it and name the folder"
    assert reasons["README.md"].startswith("no throughput record of any known format")
    assert reasons["y.log.zst"].startswith("a damaged packed file")
    assert reasons["x.log"].startswith("not known: case (give --case), precision (give --precision)")
    failures = {Path(item.log).name for item in plan.skipped if item.is_log}
    assert failures == {"x.log", "y.log.zst"}


def test_what_a_name_suggests_is_used_once_it_is_confirmed(folder: Path, catalog: Catalog):
    (folder / "PaddleClas_ResNet50_bs256_fp32_DP_N1C8_log").write_text(paddle_log(380.0))
    request = request_for(folder)

    (refused,) = plan_import(replace(request, trusts_names=False), catalog, BUILTIN_FORMATS).skipped

    assert refused.can_be_confirmed
    suggested = "GPUs 8, nodes 1, batch size 256, precision fp32"
    assert f"its name suggests {suggested}: confirm that with --names" in refused.reason
    assert ids(plan_import(request, catalog, BUILTIN_FORMATS)) == ["v100_paddle_resnet50_fp32_bs256_1n8g/1"]


def test_options_and_patterns_tell_what_a_log_does_not(folder: Path, catalog: Catalog):
    (folder / "64@2x4").mkdir()
    (folder / "64@2x4" / "x.log").write_text(paddle_log(100.0))
    given = NameFacts(model="my_model", precision="fp32")
    pattern = parse_pattern("{batch_size}@{nodes}x{gpus}/*")
    plan = plan_import(request_for(folder, given=given, pattern=pattern), catalog, BUILTIN_FORMATS)
    assert ids(plan) == ["v100_paddle_my-model_fp32_bs64_2n4g/1"]


def test_samples_of_a_language_model_become_tokens_by_their_length(
    workspace: WorkspacePaths, folder: Path, catalog: Catalog
):
    records = "".join(MEGATRON.format(second=step, step=step, samples=64 * step) for step in range(1, 60))
    settings = "using world size: 8\n  bf16 .......... True\n  seq_length .......... 1024\n"
    (folder / "one.log").write_text(settings + records)
    (folder / "without-length.log").write_text(settings.replace("seq", "other") + records)
    given = NameFacts(framework="pytorch", model="gpt2-124m")
    plan = plan_import(request_for(folder, given=given), catalog, BUILTIN_FORMATS)
    write_import(workspace, "a", plan, BUILTIN_FORMATS)

    (skipped,) = plan.skipped
    assert skipped.reason == (
        "the log counts samples/s, the case tokens/s, and neither the log nor the plan states a sequence length"
    )
    (row,) = load_results(workspace)
    assert (row.unit, row.value) == ("tokens/s", 64 * 1024)


def test_a_table_says_what_logs_do_not_and_its_source_is_in_the_results(
    workspace: WorkspacePaths, folder: Path, catalog: Catalog
):
    (folder / "a.log").write_text(paddle_log(394.0))
    (folder / "b.log").write_text(paddle_log(380.0))
    table = folder / "logs.csv"
    table.write_text(
        "log,model,framework,precision,batch_size,gpus,source,date\n"
        "a.log,resnet50,paddle,fp32,256,1,https://example.org/a,2026-01-31\n"
        "b.log,resnet50,paddle,amp,256,2n8g,https://example.org/b,2026-02\n"
    )
    request = replace(request_for(folder / "a.log", folder / "b.log", trusts_names=False), table=read_log_table(table))
    plan = plan_import(request, catalog, BUILTIN_FORMATS)
    assert ids(plan) == ["v100_paddle_resnet50_amp_bs256_2n8g/1", "v100_paddle_resnet50_fp32_bs256_1n1g/1"]
    write_import(workspace, "theirs", plan, BUILTIN_FORMATS)
    assert {(row.source, row.date) for row in load_results(workspace)} == {
        ("https://example.org/a", "2026-01-31"),
        ("https://example.org/b", "2026-02"),
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model\nresnet50\n", "it needs the column log"),
        ("log,gpus\nnone.log,8\n", ":2: there is no file"),
        ("log,gpus\na.log,many\n", ":2: gpus: "),
        ("log,batch_size\na.log,1.5\n", ":2: batch_size '1.5'"),
        ("log,date\na.log,31.1.2026\n", ":2: date '31.1.2026'"),
        ("log;gpus;date\na.log;8;2026-13\n", ":2: date '2026-13'"),
        ("log,date\na.log,2026-02-30\n", ":2: date '2026-02-30'"),
        ("log,gpus\na.log,8\na.log,16\n", ":3: "),
        ("log\na.log,8\n", ":2: a row needs a log, and no more cells"),
    ],
)
def test_a_mistake_in_a_table_is_one_line_with_its_place(folder: Path, text: str, words: str):
    (folder / "a.log").write_text(paddle_log(394.0))
    (folder / "logs.csv").write_text(text)
    with pytest.raises(RequestError, match=re.escape(words)):
        read_log_table(folder / "logs.csv")


def test_a_column_that_is_no_axis_of_the_case_is_said(folder: Path, catalog: Catalog):
    (folder / "a.log").write_text(paddle_log(394.0))
    (folder / "logs.csv").write_text(
        "log,model,framework,precision,batch_size,gpus,colour\na.log,resnet50,paddle,fp32,8,1,red\n"
    )
    request = replace(request_for(folder / "a.log"), table=read_log_table(folder / "logs.csv"))
    (skipped,) = plan_import(request, catalog, BUILTIN_FORMATS).skipped
    assert "has no axis colour" in skipped.reason
    assert skipped.is_log

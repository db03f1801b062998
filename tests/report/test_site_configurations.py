"""A configuration's section shows what its figure rests on."""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from html_text import Document
from site_rows import first_trial, measured, published
from site_sample import sample

from dlperf.catalog.files.load import BUILTIN_PROGRAMS, load_catalog
from dlperf.derived.health import Fleet, Measurement
from dlperf.derived.timeline import LogLines, Timeline
from dlperf.messages import CHINESE, ENGLISH, quoted
from dlperf.messages.finding import Finding
from dlperf.plan import PlannedAccelerator, TrialKey
from dlperf.report.build import _write_group
from dlperf.report.data import SiteData
from dlperf.report.evidence import EvidenceReader, HashedFile, TrialEvidence
from dlperf.report.files.downloads import Download
from dlperf.report.pages.results.configurations import configurations
from dlperf.report.site import locations as at
from dlperf.report.site.writing import Sources
from dlperf.runs.archive import keep_sent, seal
from dlperf.runs.paths import WorkspacePaths
from dlperf.table.model import ConfigurationResult, MetricResult


def test_a_configuration_shows_what_its_figure_rests_on() -> None:
    row = measured("alpha")
    data = replace(sample(), results=(row,))
    group = at.group_of(row)
    lines = LogLines(("step 21 <401>",), 98, ("step 120 403",), first_line=21)
    evidence = {
        first_trial(row): TrialEvidence("n1", "exec a && b", {"os": "Linux"}, timeline=Timeline(log_lines=lines))
    }
    text = configurations(ENGLISH, data, group, (row,), evidence)
    for part in (
        "window(20,120)",
        "exec a &amp;&amp; b",
        "<td>System</td> <td>Linux</td>",
        "Log lines behind this result",
    ):
        assert part in text


def test_other_estimators_are_compared_with_the_result_by_the_medians_of_the_trials() -> None:
    row = replace(measured("alpha"), value=400.0)
    rates = {1: 404.0, 2: 398.0, 3: 402.0}
    trials = [replace(row.trials[0], number=number, estimates={"mean()": rate}) for number, rate in rates.items()]
    failed = replace(row.trials[0], number=4, state="failed", value=None, estimates={"mean()": 1.0})
    row = replace(row, trials=(*trials, failed))
    text = configurations(ENGLISH, replace(sample(), results=(row,)), at.group_of(row), (row,), {})
    assert "<tr><td><code>mean()</code></td> <td>402</td> <td>+0.5 %</td> </tr>" in unescape(text)


def test_a_third_party_result_shows_how_it_compares_with_its_raw_log() -> None:
    data = sample()
    (checked, *_) = data.audit
    row = replace(published("paddle", 1, 393.561), printed=checked.published, batch_size=checked.batch_size)
    text = configurations(ENGLISH, data, at.group_of(row), (row,), {})
    assert re.search(r'<td>Verdict</td> <td><a href="[./]*audit\.html#report-perf">exact</a></td>', text)
    assert "dlperf verify published --logs owner/repository@commit:FOLDER" in Document(text).text
    assert "FOLDER is a local copy of that repository" in text
    assert "MACHINE is a machine of your catalogue" not in text  # nothing in the catalogue runs it
    assert "Its source names no raw log." in configurations(
        ENGLISH, data, at.group_of(row), (replace(row, printed="1", value=1.0),), {}
    )


def test_an_mfu_stands_with_the_calculation_that_gives_it() -> None:
    row, data = measured("alpha", value=400.0, mfu=0.048), sample()
    planned = replace(
        data.plan(row), gflops_per_sample=12.0, accelerator=PlannedAccelerator(peak_tflops={"fp32": 100.0})
    )
    record = replace(data.campaigns["first"], configurations=(planned,))
    text = configurations(ENGLISH, replace(data, campaigns={"first": record}), at.group_of(row), (row,), {})
    assert "MFU: 12 GFLOP × 400 images/s ÷ (1 GPU × 100 TFLOP/s dense peak) = 4.8 %" in text


@pytest.mark.parametrize("row", [measured("alpha", 8, 3100.0), published("paddle", 8, 3100.0)], ids=["ours", "others"])
def test_a_result_of_several_gpus_has_its_throughput_per_gpu(row: ConfigurationResult) -> None:
    text = configurations(ENGLISH, sample(), at.group_of(row), (row,), {})
    assert "<dt>Throughput per GPU</dt> <dd>387.5</dd>" in text
    alone = replace(row, gpus=1)
    assert "<dt>Throughput per GPU</dt>" not in configurations(ENGLISH, sample(), at.group_of(alone), (alone,), {})


def test_a_file_that_was_redacted_is_said_to_have_another_hash() -> None:
    row = measured("alpha", trials=1)
    group, key = at.group_of(row), first_trial(row)
    for redacted in (True, False):
        script = Download("launch.sh", "data/files/0a.launch.sh.txt", "0a" * 32, redacted)
        text = configurations(ENGLISH, sample(), group, (row,), {key: TrialEvidence(downloads=(script,))})
        assert ("Redacted, so that the published copy has another hash: launch.sh." in text) is redacted


def test_programs_that_changed_since_they_ran_are_named() -> None:
    row = measured("alpha", trials=1)
    shipped = sha256((BUILTIN_PROGRAMS / "common" / "options.py").read_bytes()).hexdigest()
    ran = {"options.py": shipped, "jax_llm.py": "0a" * 32, "own.py": "0b" * 32}
    programs = tuple(Download(name, f"data/files/{name}.txt", digest) for name, digest in ran.items())
    found = {first_trial(row): TrialEvidence(programs=programs)}
    text = configurations(ENGLISH, sample(), at.group_of(row), (row,), found)
    assert "Changed since, in the dlperf that built this page: jax_llm.py." in unescape(text)


def test_a_configuration_shows_versions_types_and_the_subtraction_behind_its_value() -> None:
    row = measured("alpha", trials=1)
    value = 256 * 100 / 64.0
    seen = {"first_step": 20, "last_step": 120, "window_seconds": 64.0, "numerics": {"weights": "fp32"}}
    row = replace(row, value=value, trials=(replace(row.trials[0], value=value, **seen),))
    packages = {"os": "Linux", "packages.1": "torch==2.11.0", "packages.2": "gpytorch==1"}
    lock = HashedFile("stack.lock", "0a" * 32, b"absl-py==2 \\\ntorchtitan==0.2.2 \\\n")
    program = Download("own.py", "data/files/own.py.txt", "0b" * 32)
    found = TrialEvidence(environment=packages, sent=(lock,), programs=(program,))
    text = configurations(ENGLISH, sample(), at.group_of(row), (row,), {first_trial(row): found})
    said = " ".join(Document(text).text.split())
    assert "Trial 1: (step 120 − step 20) × 256 per step ÷ 64.000 s = 400 images/s" in said
    assert "read from the log of the trial (its line “numerics”): Weights fp32." in said
    assert "own.py (0b0b0b0b0b0b)" in said
    assert "torch 2.11.0 torchtitan 0.2.2 (stack.lock)" in said, said[said.index("Environment") :]


def test_a_configuration_names_the_libraries_that_its_programs_loaded() -> None:
    row = measured("alpha", trials=1)
    loaded = replace(row.trials[0], conditions={"libraries.nccl": "2.28.9", "libraries.odd": "1"})
    text = configurations(ENGLISH, sample(), at.group_of(row), (replace(row, trials=(loaded,)),), {})
    assert "<td>NCCL (loaded)</td> <td>2.28.9</td>" in text
    assert "<td>libraries.odd</td> <td>1</td>" in text


def test_a_configuration_shows_its_other_metrics_with_their_units() -> None:
    others = MetricResult("step_time", 0.125, "s", "lower", spread=0.01), MetricResult("auc", 0.75, "")
    row = replace(measured("alpha"), metrics=(MetricResult("throughput", 400.0, "images/s"), *others))
    data = replace(sample(), results=(row,), metrics=load_catalog().metrics)
    text = configurations(CHINESE, data, at.group_of(row), (row,), {})
    assert "其他指标" in text
    assert re.search(r"单步时间.*0\.125.*\bs\b.*1\.0 %", text)
    assert re.search(r"auc.*0\.75", text)


def test_a_throughput_of_the_whole_run_is_told_from_that_of_the_measured_steps() -> None:
    row = replace(measured("alpha"), pauses="with", metrics=(MetricResult("throughput", 400.0, "images/s"),))
    data = replace(sample(), metrics=load_catalog().metrics)
    for others, told in (((), False), ((MetricResult("goodput", 410.0, "images/s"),), True)):
        one = replace(row, metrics=(*row.metrics, *others))
        text = configurations(ENGLISH, replace(data, results=(one,)), at.group_of(one), (one,), {})
        assert ("Whole run with pauses" in text) is told
        assert ("the result above is of the steps that the protocol measures" in text) is told


def test_repeats_that_a_campaign_planned_are_told_from_those_of_its_protocol() -> None:
    row, data = measured("alpha"), sample()
    protocol = data.protocols["dlperf-v1"].model_copy(update={"repeats": 7})
    other = replace(data, results=(row,), protocols={"dlperf-v1": protocol})
    said = "Repeats planned for this campaign, in place of the protocol's 7: 5"
    assert said in configurations(ENGLISH, other, at.group_of(row), (row,), {})
    assert "in place of" not in configurations(ENGLISH, replace(data, results=(row,)), at.group_of(row), (row,), {})


def test_a_cost_stands_with_its_price_source_and_date() -> None:
    cost = MetricResult(
        "cost_per_million", 31.25, "EUR/million images", "lower", basis="3.6 EUR/GPU-hour (x, 2026-11-01)"
    )
    row = replace(measured("alpha"), metrics=(MetricResult("throughput", 400.0, "images/s"), cost))
    data = replace(sample(), results=(row,), metrics=load_catalog().metrics)
    text = configurations(CHINESE, data, at.group_of(row), (row,), {})
    assert re.search(r"每百万样本成本：3\.6 EUR/GPU-hour \(x, 2026-11-01\).*31\.25.*EUR/million images", text)


def test_of_a_published_trial_nothing_is_told_that_its_source_does_not_give() -> None:
    data = sample()
    group = next(group for group in data.groups if group.campaign == "published/plsc")
    row = replace(data.groups[group][0], source="owner/repository@0123abc(a_branch):logs/README.md")
    text = configurations(CHINESE, data, group, (row,), {})
    assert "状态为已公布" in text
    assert "采样数" not in text
    assert "未保存日志" not in text
    assert 'href="https://github.com/owner/repository/blob/0123abc/logs/README.md"' in text


def test_a_configuration_gives_the_commands_that_measure_and_recompute_it_again() -> None:
    row = measured("alpha", 8)
    text = Document(configurations(ENGLISH, sample(), at.group_of(row), (row,), {})).text
    assert "dlperf reproduce first/box_alpha_resnet50-imagenet_fp32_bs256_1n8g -H MACHINE" in text
    assert "dlperf verify first" in text


def test_a_result_is_cited_and_disputed_with_its_address() -> None:
    row = measured("alpha")
    data = replace(sample(), results=(row,), address="https://example.org/", repository="https://github.com/a/b")
    page = Document(configurations(ENGLISH, data, at.group_of(row), (row,), {}))
    address = f"https://example.org/{at.configuration_page(row).replace('.md', '.html')}"
    assert f"url = {{{address}}}" in page.text
    assert re.search(r"@misc\{dlperf-2026-[0-9a-f]{8},", page.text)
    assert "date = {2026-01-02}" in page.text
    assert "dlperf, 2026-01-02. first" in page.text
    issue = next(link for link in page.links if link.startswith("https://github.com/a/b/issues/new?"))
    fields = parse_qs(urlsplit(issue).query)
    assert fields["title"] == [f"Disputed result: first/{row.id}"]
    assert address in fields["body"][0]
    assert "400.123456" in fields["body"][0]


@pytest.mark.parametrize(
    ("contact", "said"),
    [("", "This site states no contact."), ("https://example.org/ask", "Send this to https://example.org/ask:")],
)
def test_a_dispute_is_a_text_to_send_where_no_repository_is_known(contact: str, said: str) -> None:
    row = measured("alpha")
    data = replace(sample(), results=(row,), contact=contact)
    text = Document(configurations(ENGLISH, data, at.group_of(row), (row,), {})).text
    assert said in text
    assert "Value: 400.123456" in text


def test_a_dispute_is_a_mail_where_the_site_states_an_address_for_it() -> None:
    row = measured("alpha")
    data = replace(sample(), results=(row,), contact="bench@example.org")
    page = Document(configurations(ENGLISH, data, at.group_of(row), (row,), {}))
    mail = urlsplit(next(link for link in page.links if link.startswith("mailto:")))
    assert mail.path == "bench@example.org"
    assert "400.123456" in parse_qs(mail.query)["body"][0]


def test_a_page_begins_with_results_and_ends_with_what_they_were_measured_on() -> None:
    row = measured("alpha")
    evidence = {first_trial(row): TrialEvidence("n1", environment={"os": "Linux"})}
    text = configurations(ENGLISH, replace(sample(), results=(row,)), at.group_of(row), (row,), evidence)
    places = [text.index(part) for part in ("400.1</strong>", "### Evidence {", "@misc", "{ #environment }")]
    assert places == sorted(places)


def test_the_training_program_is_offered_as_it_was_sent(tmp_path: Path) -> None:
    row, program = measured("alpha", trials=1), b"print('step=1')\n"
    workspace = WorkspacePaths(tmp_path)
    paths = workspace.campaign("first").trial(TrialKey(row.id, 1))
    keep_sent(paths, {"n1/files/train.py": program, "n1/launch.sh": b"exec python3 train.py"})
    paths.node("n1").log.parent.mkdir(parents=True)
    paths.node("n1").log.write_text("step=1\n")
    seal(paths)
    data, sources = replace(sample(), results=(row,)), Sources(tmp_path / "site")
    _write_group(at.group_of(row), (row,), sources, data, EvidenceReader(workspace))
    offered = at.file_download(sha256(program).hexdigest(), "train.py")
    assert (tmp_path / "site" / offered).read_bytes() == program
    assert offered.endswith(".py.txt")
    page = (tmp_path / "site/docs" / at.group_page(at.group_of(row))).read_text()
    assert f'{offered}">train.py</a>' in page


def test_findings_of_trials_stand_with_their_number() -> None:
    row = measured("alpha", trials=2)
    finding = Finding(quoted("the speed falls"))
    row = replace(row, trials=(row.trials[0], replace(row.trials[1], findings=(finding,))), findings=(finding,))
    text = configurations(ENGLISH, replace(sample(), results=(row,)), at.group_of(row), (row,), {})
    assert Document(text).text.count("the speed falls") == 1
    assert "<strong>warning</strong>: Trial 2: the speed falls" in text


def test_each_of_two_figures_of_one_configuration_has_an_address_of_its_own() -> None:
    rows = (published("mxnet", 32, 11233.92), published("mxnet", 32, 11331.93, variant=2))
    data = SiteData(rows)
    first, second = map(at.configuration_page, data.ordered)
    assert second == f"{first}-2"
    text = configurations(ENGLISH, data, at.group_of(rows[0]), rows, {})
    assert f"{{ #{at.configuration_anchor(rows[1])} }}" in text


def test_what_is_the_same_in_all_trials_is_said_once() -> None:
    finding = Finding(quoted("the log is cut"))
    row = measured("alpha", trials=3)
    row = replace(row, trials=tuple(replace(trial, findings=(finding,)) for trial in row.trials))
    text = configurations(ENGLISH, replace(sample(), results=(row,)), at.group_of(row), (row,), {})
    assert Document(text).text.count("the log is cut") == 1
    assert "Trial 1, 2, 3: the log is cut" in text
    assert "The same in all trials: State succeeded, " in text
    assert "<th>Samples</th>" not in text


def test_a_diagnosis_shows_machines_beside_their_fleet(tmp_path: Path) -> None:
    row = replace(measured("alpha"), case="node-health")
    data = replace(sample(), results=(row,), metrics=load_catalog().metrics)
    slow, *others = (Measurement("box", f"n{value}", 0, value, value < 700) for value in (640, 700, 701, 702, 703))
    fleet = Fleet("h200 bf16 1n1g", "matrix_product", "TFLOP/s/GPU", (slow, *others))
    text = Document(configurations(CHINESE, data, at.group_of(row), (row,), {}, fleets=[fleet])).text
    for part in ("这台机器正常吗", "矩阵乘", "701", "box n640 GPU 0 (640)"):
        assert part in text

"""The guide's pages are typed as a reader would type them: what they show works, in both languages."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from dlperf.cli import main
from guide_pages import BLOCK, FILE, GUIDE, ROOT, commands, shown, type_page, typed

__all__ = ["typed"]

CHINESE = ROOT / "site" / "docs" / "zh" / "guide"
PAGES = sorted(path.name for path in GUIDE.glob("*.md"))


def test_a_program_of_ones_own_is_measured_as_the_guide_says(typed, tmp_path):
    type_page(typed, tmp_path, GUIDE / "programs.md")
    assert [row["n"] for row in json.loads(typed("dlperf results --campaign hello --json"))] == [1, 1]
    (row,) = json.loads(typed("dlperf results --campaign first --json"))
    assert row["status"] == "measured"
    assert row["n"] == 2
    of_a_busy_machine = {"trial_spread", "drift", "printed_rate", "end_stall", "pauses"}  # the program sleeps
    assert {finding["code"] for finding in row["findings"]} <= {*of_a_busy_machine, "declared_not_logged"}
    assert 0 < row["value"] < 32 / 0.02
    assert (tmp_path / "bench" / "site" / "html" / "results" / "frameworks" / "my-stack.html").is_file()


@pytest.mark.parametrize("page", PAGES)
def test_the_chinese_page_shows_the_same_commands_and_files(page):
    assert shown(CHINESE / page) == shown(GUIDE / page)


@pytest.mark.parametrize("page", ["about.md", *(f"guide/{name}" for name in PAGES)])
def test_no_line_of_a_chinese_page_ends_where_a_browser_would_show_a_space(page):
    """A browser shows a space for the end of a line, which Chinese does not have between its characters."""
    text = BLOCK.sub("", (CHINESE.parent / page).read_text())
    after_a_sign = r".*[\u3000-\u303f\uff00-\uffef]\n(?! *[-|#{]) *\S.*"
    assert re.findall(after_a_sign + r"|.*[\u4e00-\u9fff]\n *[\u4e00-\u9fff].*", text) == []


@pytest.mark.parametrize("page", PAGES)
def test_a_command_or_an_option_that_a_page_names_exists(page, capsys):
    text = (GUIDE / page).read_text()
    lines = [line for block in shown(GUIDE / page) for line in block.splitlines()] + re.findall(r"`([^`\n]+)`", text)
    for line in lines:
        found = re.match(r"(?:- run: )?dlperf (baseline [a-z]+|[a-z][a-z-]*)", line)
        if found is None:
            continue
        with pytest.raises(SystemExit) as leaving:
            main([*found[1].split(), "--help"])
        assert leaving.value.code == 0, line
        helped = capsys.readouterr().out
        for option in re.findall(r"(?<!\S)(--?[A-Za-z][a-z-]*)", line.partition(" && ")[0]):
            assert option in helped, f"{option} of {line}"


def test_regressions_fail_as_the_page_on_ci_says(typed, tmp_path, monkeypatch):
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "a")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
    first, *others = commands(GUIDE / "ci.md")
    typed(first)
    ((path, text),) = FILE.findall((GUIDE / "ci.md").read_text())
    (tmp_path / "project" / path).write_text(text)
    said = {line: typed(line) for line in others}
    assert "same: +0.00 %" in said["dlperf run --gate main --ci verdict"]
    assert "worse: -50.00 % (-" in next(text for line, text in said.items() if " ab " in line)
    assert (tmp_path / "project" / "bench" / "verdict" / "junit.xml").is_file()


def test_every_selection_of_the_page_on_language_models_can_run(typed, tmp_path):
    page = GUIDE / "llm.md"
    typed("dlperf init bench && cd bench")
    ((path, text),) = FILE.findall(page.read_text())
    machine = tmp_path / "bench" / path
    machine.parent.mkdir(parents=True, exist_ok=True)
    machine.write_text(text)
    selections = [line.partition(" --name")[0].split(" ", 2)[2] for line in commands(page) if " -p " in line]
    assert len(selections) == 6
    for selection in selections:
        plan = json.loads(typed(f"dlperf plan {selection} --json"))
        assert plan["configurations"]
        assert not plan["impossible"]


@pytest.fixture
def stacks(typed, tmp_path):
    """The page on training stacks, its machine entered: types those of its commands that begin so."""
    page = GUIDE / "stacks.md"
    first, *lines = commands(page)
    typed(first)
    ((path, text),) = FILE.findall(page.read_text())
    hardware = tmp_path / "bench" / path
    hardware.parent.mkdir(parents=True, exist_ok=True)
    hardware.write_text(text)
    return lambda *begins: {line: typed(line) for line in lines if line.startswith(begins)}


def test_training_stacks_are_planned_as_the_guide_says(stacks):
    planned = list(stacks("dlperf plan").values())
    assert [text.count("dlperf-") for text in planned] == [17, 4, 1, 1, 4, 2, 1, 1]
    assert "take 128 GB on each of 1 GPU(s), which have 80 GB" in planned[0]
    assert not any("impossible" in text for text in planned[1:])


@pytest.mark.timeout(1200)
def test_training_stacks_run_on_a_cpu_as_the_guide_says(stacks, typed, tmp_path):
    python = os.environ.get("DLPERF_TRANSFORMERS_PYTHON")
    if not python:
        pytest.skip("set DLPERF_TRANSFORMERS_PYTHON to a Python with PyTorch, transformers, Accelerate and pip")
    local = typed("dlperf catalog show local")
    environment = f"prologue: ['export PATH={Path(python).parent}:$PATH OMP_NUM_THREADS=1']"
    (tmp_path / "bench" / "catalog" / "hardware" / "local.yaml").write_text(f"{local}\n{environment}\n")
    said = stacks("dlperf check", "dlperf run", "dlperf results")
    assert "finds huggingface.lock" in next(iter(said.values()))
    assert "measured" in said["dlperf results --campaign tiny"]
    rows = json.loads(typed("dlperf results --campaign tiny --json"))
    assert [row["framework"] for row in rows] == ["huggingface", "lightning"]
    assert all(row["value"] > 0 for row in rows)


def test_a_diagnosis_and_profiles_are_planned_as_the_guide_says(typed, tmp_path):
    page = GUIDE / "machines.md"
    ((path, text),) = FILE.findall(page.read_text())
    typed(commands(page)[0])
    (tmp_path / "bench" / path).write_text(text)
    diagnosed, profiled, rendered = [typed(line) for line in commands(page)[1:]]
    assert "node-health" in diagnosed
    assert "under a profiler" in profiled
    assert "nsys profile --output " in rendered


def test_the_stacks_of_a_public_report_are_planned_on_a_machine_of_ones_own(typed, tmp_path):
    typed("dlperf init bench && cd bench")
    mine = tmp_path / "bench" / "catalog" / "hardware" / "mine.yaml"
    shown_machine = typed("dlperf catalog show perf-v100")
    mine.write_text(shown_machine.replace("id: perf-v100", "id: mine").replace("example: true\n", ""))
    lines = [line for block in shown(GUIDE / "reproducing.md") for line in block.splitlines() if " -H mine " in line]
    selections = [
        line.split(" ", 2)[2].removesuffix(" --render") for line in lines if not line.startswith("dlperf check")
    ]
    assert len(selections) == 5
    for selection in selections:
        plan = json.loads(typed(f"dlperf plan {selection} --json"))
        assert plan["configurations"]
        assert not plan["impossible"]


def test_logs_of_megatron_and_torchtitan_become_reports_as_the_guide_says(typed, tmp_path, monkeypatch):
    monkeypatch.setattr("dlperf.report.build.build_html", lambda *_: "")  # MkDocs takes seconds and is tested elsewhere
    typed("dlperf init bench && cd bench")
    for name, log in (("megatron", "with-times.log"), ("torchtitan", "colours.log")):
        folder = tmp_path / "bench" / "logs" / name
        folder.mkdir(parents=True)
        shutil.copy(ROOT / "tests" / "data" / "formats" / name / log, folder)
    for command in commands(GUIDE / "logs.md"):
        typed(command)
    found = {row["campaign"]: row for row in json.loads(typed("dlperf results --json"))}
    values = {name: (row["value"], row["batch_size"], row["axes"]["sequence_length"]) for name, row in found.items()}
    # 64 sequences of 4096 tokens in 4 s; 8 GPUs × 8192 tokens/s
    assert values == {"megatron": (65536.0, 4, 4096), "torchtitan": (65536.0, 2, 2048)}
    for name in values:
        page = tmp_path / "bench" / "site" / "build" / "docs" / "results" / "reports" / name / "llama3-8b.md"
        assert "65536" in page.read_text()


def test_the_page_on_python_runs_as_it_stands(typed, tmp_path, monkeypatch, capsys):
    page = GUIDE / "python.md"
    typed(*commands(page))
    for path, text in FILE.findall(page.read_text()):
        (tmp_path / "bench" / path).write_text(text)
    monkeypatch.chdir(tmp_path)
    exec("\n".join(text for language, text in BLOCK.findall(page.read_text()) if language == "python"), {})
    said = capsys.readouterr().out
    assert "2 configurations, 4 trials" in said
    assert "batch_size 16 against 8; " in said
    assert "unknown hardware 'locl': did you mean local?" in said


def test_the_scripts_of_a_container_and_of_two_nodes_have_the_lines_that_the_page_shows(typed, tmp_path):
    page = GUIDE / "nodes.md"
    in_container, on_two_nodes = type_page(typed, tmp_path, page)
    started, excerpt = (text for text in shown(page) if text.startswith(("docker run", "=== a:")))
    assert started.strip() in in_container
    assert [line for line in excerpt.splitlines() if line not in on_two_nodes] == []


ECHO = """
cases:
  - {id: c, title: C, model: c, dataset: none, unit: samples/s, protocol: printed,
     precisions: [fp32], batch_sizes: [8], scales: [1n1g]}
formats:
  - {id: echo, title: Echo, unit: samples/s, scope: global, window: run,
     detect: speed, record: 'speed (?P<value>\\S+)'}
frameworks:
""" + "".join(
    f"  - {{id: {name}, title: {name}, version: '1', format: echo, devices: [cpu], "
    "recipes: [{case: c, precisions: [fp32], interpreter: [], command: [echo, 'speed {batch_size}']}]}\n"
    for name in ("my-stack", "jax", "pytorch")
)
MACHINES = "".join(
    f"- {{id: {name}, title: {name}, nodes: [{{name: a, transport: local}}]}}\n" for name in ("my-v100", "my-a100")
)


def test_campaigns_machines_and_frameworks_are_compared_as_the_page_on_publishing_says(typed, tmp_path):
    typed("dlperf init bench && cd bench")
    (tmp_path / "bench" / "catalog" / "echo.yaml").write_text(ECHO)
    (tmp_path / "bench" / "catalog" / "hardware.yaml").write_text(MACHINES)
    typed("dlperf run -H my-v100 -f my-stack -c c --repeats 5 --name week-47 --yes")
    run, compare, *others = [
        line
        for block in shown(GUIDE / "publishing.md")
        for line in block.splitlines()
        if line.startswith(("dlperf run", "dlperf compare"))
    ]
    typed(f"{run} -c c --repeats 5")
    assert "1.000" in typed(compare)
    typed("dlperf run -H my-v100,my-a100 -f jax,pytorch -c c --repeats 1 --name more --yes")
    for line in others:
        assert "cannot tell" in typed(line.replace("week-48", "more") + "  # ends with 4")


def test_what_the_page_on_secrets_states_is_replaced_in_scripts(typed, tmp_path):
    typed("dlperf init bench && cd bench")
    stated, _ = shown(GUIDE / "secrets.md")
    machine = "id: mine\ntitle: Mine\nnodes: [{name: a, transport: local}]\n"
    (tmp_path / "bench" / "catalog" / "hardware" / "mine.yaml").write_text(machine + stated)
    script = typed("dlperf plan -H mine -f numpy -c lenet5 -b 64 --render")
    assert "export HF_TOKEN='[secret:HF_TOKEN]'" in script
    assert "export SITE_CODE='[secret:SITE_CODE]'" in script

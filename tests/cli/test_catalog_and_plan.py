"""``dlperf catalog`` and ``dlperf plan`` as an operator sees them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

CATALOG = Path(__file__).parents[1] / "data" / "catalog"


@pytest.fixture
def workspace(tmp_path):
    """A workspace with a catalogue of its own around the current folder."""
    (tmp_path / "mkdocs.yml").touch()
    (tmp_path / "runs").mkdir()
    shutil.copytree(CATALOG, tmp_path / "catalog")
    return tmp_path


@pytest.mark.parametrize("kind", ["hardware", "frameworks", "cases", "protocols", "formats", "accelerators"])
def test_every_kind_is_listed_as_table_and_as_json(dlperf, kind):
    code, out, _ = dlperf("catalog", kind)
    assert code == 0
    assert out.startswith("id ")
    code, out, _ = dlperf("catalog", kind, "--json")
    assert code == 0
    listed = [entry["id"] for entry in json.loads(out)]
    assert len(listed) == len(set(listed))


def test_the_whole_catalogue_is_one_json_document(dlperf):
    code, out, err = dlperf("catalog", "--json")
    document = json.loads(out)
    assert (code, err) == (0, "")
    kinds = {"hardware", "frameworks", "cases", "metrics", "protocols", "formats", "accelerators"}
    assert kinds == document.keys()
    assert "numpy" in [entry["id"] for entry in document["frameworks"]]


def test_what_show_prints_can_be_copied_into_a_catalogue(dlperf, workspace):
    code, out, _ = dlperf("catalog", "show", "perf-v100-4nodes")
    assert code == 0
    assert out.startswith("# hardware\n")
    copy = yaml.safe_load(out) | {"id": "mine"}
    (workspace / "catalog" / "hardware.yaml").write_text(yaml.safe_dump([copy]))
    assert "mine" in dlperf("catalog", "hardware")[1]
    assert json.loads(dlperf("catalog", "show", "perf-v100-4nodes", "--json")[1]) == {"hardware": yaml.safe_load(out)}


def test_log_formats_that_are_code_are_listed_and_shown_beside_those_that_are_entries(dlperf):
    _, out, _ = dlperf("catalog", "formats")
    assert {"dlperf", "dllogger", "plsc"} <= {line.split()[0] for line in out.splitlines()}
    code, out, _ = dlperf("catalog", "show", "dllogger")
    assert (code, out.splitlines()[1]) == (0, "id: dllogger")


def test_an_unknown_id_names_the_near_ones(dlperf):
    code, out, err = dlperf("catalog", "show", "lenet")
    assert (code, out) == (2, "")
    assert err.startswith("dlperf: unknown id 'lenet': did you mean lenet5 ")


def test_a_sound_catalogue_is_said_to_be_in_order(dlperf, workspace):
    code, out, err = dlperf("catalog", "check")
    assert (code, out) == (0, "")
    assert err.startswith("the catalogue is valid: ")


def test_every_mistake_is_one_line_on_stderr(dlperf, workspace):
    (workspace / "catalog" / "cases.yaml").write_text("- id: A\n- id: b\n  titel: B\n")
    code, out, err = dlperf("catalog", "check")
    lines = err.splitlines()
    assert (code, out) == (2, "")
    assert len(lines) > 5
    assert all(line.startswith(f"dlperf: {workspace}/catalog/") for line in lines)
    assert f"dlperf: {workspace}/catalog/cases.yaml:3: titel: unknown field (did you mean title?)" in lines


def test_a_workspace_that_is_named_must_be_one(dlperf, tmp_path):
    code, _, err = dlperf("--workspace", str(tmp_path), "catalog")
    assert code == 2
    assert "no workspace at or above" in err


def test_a_plan_lists_configurations_and_counts_trials(dlperf):
    code, out, err = dlperf("plan", "-H", "local", "-f", "numpy", "-b", "32,64", "-b", "128", "--repeats", "2")
    rows = out.splitlines()
    assert code == 0
    assert rows[0].split() == [
        "hardware",
        "framework",
        "case",
        "precision",
        "batch",
        "GPUs",
        "protocol",
        "repeats",
        "note",
    ]
    assert [row.split()[4] for row in rows[1:]] == ["32", "64", "128"]
    assert err == "3 configurations, 6 trials\n"


def test_the_impossible_is_grouped_by_reason(dlperf):
    code, out, err = dlperf("plan", "-H", "local", "-f", "numpy", "-c", "lenet5", "-p", "fp32,amp", "-b", "32,64")
    assert code == 0
    assert err == "2 configurations, 16 trials; 2 impossible\n"
    assert out.splitlines()[-1].split(None, 2) == [
        "2",
        "local_numpy_lenet5_amp_bs32_1n1g",
        "numpy offers lenet5 in fp32, not in amp",
    ]


def test_a_selection_of_the_impossible_alone_is_a_wrong_request(dlperf):
    code, out, err = dlperf("plan", "-H", "local", "-f", "plsc", "-c", "arcface")
    assert code == 2
    assert "plsc computes on gpu, local is a cpu machine" in out
    assert err.splitlines()[-1] == "dlperf: nothing can run: 1 configuration requested, none possible"


def test_a_plan_as_json_says_everything(dlperf):
    code, out, err = dlperf("plan", "-H", "local", "-f", "numpy", "-b", "32", "--json", "--render")
    document = json.loads(out)
    assert (code, err) == (0, "")
    (item,) = document["configurations"]
    assert item["id"] == "local_numpy_lenet5_fp32_bs32_1n1g"
    assert item["launch"]["command"][0] == "{files}/lenet_numpy.py"
    assert item["rendered"]["local"]["files"]["launch.sh"].startswith("#!/bin/sh\n")
    assert document["trials"][0] == "local_numpy_lenet5_fp32_bs32_1n1g/1"


def test_the_scripts_are_printed_per_configuration_and_node(dlperf, workspace):
    code, out, _ = dlperf("plan", "-H", "two-boxes", "-f", "with-torchrun", "-g", "2n2g", "--render")
    assert code == 0
    assert out.startswith("##### two-boxes_with-torchrun_tiny_fp32_bs4_2n2g\n=== first: launch.sh is started\n")
    assert "--node-rank 1" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-b", "x"], "--batch-size x: not an integer"),
        (["-b", "²"], "--batch-size ²: not an integer"),
        (["-H", "local,,"], "--hardware: empty value: separate names by single commas"),
        (["-g", "2x8"], "GPUs: invalid scale '2x8': write 2n8g for 2 nodes with 8 GPUs each, or 8 for 1n8g"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_code_2(dlperf, arguments, message):
    assert dlperf("plan", *arguments) == (2, "", f"dlperf: {message}\n")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("plan -H perf-v", ["perf-v100", "perf-v100-4nodes"]),
        ("plan --hardware local,perf-v100-", ["local,perf-v100-4nodes"]),
        ("run -f numpy -c lene", ["lenet5"]),
        ("check --hardware two-", ["two-boxes"]),
        ("status nothing", []),
    ],
)
def test_a_shell_completes_ids_of_the_catalogue(dlperf, workspace, monkeypatch, line, offered):
    words = f"dlperf --workspace {workspace} {line}"
    environment = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_DLPERF_COMPLETE": "complete_bash"}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    _, out, err = dlperf()
    assert (out.split(), err) == (offered, "")


def test_an_entry_with_a_mistake_is_said_and_everything_else_goes_on(dlperf, workspace):
    broken = workspace / "catalog" / "cases" / "resnet50.yaml"
    broken.parent.mkdir()
    broken.write_text("id: resnet50\nprotocol: no-such-protocol\n")
    (workspace / "catalog" / "formats.yaml").write_text("- [")
    for words in (("plan", "-H", "local", "-c", "lenet5"), ("catalog", "show", "lenet5"), ("catalog", "frameworks")):
        code, out, err = dlperf(*words)
        assert code == 0
        assert f"dlperf: skipped: {broken}:1: title: is missing" in err
        assert "formats.yaml:" in err
        assert "no-such-protocol" not in out
        assert "numpy" in out or "lenet5" in out
    code, out, err = dlperf("plan", "-H", "local", "-c", "resnet50")
    assert (code, out) == (2, "")
    assert "resnet50" in err.splitlines()[-1], "the built-in entry does not come back for the workspace's"
    assert dlperf("catalog", "check")[0] == 2


def test_what_refers_to_an_entry_with_a_mistake_is_left_out_too(dlperf, workspace):
    protocols = workspace / "catalog" / "protocols.yaml"
    protocols.write_text("- {id: mine, title: Mine, estimator: nonsense()}\n")
    case = "id: mine\ntitle: M\nmodel: M\ndataset: d\nunit: images/s\nprecisions: [fp32]\nbatch_sizes: [1]\n"
    (workspace / "catalog" / "cases").mkdir()
    (workspace / "catalog" / "cases" / "mine.yaml").write_text(f"{case}scales: [1n1g]\nprotocol: mine\n")
    code, out, err = dlperf("catalog", "cases")
    assert code == 0
    assert "lenet5" in out
    assert not any(line.startswith("mine ") for line in out.splitlines())
    assert f"{protocols}:1: estimator: " in err
    assert "mine.yaml:9: protocol: no mine in protocols" in err

"""``dlperf parse``: figures on stdout, what is wrong on stderr, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlperf.cli import main

RECORD = (
    "[2024/05/01 10:00:{second:02}] ppcls INFO: epoch:0   train step:{step}   lr: 0.1, loss:  8.3 top1: 0.0 "
    "batch_cost: 0.25000 s, reader_cost: 0.00067 s, ips: 64.00000 samples/sec.\n"
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "paddle_gpu8_fp32_bs16.txt"
    path.write_text("".join(RECORD.format(second=second, step=10 + 10 * second) for second in range(40)))
    return path


def exit_code(*arguments: str | Path, before: tuple[str, ...] = ()) -> int:
    with pytest.raises(SystemExit) as leaving:
        main([*before, "parse", *map(str, arguments)])
    return int(leaving.value.code or 0)


def test_json_is_one_list_with_an_object_for_each_run(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert exit_code(log, log, "--gpus", "8", "--json", "--estimator", "skipmean(10)") == 0

    out, err = capfd.readouterr()
    first, second = json.loads(out)
    assert first == second
    assert list(first) == [
        "log",
        "format",
        "run",
        "unit",
        "rate_unit",
        "scope",
        "samples",
        "gpus",
        "batch_size",
        "precision",
        "estimator",
        "value",
        "value_per_gpu",
        "pauses",
        "steady",
        "goodput",
        "value_from_timestamps",
        "metrics",
        "first_step",
        "last_step",
        "findings",
    ]
    assert first["value"] == 512.0
    assert all(set(finding) == {"code", "message", "severity", "parameters"} for finding in first["findings"])
    assert err == ""


def test_the_table_shows_the_figure_and_its_findings_below(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert exit_code(log, "--gpus", "8", "--estimator", "mean()") == 0

    out, _ = capfd.readouterr()
    assert "paddleclas" in out.splitlines()[2]
    assert "  512.0  " in out.splitlines()[2]
    assert "warning: printed 512.0, computed from timestamps 1,280 images/s (-60.0 %)" in out


def test_a_log_that_cannot_be_parsed_gives_one_line_and_exit_code_2(
    log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.log").touch()

    assert exit_code(tmp_path / "empty.log", tmp_path / "missing.log", log, "--gpus", "8", "--json") == 2

    out, err = capfd.readouterr()
    assert len(json.loads(out)) == 1
    assert [line.split(": ")[0] for line in err.splitlines()] == ["dlperf", "dlperf"]
    assert "Traceback" not in err


def test_debug_shows_where_a_log_could_not_be_parsed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "plain.log").write_text("nothing here\n")

    assert exit_code(tmp_path / "plain.log", before=("--debug",)) == 2

    err = capfd.readouterr().err
    assert "in _parse_source" in err
    assert err.splitlines()[-1].startswith(f"dlperf: {tmp_path / 'plain.log'}: no throughput record")


def test_json_is_a_document_even_where_no_log_was_parsed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert exit_code(tmp_path / "missing.log", "--json") == 2

    assert json.loads(capfd.readouterr().out) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--estimator", "median()"], "choose mean(), skipmean(k)"),
        (["--format", "paddelclas"], "did you mean paddleclas"),
        (["--gpus", "0"], "--gpus"),
        (["--batch-size", "many"], "--batch-size"),
    ],
)
def test_a_wrong_option_is_refused_before_any_log_is_read(
    arguments: list[str], words: str, log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(log, *arguments) == 2

    out, err = capfd.readouterr()
    assert out == ""
    assert words in err
    assert len(err.splitlines()) == 1


def test_the_names_of_files_cannot_steer_the_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a\x1b[31m\nb.log"
    path.touch()

    assert exit_code(path) == 2

    err = capfd.readouterr().err
    assert "\x1b" not in err
    assert len(err.splitlines()) == 1


def test_a_log_of_an_unknown_program_is_answered_with_its_lines_and_a_draft(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "train.log"
    log.write_text("hello\n" + "".join(f"it {step}\tloss 0.5\t812.5 samples/s\x85\n" for step in range(10)))

    assert exit_code(log) == 2
    assert "line 2 looks like one: 'it 0\\tloss 0.5\\t812.5 samples/s" in capfd.readouterr().err
    assert exit_code(log, "--draft") == 0
    out = capfd.readouterr().out
    assert out.startswith("# line 2: it 0 loss 0.5 812.5 samples/s\n")
    (tmp_path / "runs").mkdir()
    (tmp_path / "mkdocs.yml").touch()
    (tmp_path / "catalog" / "formats").mkdir(parents=True)
    (tmp_path / "catalog" / "formats" / "my-format.yaml").write_text(out)
    assert exit_code(log, "--json", before=("--workspace", str(tmp_path))) == 0
    (run,) = json.loads(capfd.readouterr().out)
    assert (run["format"], round(run["value"], 6), run["unit"]) == ("my-format", 812.5, "samples/s")

"""The door: exit codes, one-line errors, and a help that starts quickly."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from dlperf.cli import main, root
from dlperf.cli.output import print_json
from dlperf.errors import RequestError, UnreachableError
from dlperf.version import commit_of


def dlperf(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "dlperf", *arguments], capture_output=True, text=True, check=False)


def exit_code(*arguments: str) -> int:
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    return int(leaving.value.code or 0)


@pytest.fixture
def failing_command(monkeypatch):
    """A command ``fail`` that raises what the test gives it."""

    def register(error: BaseException) -> None:
        def fail() -> None:
            raise error

        group = typer.Typer()
        group.command("fail")(fail)
        monkeypatch.setattr(root, "GROUPS", (group,))

    return register


def test_help_names_the_commands_and_exits_with_0(capfd):
    assert exit_code("--help") == 0
    assert "init" in capfd.readouterr().out


def test_no_arguments_show_the_help(capfd):
    assert exit_code() == 0
    assert "Usage: dlperf" in capfd.readouterr().out


def test_the_version_is_one_line(capfd):
    from dlperf.version import version

    assert exit_code("--version") == 0
    assert capfd.readouterr().out == f"dlperf {version()}\n"


@pytest.mark.parametrize("arguments", [["nope"], ["--nope"], ["init", "--nope"], ["--workspace"]])
def test_a_wrong_request_is_one_line_on_stderr_and_exit_code_2(arguments, capfd):
    assert exit_code(*arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("dlperf: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (RequestError("--gpus '3x': not a scale"), 2, "dlperf: --gpus '3x': not a scale\n"),
        (UnreachableError("node a: no route\nto host"), 3, "dlperf: node a: no route to host\n"),
        (KeyboardInterrupt(), 130, ""),
        (
            OSError(28, "No space left on device", "/w/site/docs/index.md"),
            1,
            "dlperf: /w/site/docs/index.md: No space left on device: free space, fix permissions, "
            "or run again as `dlperf --debug …`\n",
        ),
        (ValueError("boom"), 1, "dlperf: unexpected ValueError: boom: run again as `dlperf --debug …`\n"),
    ],
)
def test_every_error_is_one_line_with_its_exit_code(failing_command, error, code, line, capfd):
    failing_command(error)
    assert exit_code("fail") == code
    assert capfd.readouterr().err == line


def test_debug_shows_where_an_error_came_from(failing_command, capfd):
    failing_command(RequestError("wrong"))
    assert exit_code("--debug", "fail") == 2
    err = capfd.readouterr().err
    assert "Traceback" in err
    assert err.endswith("dlperf: wrong\n")


def test_a_reader_that_goes_away_is_no_traceback():
    process = subprocess.Popen(
        [sys.executable, "-m", "dlperf", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.wait()


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&-"])
def test_closed_standard_streams_are_no_error(closed: str, tmp_path: Path):
    """Also of a command that asks where somebody can answer."""
    command = shlex.join([sys.executable, "-m", "dlperf", "init", str(tmp_path / "new")])
    done = subprocess.run(f"{command} {closed}", shell=True, capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr
    assert (tmp_path / "new/mkdocs.yml").is_file()


@pytest.mark.parametrize(("text", "encoding"), [("a\udcff", "utf-8"), ("é 基 𝄞", "ascii"), ("é 基", "latin-1")])
def test_any_name_is_valid_json_in_any_locale(text: str, encoding: str, monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(
        sys, "stdout", io.TextIOWrapper(written, encoding, errors="backslashreplace", write_through=True)
    )
    print_json({"name": text})
    assert json.loads(written.getvalue().decode(encoding)) == {"name": text}


def test_what_the_locale_has_no_letters_for_is_escaped(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "ascii", write_through=True))
    exit_code("--version")
    print("é")
    assert written.getvalue().endswith(b"\\xe9\n")


def test_the_module_runs_as_a_program():
    assert dlperf("--version").returncode == 0


@pytest.mark.parametrize("words", [[], ["catalog"]])
def test_no_line_of_help_is_cut_at_80_columns(words, capfd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert exit_code(*words, "--help") == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line for line in lines if line.endswith("...") and not line.startswith("Usage:")] == []
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("word", "instead"),
    [("show", "catalog show ID"), ("help", "--help"), ("list", "status"), ("stop", "cancel"), ("kill", "cancel")],
)
def test_a_word_that_is_no_command_names_the_one_that_is(word, instead, capsys):
    assert exit_code(word, "x") == 2
    assert f"no command '{word}': see `dlperf {instead}" in capsys.readouterr().err


def test_the_commit_of_a_checkout_is_found_without_a_lock_that_a_kill_would_leave(tmp_path):
    def git(*words: str) -> None:
        subprocess.run(["git", "-C", tmp_path, "-c", "user.name=x", "-c", "user.email=x@x", *words], check=True)

    git("init", "-q")
    (tmp_path / "a").touch()
    git("add", "a")
    git("commit", "-qm", "x")
    os.utime(tmp_path / "a", (0, 0))
    before = (tmp_path / ".git" / "index").stat().st_mtime_ns
    assert not commit_of(tmp_path).endswith(".dirty")
    assert (tmp_path / ".git" / "index").stat().st_mtime_ns == before
    (tmp_path / "a").write_text("x")
    assert commit_of(tmp_path).endswith(".dirty")

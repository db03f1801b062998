"""``dlperf init --program``: from a program to a campaign."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

JSON_LINES = """\
import json
for step in range(40):
    print(json.dumps({"step": step, "tokens_per_second": 5615.5}))
"""


def proposed(dlperf, tmp_path, source: str, *options: str, words: str = "") -> tuple[int, str]:
    (tmp_path / "train.py").write_text(textwrap.dedent(source))
    code, _, err = dlperf("init", "bench", "--program", f"{sys.executable} train.py {words}".strip(), *options)
    return code, err


def test_a_campaign_runs_from_the_only_number_that_a_program_prints(dlperf, tmp_path):
    code, err = proposed(dlperf, tmp_path, "print('bandwidth:', 12.5, 'GB/s')")
    assert code == 0, err
    assert "next: `dlperf --workspace bench run -H local -f train`" in err
    assert dlperf("--workspace", "bench", "catalog", "check")[0] == 0
    code, _, err = dlperf("--workspace", "bench", "run", "-f", "train", "--repeats", "1", "--yes")
    assert code == 0, err
    (row,) = json.loads(dlperf("--workspace", "bench", "results", "--json")[1])
    assert (row["value"], row["unit"], row["n"]) == (12.5, "GB/s", 1)


def test_lines_of_json_and_steps_of_the_protocol_are_understood(dlperf, tmp_path):
    code, err = proposed(dlperf, tmp_path, JSON_LINES, "--name", "mine", words="{steps}")
    assert code == 0, err
    assert "40 records" in err
    assert "5,616 tokens/s" in err
    plan = json.loads(dlperf("--workspace", "bench", "plan", "-f", "mine", "--json")[1])
    assert [item["launch"]["command"][-1] for item in plan["configurations"]] == ["120"]


@pytest.mark.parametrize("words", ["--micro-batch-size=32", "--bs 32"])
def test_a_batch_size_that_an_option_states_is_that_of_the_entry(dlperf, tmp_path, words):
    code, err = proposed(dlperf, tmp_path, JSON_LINES, words=words)
    assert code == 0, err
    assert "batch size 32 by its option: with {batch_size} in its place, others can be measured" in err
    assert "batch_sizes: [32]" in (tmp_path / "bench" / "catalog" / "train.yaml").read_text()


def test_a_format_that_is_known_needs_no_entry(dlperf, tmp_path):
    line = "DLPERF 2026-01-31T12:00:{:02}.5Z step={} samples={} loss=2.0 throughput=40.0"
    code, err = proposed(dlperf, tmp_path, f"for n in range(1, 31): print('{line}'.format(n, n, n * 40))")
    assert code == 0, err
    assert "30 records of the format dlperf" in err
    assert "formats:" not in (tmp_path / "bench" / "catalog" / "train.yaml").read_text()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("raise SystemExit('no GPU here')", "the trial run failed with exit code 1: no GPU here"),
        ("import os; os.kill(os.getpid(), 9)", "the trial run failed with signal 9: it printed nothing"),
        ("", "the program printed nothing: let it print its throughput"),
        ("print('epoch 1 of 2')", "no line of the program's output looks like a rate, the last is 'epoch 1 of 2'"),
        ("print('throughput: 0.0 images/s')", "the output of the trial run gives no value"),
    ],
)
def test_a_program_without_a_value_leaves_one_line_and_no_file(dlperf, tmp_path, source, message):
    code, err = proposed(dlperf, tmp_path, source)
    assert code == 2
    assert err.splitlines()[-1].startswith(f"dlperf: {message}")
    assert len(err.splitlines()) == 2
    assert not (tmp_path / "bench").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--program", "no-such-program"], "no such program"),
        (["--program", "sh -c 'x"], "No closing quotation"),
        (["--program", "sh {bs}"], "{bs} has no value"),
        (["--program", "sh {files}/train.sh"], "write the path itself"),
        (["bench", "--program", "sh", "--name", "numpy"], "the catalogue has a framework numpy already"),
        (["--program", "sh", "--name", "A b"], "only a-z"),
        (["--program", "sh"], "name a folder for one: dlperf init DIR --program"),
        (["bench", "--program", "sh -c true", "--ship"], "--ship: no word of the command is a file in"),
        (["--ship"], "--ship is of a program: add --program COMMAND"),
        (["--seconds", "5"], "--seconds is of a program: add --program COMMAND"),
        ([__file__], "is no folder: name another"),
    ],
)
def test_a_command_that_cannot_run_is_refused_in_one_line(dlperf, arguments, message):
    code, _, err = dlperf("init", *arguments)
    assert (code, len(err.splitlines())) == (2, 1)
    assert message in err


def test_nothing_is_overwritten(dlperf, tmp_path):
    assert proposed(dlperf, tmp_path, "print('12.5 GB/s')")[0] == 0
    before = (tmp_path / "bench" / "catalog" / "train.yaml").read_text()
    code, err = proposed(dlperf, tmp_path, "print('99.5 GB/s')")
    assert code == 2
    assert "train.yaml exists: remove it, or choose another name with --name" in err
    assert (tmp_path / "bench" / "catalog" / "train.yaml").read_text() == before


def test_a_program_that_is_sent_needs_nothing_of_its_folder(dlperf, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "speed.py").write_text("import json\ndef speed(path): return json.load(open(path))['speed']\n")
    (tmp_path / "fast.json").write_text('{"speed": 12.5}')
    source = """\
        import os, sys
        from speed import speed
        os.makedirs("out", exist_ok=True)
        if not os.path.exists("data"):
            sys.exit("no data")
        print("speed:", speed(sys.argv[1].partition("=")[2]), "images/s")
    """
    code, err = proposed(dlperf, tmp_path, source, "--ship", words="--config=fast.json --data data")
    assert code == 0, err
    assert "not sent with the program, put it on each machine: data\n" in err
    sent = ["fast.json", "speed.py", "train.py"]
    for name in sent:
        (tmp_path / name).unlink()
    assert sorted(path.name for path in (tmp_path / "bench" / "catalog" / "workloads").iterdir()) == sent
    code, _, err = dlperf("--workspace", "bench", "run", "-H", "local", "-f", "train", "--repeats", "1", "--yes")
    assert code == 0, err
    assert json.loads(dlperf("--workspace", "bench", "results", "--json")[1])[0]["value"] == 12.5


def test_a_workspace_beside_the_program_is_named_from_its_folder(dlperf, tmp_path, monkeypatch):
    (tmp_path / "source").mkdir()
    monkeypatch.chdir(tmp_path / "source")
    code, _, err = dlperf("init", "../bench", "--program", "echo 12.5 GB/s")
    assert (code, err.splitlines()[-1]) == (0, f"next: `dlperf --workspace {tmp_path}/bench run -H local -f echo`"), err
    assert dlperf("init", "../other")[0] == 0


def test_entries_that_give_no_plan_are_taken_back(dlperf, tmp_path):
    machines = tmp_path / "bench" / "catalog" / "hardware"
    assert dlperf("init", "bench")[0] == 0
    (machines / "local.yaml").write_text(
        "id: local\ntitle: Elsewhere\nnodes: [{name: a, host: 192.0.2.1}]\ngpus_per_node: 1\n"
    )
    code, err = proposed(dlperf, tmp_path, "print('12.5 GB/s')")
    assert code == 2
    assert "no hardware of the catalogue is this machine: describe it in catalog/hardware/" in err
    assert not (tmp_path / "bench" / "catalog" / "train.yaml").exists()


def test_a_program_that_goes_on_is_stopped_with_its_children(dlperf, tmp_path):
    source = """\
        import os, subprocess, time
        child = subprocess.Popen(["sleep", "1000"])
        open("child", "w").write(str(child.pid))
        print("speed: 12.5 images/s", flush=True)
        time.sleep(1000)
    """
    code, err = proposed(dlperf, tmp_path, source, "--seconds", "1")
    assert code == 0, err
    assert "the trial run was stopped" in err
    assert not is_running(int((tmp_path / "child").read_text()))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_the_program_and_leaves_nothing(tmp_path: Path, number: signal.Signals):
    (tmp_path / "train.py").write_text("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(1000)\n")
    (tmp_path / "train.sh").write_text(f"echo $$ > pid; exec {sys.executable} train.py")
    command = [sys.executable, "-m", "dlperf", "init", "bench", "--program", "sh train.sh"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("running for at most 60 s")
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
            assert process.poll() is None
        process.send_signal(number)
        assert "Traceback" not in process.stderr.read()
        assert process.wait() == 130
    assert not is_running(int((tmp_path / "pid").read_text()))
    assert not (tmp_path / "bench").exists()


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return open(f"/proc/{pid}/stat").read().split()[2] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False

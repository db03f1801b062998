"""``dlperf init --program`` of programs that print what well-known ones print: the command that it ends with works."""

from __future__ import annotations

import json
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from dlperf.view.program.command import Program
from dlperf.view.program.recognition import recognise
from dlperf.view.program.trial_run import Output

PROGRAMS = tomllib.loads(Path(__file__).with_name("printed_formats.toml").read_text())
PROGRAM = """\
import datetime, json, sys, time
entry = json.loads({entry!r})
count = int(sys.argv[1]) if "{{steps}}" in entry["arguments"] else entry.get("steps", 40)
print(*entry.get("first", ()), sep="\\n")
for n in range(entry.get("every", 1), count + 1, entry.get("every", 1)):
    time.sleep(entry.get("sleep", 0))
    now = datetime.datetime.now()
    written = now.strftime(entry["time"]) if "time" in entry else now.isoformat(" ", "milliseconds").replace(".", ",")
    print(entry["step"].format(n=n, time=written))
print(*entry.get("last", ()), sep="\\n")
"""


@pytest.fixture
def typed(dlperf, tmp_path):
    """Type a command in a folder with a program for each format: exit code, standard output and error."""
    for name, entry in PROGRAMS.items():
        (tmp_path / f"own_{name}.py").write_text(PROGRAM.format(entry=json.dumps(entry)))
    return dlperf


def test_the_command_that_is_printed_measures_what_each_program_prints(typed, tmp_path):
    for name, entry in PROGRAMS.items():
        code, _, err = typed("init", "bench", "--program", f"{sys.executable} own_{name}.py {entry['arguments']}")
        assert code == 0, f"{name}: {err}"
        *words, printed_name = shlex.split(err.splitlines()[-1].removeprefix("next: `dlperf ").rstrip("`"))
        assert (words, printed_name) == (["--workspace", "bench", "run", "-H", "local", "-f"], f"own-{name}")
    code, _, err = typed(*words, ",".join(f"own-{name}" for name in PROGRAMS), "--repeats", "1", "--yes")
    assert code == 0, err
    rows = json.loads(typed("--workspace", "bench", "results", "--json")[1])
    assert {row["status"] for row in rows} == {"measured"}
    values = {row["framework"]: round(row["value"], 2) for row in rows}
    assert values == {f"own-{name}": entry.get("value", values[f"own-{name}"]) for name, entry in PROGRAMS.items()}
    assert {row["framework"]: (row["unit"], row["batch_size"]) for row in rows} == {
        f"own-{name}": (entry["unit"], entry.get("batch_size", 8 if "batch_size" in entry["arguments"] else 1))
        for name, entry in PROGRAMS.items()
    }
    assert "a guess: {steps} is the sum" in (tmp_path / "bench" / "catalog" / "own-trainer.yaml").read_text()


@pytest.mark.parametrize("steps", [10, 40])
def test_a_trainer_that_was_stopped_is_measured_by_what_its_whole_run_prints(steps):
    bars = "".join(f"\r{n}%|▉   | {n}/99 [00:{n:02}<00:19,  1.00it/s]" for n in range(steps))
    losses = "".join(f"{{'loss': '5.5', 'grad_norm': '1', 'learning_rate': '2e-05', 'epoch': '{n}'}}\n" for n in (1, 2))
    program = Program(("python", "train.py"), "python", "train", Path(), 8, is_batch_size_known=True)
    found = recognise(Output((bars + "\n" + losses).encode(), None), program, ())
    assert (found.format, found.estimator) == ("huggingface", "printed()")

"""``dlperf tune``: the fastest of what a recipe can vary, as an operator searches it."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess

import pytest

from counting_workspace import FRAMEWORK, SCRIPT, Counting
from dlperf.table.load import load_results
from waiting import until

ENTRY = (
    FRAMEWORK.replace('"{batch_size}"', '"{batch_size}", "{checkpointing}", "{compile}"')
    + """\
    batch_sizes: [32, 64, 128]
    axes:
      checkpointing: {values: [full, none], default: full}
      compile: {values: ["no", "yes"], default: "no"}
      gradient_accumulation: {values: [1, 2], default: 1}
    variants:
      - {when: {axes: {checkpointing: [none], compile: ["yes"]}}, impossible: compiled programs checkpoint}
"""
)
PROGRAM = """\
while [ -e "$HOME/hold-$1" ]; do sleep 0.05; done
speed=$1
if [ $2 = none ]; then
    speed=$((speed * 3))
    if [ $1 -ge 64 ]; then echo "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"; exit 1; fi
fi
if [ $3 = yes ]; then speed=$((speed + 10)); fi
set -- $speed
"""
WORDS = ("tune", "-H", "local", "-f", "counting", "-c", "lenet5", "--yes")


@pytest.fixture
def tuned(counting: Counting) -> Counting:
    (counting.workspace.catalog / "frameworks" / "counting.yaml").write_text(ENTRY)
    (counting.workspace.catalog / "workloads" / "count.sh").write_text(PROGRAM + SCRIPT)
    return counting


def test_the_fastest_configuration_is_found_and_its_command_measures_it(tuned: Counting) -> None:
    done = tuned.dlperf(*WORDS)
    assert "1 of 9: batch_size=32, checkpointing=full, compile=no: 32" in done.stderr, "the default comes first"
    best, *others = done.stdout.splitlines()[1:]
    assert best.split()[:4] == ["128", "full", "yes", "138.0"]
    assert any("out of memory" in line for line in others)
    assert load_results(tuned.workspace) == [], "a search makes no results"
    again = tuned.dlperf(*shlex.split(done.stdout.splitlines()[-1])[1:], "--repeats", "1", "--yes")
    assert "138" in again.stdout
    (row,) = load_results(tuned.workspace)
    assert (row.value, row.batch_size, dict(row.axes)["gradient_accumulation"]) == (138.0, 128, 1)


def test_a_spent_budget_ends_the_search_with_the_best_so_far(tuned: Counting) -> None:
    done = tuned.dlperf(*WORDS, "--budget", "0.01s", "--json")
    document = json.loads(done.stdout)
    assert "\n--budget 0.01s is spent\n" in done.stderr
    assert [each["default"] for each in document["configurations"]] == [True]
    assert document["command"].startswith("dlperf run --hardware local --framework counting --case lenet5 ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--framework", "numpy"), "--framework: name one, as a search is of one recipe on one machine"),
        (("--batch-size", "32", "--set", "checkpointing=full", "--set", "compile=no"), "one configuration can run"),
        (("--precision", "fp8"), "fp8"),
    ],
)
def test_what_cannot_be_searched_is_refused(tuned: Counting, words: tuple[str, ...], said: str) -> None:
    assert said in tuned.dlperf(*WORDS, *words, code=2).stderr


def test_a_default_that_fails_ends_the_search(tuned: Counting) -> None:
    (tuned.workspace.catalog / "workloads" / "count.sh").write_text("exit 3")
    assert "gives no value: failed: exit code 3" in tuned.dlperf(*WORDS, code=2).stderr


def test_a_search_that_is_stopped_prints_what_it_found(tuned: Counting) -> None:
    held = [tuned.hold(size) for size in (64, 128)]
    values = ("--set", "checkpointing=full", "--set", "compile=no", "--json")
    command = tuned.command(*WORDS, *values)
    with subprocess.Popen(command, env=tuned.environment, stdout=subprocess.PIPE, text=True) as running:
        until(lambda: len(list(tuned.workspace.runs.glob("*/tags"))) == 2, lambda: "one search at most")
        running.send_signal(signal.SIGINT)
        document = json.loads(running.communicate()[0])
    for path in held:
        path.unlink()
    assert running.returncode == 130
    assert [each["default"] for each in document["configurations"]] == [True]

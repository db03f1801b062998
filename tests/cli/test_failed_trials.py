"""Why a trial failed: the same words while it runs, in its result and when its files are verified."""

from __future__ import annotations

import json

import pytest

ENDINGS = {
    "the last line, once": ("echo '  the  disk\tis sad'; exit 3", "exit code 3; last output: the disk is sad"),
    "an exception": ("echo 'ValueError: bad  shape (3, 4)'; exit 1", "exit code 1: ValueError: bad  shape (3, 4)"),
    "out of memory": ("echo 'RuntimeError: CUDA out of memory.'; exit 1", "exit code 1: out of memory"),
    "words that dlperf uses itself": (
        "echo 'rank 3 cannot be reached; last output: exit code 4'; exit 1",
        "exit code 1; last output: rank 3 cannot be reached; last output: exit code 4",
    ),
    "no output": ("exec >/dev/null; exit 9", "exit code 9"),
}


@pytest.mark.parametrize(("program", "cause"), ENDINGS.values(), ids=ENDINGS)
def test_the_cause_of_a_failure_is_the_same_live_and_when_it_is_verified(counting, program: str, cause: str):
    (counting.workspace.catalog / "workloads" / "count.sh").write_text(program + "\n")
    counting.dlperf(
        *("run", "-H", "local", "-f", "counting", "-c", "lenet5", "-b", "32", "--repeats", "1", "--name", "try"), code=1
    )
    (live,) = json.loads(counting.dlperf("status", "try", "--json").stdout)["trials"]
    (row,) = json.loads(counting.dlperf("results", "--campaign", "try", "--json").stdout)
    (verified,) = json.loads(counting.dlperf("verify", "try", "--json").stdout)
    assert [live["cause"], row["trials"][0]["cause"]] == [cause, cause]
    assert verified["differences"] == []

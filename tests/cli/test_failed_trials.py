"""Why a trial failed: the same words while it runs, in its result and when its files are verified."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import pytest

from counting_workspace import Counting, counting_workspace

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


BATCH_SIZES = dict(zip(ENDINGS, (8, 16, 32, 64, 128), strict=True))


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Counting:
    """A campaign ``try`` whose trials end in these ways, one for each batch size."""
    counting = counting_workspace(tmp_path_factory.mktemp("failed"))
    cases = [f"{BATCH_SIZES[name]}) {program};;" for name, (program, _) in ENDINGS.items()]
    script = "\n".join(('case "$1" in', *cases, "esac\n"))
    (counting.workspace.catalog / "workloads" / "count.sh").write_text(script)
    sizes = ",".join(map(str, BATCH_SIZES.values()))
    words = ("-H", "local", "-f", "counting", "-c", "lenet5", "-b", sizes, "--repeats", "1", "--name", "try")
    counting.dlperf("run", *words, code=1)
    return counting


@pytest.fixture(scope="module")
def causes(failed: Counting) -> Mapping[str, Mapping[int, str]]:
    """What each command names as the cause, by batch size."""
    live = json.loads(failed.dlperf("status", "try", "--json").stdout)["trials"]
    rows = json.loads(failed.dlperf("results", "--campaign", "try", "--json").stdout)
    sizes = [re.search("_bs([0-9]+)_", trial["key"])[1] for trial in live]
    return {
        "status": {int(size): trial["cause"] for size, trial in zip(sizes, live, strict=True)},
        "results": {row["batch_size"]: row["trials"][0]["cause"] for row in rows},
    }


@pytest.mark.parametrize("name", ENDINGS)
def test_the_cause_of_a_failure_is_the_same_live_and_in_its_result(causes, name: str):
    _, cause = ENDINGS[name]
    assert [each[BATCH_SIZES[name]] for each in causes.values()] == [cause, cause]


def test_the_causes_are_the_same_when_they_are_verified(failed: Counting):
    (verified,) = json.loads(failed.dlperf("verify", "try", "--json").stdout)
    assert (verified["trials"], verified["differences"]) == (len(ENDINGS), [])

"""What pauses take of a run, by kind, and which rank and node are slower than the others."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import pytest

from dlperf.formats.registry import parser_for
from dlperf.formats.samples import Run
from dlperf.measured.findings.runs import checked_run, findings_of_run
from dlperf.measured.metrics import COMPUTED, Source
from dlperf.measured.run import Measured, StatedFacts, measure_run
from dlperf.table.load import load_results
from handmade_trials import end_trial, planned, workspace_in, write_planned

RECORD = (
    "[titan] 2026-01-31 {clock} - root - INFO - step: {step:2}  loss:  7.9  memory:  0.66GiB(1.00%)  "
    "tps: {tps:,.0f}  tflops: 0.1  mfu: 0.1%"
)
EVALUATES = "[titan] 2026-01-31 12:00:00,000 - root - INFO - validate step: {step}  loss:  7.9"
SAVES = "[titan] 2026-01-31 12:00:00,000 - root - INFO - Saving the checkpoint (or staging if async is enabled)."


def read(log: str, format_id: str = "torchtitan") -> Measured:
    parser = parser_for(format_id)
    parser.feed(log.encode())
    parser.finish()
    (run,) = parser.runs
    return measure_run(run, StatedFacts(gpus=8, gpus_per_node=4, batch_size=4))


def paused(seconds: dict[int, float], lines: dict[int, str], steps: int = 100) -> str:
    """Steps of a second, some of which take longer, or come behind a line."""
    found = []
    for step, time in enumerate(accumulate(seconds.get(step, 1.0) for step in range(1, steps + 1)), 1):
        clock = f"12:{int(time // 60):02}:{time % 60:06.3f}".replace(".", ",")
        found += [
            *([lines[step].format(step=step)] if step in lines else []),
            RECORD.format(clock=clock, step=step, tps=512),
        ]
    return "\n".join([*found, ""])


def shares(found: Measured) -> dict[str, float | None]:
    source = Source(planned(8), found.reading, found.figure)
    return {name: COMPUTED[name](source) for name in ("paused", "evaluation", "checkpoint")}


def test_time_in_pauses_is_told_apart_by_the_lines_before_them() -> None:
    log = paused({40: 11.5, 60: 5.0, 80: 3.0, 90: 7.0}, {40: EVALUATES, 60: SAVES, 90: f"{EVALUATES}\n{SAVES}"})
    found = read(log)
    seconds = 80 + 10.5 + 4 + 2 + 6  # after the first 20 steps
    assert shares(found) == {
        "paused": pytest.approx(100 * 22.5 / seconds),
        "evaluation": pytest.approx(100 * 10.5 / seconds),
        "checkpoint": pytest.approx(100 * 4 / seconds),
    }
    assert "lost_time" in [finding.code for finding in findings_of_run(checked_run(found.reading, found.figure))]


def test_a_pause_shorter_than_a_step_counts_where_the_log_tells_of_it() -> None:
    found = read(paused(dict.fromkeys(range(30, 100, 10), 1.5), dict.fromkeys(range(30, 100, 10), EVALUATES)))
    assert shares(found)["evaluation"] == pytest.approx(100 * 3.5 / 83.5)


def test_where_every_record_follows_an_evaluation_what_it_takes_is_unknown() -> None:
    found = read(paused({}, dict.fromkeys(range(1, 101), EVALUATES)))
    assert shares(found) == {"paused": None, "evaluation": None, "checkpoint": None}


def test_printed_times_without_a_pause_do_not_say_that_there_was_none() -> None:
    log = "".join(f"iter {step}: loss 2.0, time 500.00ms, mfu 10.00%\n" for step in range(100))
    assert shares(read(log, "nanogpt"))["paused"] is None
    slow = log.replace(
        "iter 60: loss 2.0, time 500.00", "step 60: train loss 2.0, val loss 2.0\niter 60: loss 2.0, time 8000.00"
    )
    assert shares(read(slow, "nanogpt"))["evaluation"] == pytest.approx(100 * 7.5 / 47.5, rel=0.01)


def ranked(slow: float, steps: int = 40) -> str:
    """Eight ranks on two nodes, of which rank 5 takes longer by a share."""
    return "".join(
        f"{rank}: " + RECORD.format(clock=f"12:00:{step:02},000", step=step, tps=8192 / (1 + slow * (rank == 5))) + "\n"
        for step in range(1, steps + 1)
        for rank in range(8)
    )


def test_the_slowest_rank_and_node_are_named() -> None:
    found = read(ranked(0.2))
    source = Source(planned(8), found.reading, found.figure)
    assert COMPUTED["slowest_rank"](source) == pytest.approx(20, rel=0.01)
    assert COMPUTED["slowest_node"](source) == pytest.approx(100 * (1.05 / 1.025 - 1), rel=0.01)
    assert [
        str(finding.message)
        for finding in findings_of_run(checked_run(found.reading, found.figure))
        if finding.code == "straggler"
    ] == [
        "rank 5 takes 20.0 % longer for a step than the median of 8 ranks, and node 1 2.4 % longer than that of 2 nodes"
    ]


def test_equal_ranks_are_no_finding_and_a_single_one_is_compared_with_none() -> None:
    equal = read(ranked(0.01))
    assert "straggler" not in [finding.code for finding in findings_of_run(checked_run(equal.reading, equal.figure))]
    alone = read("".join(line for line in ranked(0.2).splitlines(keepends=True) if line.startswith("5: ")))
    assert COMPUTED["slowest_rank"](Source(planned(8), alone.reading, alone.figure)) is None


def test_a_rank_that_is_slow_in_a_few_steps_holds_up_no_others() -> None:
    slow, equal = (ranked(excess).splitlines(keepends=True) for excess in (4.0, 0.0))
    once = read("".join([*slow[: 8 * 6], *equal[8 * 6 :]]))
    assert "straggler" not in [finding.code for finding in findings_of_run(checked_run(once.reading, once.figure))]
    assert COMPUTED["slowest_rank"](Source(planned(8), once.reading, once.figure)) > 5


def test_each_run_of_a_log_has_the_times_of_its_own_ranks() -> None:
    parser = parser_for("torchtitan")
    parser.feed((ranked(0.2) + ranked(0.5)).encode())
    parser.finish()
    assert [slowest(run) for run in parser.runs] == [
        ("5", pytest.approx(1.2, rel=0.01)),
        ("5", pytest.approx(1.5, rel=0.01)),
    ]


def slowest(run: Run) -> tuple[str, float]:
    means = {rank: run.ranks.total[rank] / count for rank, count in run.ranks.count.items()}
    name = max(means, key=means.__getitem__)
    return name, means[name]


def of_rank(seconds: float) -> str:
    """A log of PaddleClas, of which each rank writes its own."""
    return "".join(
        f"[2024/05/01 10:{step // 60:02}:{step % 60:02}] ppcls INFO: epoch:0   train step:{step}   lr: 0.1, loss:  8.3 "
        f"top1: 0.0 batch_cost: {seconds:.5f} s, reader_cost: 0.00067 s, ips: {4 / seconds:.5f} samples/sec.\n"
        for step in range(60)
    )


def test_ranks_that_write_logs_of_their_own_are_compared(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    plan = replace(planned(2, nodes=2, repeats=1), format="paddleclas")
    campaign = write_planned(workspace, "a", [plan])
    logs = {
        "n0/ranks/workerlog.0": 0.5,
        "n0/ranks/workerlog.1": 0.5,
        "n1/ranks/workerlog.0": 0.5,
        "n1/ranks/workerlog.1": 0.6,
    }
    end_trial(
        campaign, plan, 1, {name: of_rank(seconds) for name, seconds in logs.items()} | {"n0/out.log": "launched"}
    )
    (row,) = load_results(workspace)
    assert [str(finding.message) for finding in row.trials[0].findings if finding.code == "straggler"] == [
        "rank n1/workerlog.1 takes 20.0 % longer for a step than the median of 4 ranks, "
        "and node n1 4.8 % longer than that of 2 nodes"
    ]

"""Logs of somebody, and requests to import them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dlperf.derived.importing import ImportPlan, ImportRequest

PADDLE = (
    "[2023/07/28 06:{minute:02}:{second:02}] ppcls INFO: epoch:0   train step:{step}   lr: 0.1, loss:  8.3 top1:  0.0 "
    "batch_cost: 0.64 s, reader_cost: 0.001 s, ips: {ips} samples/sec.\n"
)


def paddle_log(ips: float, records: int = 40) -> str:
    seconds = [6 * number for number in range(records)]
    return "".join(
        PADDLE.format(minute=s // 60, second=s % 60, step=10 * (n + 1), ips=ips) for n, s in enumerate(seconds)
    )


def request_for(*sources: Path, **more: object) -> ImportRequest:
    return replace(ImportRequest(tuple(sources), "v100", trusts_names=True), **more)


def ids(plan: ImportPlan) -> list[str]:
    return list(map(str, plan.trials))

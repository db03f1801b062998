"""What the same two programs show on several GPUs of a kind. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean

from dlperf.table.load import SUPERSEDED
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.conditions import MACHINE, Pair, in_turns, last_start, recorded, scores
from dlperf.verdicts.inference.verdict import Policy, Sides, Verdict, judge


def pairs_by_machine(a: ConfigurationResult, b: ConfigurationResult, rows: Iterable[ConfigurationResult]) -> list[Pair]:
    """Return the campaigns in which the programs of A and B ran in turns, the last one of each machine.

    Args:
        rows: all results, also those that a later campaign supersedes: it may have run on another GPU.
    """
    sides: dict[str, dict[int, ConfigurationResult]] = {}
    for row in rows:
        for side, wanted in enumerate((a, b)):
            if _same_work(row, wanted):
                sides.setdefault(row.campaign, {})[side] = row
    found = {}
    for campaign in sorted(sides.values(), key=lambda rows: max(map(last_start, rows.values()))):
        left, right = (campaign.get(side) for side in (0, 1))
        if left and right and (machine := recorded(left, *MACHINE)) == recorded(right, *MACHINE) and machine:
            found.update({machine: (_standing(left), _standing(right))} if in_turns(left, right) else {})
    return list(found.values())


def _standing(row: ConfigurationResult) -> ConfigurationResult:
    """Return a result without the caveat that a later campaign, on another machine, supersedes it."""
    return replace(row, findings=tuple(item for item in row.findings if item.code != SUPERSEDED))


def judge_kind(pairs: Sequence[Pair], policy: Policy) -> Verdict | None:
    """Return the verdict over machines, each of which counts once."""
    a, b = ([fmean(scores(row)) for row in side] for side in zip(*pairs, strict=True))
    return judge(Sides(a, b, paired=True), policy)


def _same_work(row: ConfigurationResult, wanted: ConfigurationResult) -> bool:
    names = ("id", "metric", "unit", "protocol")
    same = all(getattr(row, name) == getattr(wanted, name) for name in names)
    return same and bool(scores(row)) and recorded(row, "programs.") == recorded(wanted, "programs.")

"""What the same two programs show on several GPUs of a kind. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean

from dlperf.table.model import SUPERSEDED, ConfigurationResult
from dlperf.verdicts.inference.verdict import Sides
from dlperf.verdicts.trials import (
    Pair,
    Recorded,
    devices_of,
    in_turns,
    last_start,
    machine_of,
    recorded,
    rounding_of,
    same_machine,
    scores,
)

VERSION = "framework_version"


def campaigns_in_turns(
    a: ConfigurationResult, b: ConfigurationResult, rows: Iterable[ConfigurationResult]
) -> list[tuple[Recorded, Pair]]:
    """Return the machine and the results of each campaign in which the programs of A and B ran in turns, by time.

    Args:
        rows: all results, also those that a later campaign supersedes: it may have run on another GPU.
    """
    sides: dict[str, dict[int, ConfigurationResult]] = {}
    for row in rows if a.id != b.id else ():
        for side, wanted in enumerate((a, b)):
            if _same_work(row, wanted):
                sides.setdefault(row.campaign, {})[side] = row
    found = list[tuple[Recorded, Pair]]()
    for campaign in sorted(sides.values(), key=lambda rows: max(map(last_start, rows.values()))):
        left, right = (campaign.get(side) for side in (0, 1))
        if left and right and (machine := machine_of(left)) and same_machine(left, right):
            found += [(machine, (_standing(left), _standing(right)))] if in_turns(left, right) else []
    return found


def of_versions(
    campaigns: Iterable[tuple[Recorded, Pair]], a: ConfigurationResult, b: ConfigurationResult
) -> list[tuple[Recorded, Pair]]:
    """Return the campaigns that ran the versions of the frameworks that A and B have."""
    wanted = [recorded(row, VERSION) for row in (a, b)]
    return [(machine, pair) for machine, pair in campaigns if [recorded(row, VERSION) for row in pair] == wanted]


def machines_apart(campaigns: Iterable[tuple[Recorded, Pair]]) -> list[Pair]:
    """Return the newest pair of each machine, by campaign; machines that share a GPU count once."""
    chosen: list[tuple[frozenset[str], Pair]] = []
    for pair in dict(campaigns).values():
        gpus = devices_of(pair[0])
        if all(gpus.isdisjoint(others) for others, _ in chosen):
            chosen.append((gpus, pair))
    return sorted((pair for _, pair in chosen), key=lambda pair: pair[0].campaign)


def _standing(row: ConfigurationResult) -> ConfigurationResult:
    """Return a result without the caveat that a later campaign, on another machine, supersedes it."""
    return replace(row, findings=tuple(item for item in row.findings if item.code != SUPERSEDED))


def over_machines(pairs: Sequence[Pair]) -> Sides:
    """Return the evidence of several machines, each of which counts once."""
    a, b = ([fmean(scores(row)) for row in side] for side in zip(*pairs, strict=True))
    rounded = fmean(rounding_of([left], [right]) for left, right in pairs)
    return Sides(a, b, paired=True, rounding=rounded)


def _same_work(row: ConfigurationResult, wanted: ConfigurationResult) -> bool:
    names = ("id", "metric", "unit", "protocol")
    same = all(getattr(row, name) == getattr(wanted, name) for name in names)
    return same and not row.source and bool(scores(row)) and recorded(row, "programs.") == recorded(wanted, "programs.")

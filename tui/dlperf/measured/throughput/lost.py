"""Time that a run loses: to pauses, by kind where the log tells of them, and to ranks slower than the others."""

import statistics
from array import array
from bisect import bisect_left
from collections.abc import Container, Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from math import inf
from operator import mul

from dlperf.evidence.columns import total
from dlperf.measured.throughput.pauses import slow_among, timed_gaps
from dlperf.measured.throughput.reading import NotEstimable, Reading
from dlperf.measured.throughput.steady import RecordTimes, printed_times
from dlperf.measured.throughput.windows import start_after

OTHER = "other"
"""Pauses of which the log tells no kind, or several."""
LEAST_RECORDS = 3
"""Records without a pause that give the usual time of a step."""
LEAST_STEPS = 10
"""Steps of a rank from which on it is compared with others."""


@dataclass(frozen=True)
class LostTime:
    """What pauses took of a time, beyond what their steps usually take."""

    seconds: float
    """All of the time, after the steps that a protocol skips."""
    lost: Mapping[str, float]
    """Kind of pause → seconds."""

    @property
    def share(self) -> float:
        return sum(self.lost.values()) / self.seconds

    def share_of(self, kind: str) -> float | None:
        """Return the part of one kind; None where the log tells of no pause of it alone."""
        return self.lost[kind] / self.seconds if kind in self.lost else None


def lost_time(reading: Reading, skip: int) -> LostTime | None:
    """Return what pauses took after the first steps, by timestamps or else printed times; None where none shows it."""
    told = _told(reading)
    try:
        return _by_clock(reading, skip, told) or _as_printed(reading, skip, told)
    except NotEstimable:
        return None


def _by_clock(reading: Reading, skip: int, told: Mapping[int, str]) -> LostTime | None:
    try:
        start, end = start_after(reading, skip), reading.timed[-1]
    except NotEstimable:
        return None
    gaps, idle = timed_gaps(reading, slice(start, end + 1)), reading.idle_between(start, end)
    times = reading.run.samples.time
    indices = array("q", chain(gaps.indices, idle))
    seconds = array("d", (times[index] - times[index - 1] for index in indices))
    steps = array("d", chain(map(mul, gaps.speeds, seconds), repeat(0.0, len(idle))))
    return _lost(RecordTimes(indices, seconds, steps), told, {*gaps.pauses, *told})


def _as_printed(reading: Reading, skip: int, told: Mapping[int, str]) -> LostTime | None:
    """Return the same by the times that records print, where these hold pauses: some programs stop their timer."""
    times = printed_times(reading, skip)
    slow = slow_among(reading, times.indices)
    return _lost(times, told, frozenset(slow)) if slow else None


def _lost(times: RecordTimes, told: Mapping[int, str], pauses: Container[int]) -> LostTime | None:
    records = zip(times.indices, times.seconds, times.steps, strict=True)
    paces = array("d", (time / count for index, time, count in records if index not in pauses and count > 0))
    seconds = total(times.seconds)
    if len(paces) < LEAST_RECORDS or not 0 < seconds < inf:
        return None
    usual, lost = statistics.median(paces), dict[str, float]()
    for index, time, count in zip(times.indices, times.seconds, times.steps, strict=True):
        if index in pauses:
            kind = told.get(index, OTHER)
            lost[kind] = lost.get(kind, 0.0) + time - usual * count
    return LostTime(seconds, {kind: max(lost[kind], 0.0) for kind in sorted(lost)})


def _told(reading: Reading) -> dict[int, str]:
    """Return the kind of pause of each record before which the log tells of one."""
    lines, found = reading.run.samples.line, dict[int, str]()
    for kind, marks in reading.run.pauses.items():
        for mark in marks:
            index = bisect_left(lines, mark)
            if 0 < index < len(lines) and lines[index] != mark:
                found[index] = kind if found.get(index, kind) == kind else OTHER
    return found


@dataclass(frozen=True)
class Straggler:
    """The slowest of several ranks or nodes."""

    name: str
    excess: float
    """What it takes longer for a step than the median of all, relative to that."""
    of: int
    """How many they are."""


def slowest_rank(reading: Reading) -> Straggler | None:
    """Return the slowest rank of a log in which several print their own times, None where fewer than two do."""
    return _slowest(_rank_times(reading))


def slowest_node(reading: Reading) -> Straggler | None:
    """Return the node whose ranks are the slowest; None of one node, or where the GPUs of a node are unknown."""
    nodes: dict[str, list[float]] = {}
    for rank, time in _rank_times(reading).items():
        node = _node_of(rank, reading.gpus_per_node or reading.run.metadata.gpus_per_node)
        if node is not None:
            nodes.setdefault(node, []).append(time)
    return _slowest({node: statistics.fmean(times) for node, times in nodes.items()})


def slow_share(reading: Reading, rank: str) -> float:
    """Return the part of a rank's steps in which it is slower than the others."""
    return reading.run.ranks.slow[rank] / reading.run.ranks.count[rank]


def _rank_times(reading: Reading) -> dict[str, float]:
    """Return the mean time of a step of each rank, relative to the median of all at the same step."""
    counts, totals = reading.run.ranks.count, reading.run.ranks.total
    return {rank: totals[rank] / count for rank, count in counts.items() if count >= LEAST_STEPS}


def _node_of(rank: str, per_node: int | None) -> str | None:
    """Return the node of a rank, which is a number, or is named ``node/log``."""
    node, separates, _ = rank.partition("/")
    if separates:
        return node
    return str(int(rank) // per_node) if per_node and rank.isdecimal() else None


def _slowest(times: Mapping[str, float]) -> Straggler | None:
    if len(times) < 2:
        return None
    name = max(times, key=times.__getitem__)
    return Straggler(name, times[name] / statistics.median(times.values()) - 1, len(times))

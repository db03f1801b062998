"""How long a job may take in a partition, from ``scontrol show partition``. Pure."""

from __future__ import annotations

import re
from typing import Any

from dlperf.executors.base import CheckItem
from dlperf.messages import message
from dlperf.plan import Launch
from dlperf.render.slurm import wanted_minutes

_TIME = re.compile(r"^(?:(?P<days>\d+)-)?(?P<hours>\d+):(?P<minutes>\d+):(?P<seconds>\d+)$")


def longest_minutes(text: str, partitions: str | None) -> int | None:
    """The longest time that one of these partitions gives, the default one if none is named; None if it is unlimited
    or not told.

    Args:
        text: lines of ``scontrol --oneliner show partition``.
        partitions: names, joined by commas.
    """
    found = [dict(word.partition("=")[::2] for word in line.split()) for line in text.splitlines()]
    named = partitions.split(",") if partitions else []
    mine = [row for row in found if (row.get("PartitionName") in named if named else row.get("Default") == "YES")]
    limits = [_minutes(row.get("MaxTime", "")) for row in mine]
    known = [limit for limit in limits if limit is not None]
    return max(known) if known and len(known) == len(limits) else None


def _minutes(text: str) -> int | None:
    found = _TIME.match(text)
    if found is None:
        return None
    days, hours, minutes = (int(found[name] or 0) for name in ("days", "hours", "minutes"))
    return (days * 24 + hours) * 60 + minutes


def time_items(node: str, launch: Launch, most: int | None) -> list[CheckItem]:
    """What is to be said of the time that a job asks for, where its partition gives less."""
    asked: dict[str, Any] = launch.slurm or {}
    wanted = wanted_minutes(launch)
    if most is None or wanted <= most:
        return []
    told = bool(asked.get("time_limit_minutes"))
    key = "partition_limit" if told else "partition_gives_less"
    said = message(key, partition=asked.get("partition") or "(default)", most=most, wanted=wanted)
    return [CheckItem(node, "time_limit", not told, said)]

"""How much results vary besides their trials: from campaign to campaign, and from machine to machine. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.inference.policies import LEAST_UNITS
from dlperf.verdicts.inference.variations import LEAST_STEPS, averaged, between_steps, pooled
from dlperf.verdicts.inference.verdict import ASSUMED_MACHINES, Variation
from dlperf.verdicts.trials import Recorded, last_start, machine_of, recorded


@dataclass(frozen=True)
class Known:
    """What is known of the variation of results besides that of their trials; None until enough were measured."""

    campaigns: Variation | None = None
    """Between campaigns of one configuration on one machine."""
    machines: Variation | None = None
    """Between machines of one kind."""

    @property
    def between_machines(self) -> Variation:
        """Between machines of one kind, which is assumed until enough of them were measured."""
        return self.machines or ASSUMED_MACHINES


UNKNOWN = Known()
KnownOfHardware = Mapping[str, Known]
"""Hardware → what is known of its results."""


def known_of_hardware(rows: Iterable[ConfigurationResult]) -> dict[str, Known]:
    """Return the variation of the results of each hardware, which are never pooled with those of another."""
    kinds: dict[str, list[ConfigurationResult]] = {}
    for row in rows:
        kinds.setdefault(row.hardware, []).append(row)
    return {hardware: known_variation(same) for hardware, same in kinds.items()}


def known_of_pair(known: KnownOfHardware, a: ConfigurationResult, b: ConfigurationResult) -> Known:
    """Return the variation of two results; on two kinds of hardware each varies as its own kind does."""
    first, second = (known.get(row.hardware, UNKNOWN) for row in (a, b))
    if a.hardware == b.hardware:
        return first
    campaigns = [each.campaigns for each in (first, second) if each.campaigns]
    return Known(
        averaged(*campaigns) if len(campaigns) == 2 else None, averaged(first.between_machines, second.between_machines)
    )


def known_variation(rows: Iterable[ConfigurationResult]) -> Known:
    """Return the variation between campaigns and that between machines, each None until enough were measured.

    Between campaigns: of configurations that ran in seven campaigns on one machine, whatever their programs: what
    programs change counts as variation. Between machines: of equal programs that ran on three machines of a kind. What
    others sent does not count.
    """
    series: dict[tuple[object, ...], list[float]] = {}
    kinds: dict[tuple[object, ...], dict[Recorded, list[float]]] = {}
    for row in sorted(rows, key=last_start):
        gpus = machine_of(row)
        if row.value and row.value > 0 and gpus and not row.source:
            point = row.id, row.metric, row.unit, row.protocol
            series.setdefault((*point, gpus), []).append(row.value)
            kinds.setdefault((*point, recorded(row, "programs.")), {}).setdefault(gpus, []).append(row.value)
    machines = ([median(values) for values in each.values()] for each in kinds.values() if len(each) >= LEAST_UNITS)
    return Known(between_steps(each for each in series.values() if len(each) > LEAST_STEPS), pooled(machines))

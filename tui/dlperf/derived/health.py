"""Compare the machines of a diagnosis with the median of their fleet."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from dlperf.evidence.gather import gather
from dlperf.evidence.logs import LogReader
from dlperf.measured.findings.gpu_errors import error_counts
from dlperf.measured.statistics import outliers
from dlperf.plan import PlannedConfiguration, PlannedMetric
from dlperf.runs.journal import CampaignReader
from dlperf.runs.paths import CampaignPaths, TrialPaths
from dlperf.runs.records import State

CASE = "node-health"
UNFORGIVEN = ("memory_errors_uncorrected", "driver_errors")
"""Metrics of which any count is an outlier."""


@dataclass(frozen=True)
class Measurement:
    """One metric of one GPU, or of a node."""

    hardware: str
    node: str
    gpu: int | None
    """Index on the node; None for a metric of the node."""
    value: float
    """Median of the trials."""
    outlier: bool
    """Worse than the others, by the rule of ``measured.statistics.outliers``."""

    @property
    def place(self) -> str:
        return f"{self.hardware} {self.node}" + ("" if self.gpu is None else f" GPU {self.gpu}")


@dataclass(frozen=True)
class Fleet:
    """One metric of all GPUs or nodes that are alike."""

    name: str
    """Accelerator, precision and scale."""
    metric: str
    unit: str
    members: tuple[Measurement, ...]

    @property
    def values(self) -> list[float]:
        return [item.value for item in self.members]

    @property
    def outliers(self) -> list[Measurement]:
        return [item for item in self.members if item.outlier]

    @property
    def of_nodes(self) -> bool:
        return self.members[0].gpu is None


Place = tuple[str, str, int | None]
"""Hardware, node and GPU."""


def diagnosis_of(paths: CampaignPaths, logs: LogReader) -> list[Fleet]:
    """Return what a campaign of diagnosis measured."""
    fleets: dict[tuple[str, str], dict[Place, list[float]]] = defaultdict(lambda: defaultdict(list))
    metrics: dict[str, PlannedMetric] = {}
    reader = CampaignReader(paths)
    trials = reader.refresh().trials
    for planned in reader.record.configurations:
        point = planned.configuration
        metrics |= {item.id: item for item in planned.metrics}
        name = f"{planned.accelerator.id if planned.accelerator else 'CPU'} {point.precision} {point.scale}"
        for key, trial in trials.items():
            if key.configuration == point.id and trial.state is State.SUCCEEDED:
                for metric, place, value in _values(planned, paths.trial(key), logs):
                    fleets[name, metric][place].append(value)
    return [
        Fleet(name, metric, metrics[metric].unit, tuple(_judged(metrics[metric], members)))
        for (name, metric), members in fleets.items()
    ]


def _values(planned: PlannedConfiguration, paths: TrialPaths, logs: LogReader) -> Iterator[tuple[str, Place, float]]:
    """Yield the metrics of each rank of a trial; one that is printed once per node is the node's."""
    point, nodes = planned.configuration, planned.launch.nodes
    evidence = gather(paths, planned, logs)
    printed = evidence.run.metrics if evidence.run else {}
    for metric in planned.metrics:
        values = printed[metric.id].values if metric.id in printed else error_counts(evidence.nodes, planned, metric.id)
        for index, value in enumerate(values):
            if metric.scope == "per_node" and len(values) == point.nodes:
                yield metric.id, (point.hardware, nodes[index].name, None), value
            elif len(values) == point.gpus_total:
                yield metric.id, (point.hardware, nodes[index // point.gpus].name, index % point.gpus), value


def _judged(metric: PlannedMetric, members: dict[Place, list[float]]) -> Iterator[Measurement]:
    values = list(map(median, members.values()))
    centre, far = median(values), outliers(values)
    for index, (place, value) in enumerate(zip(members, values, strict=True)):
        worse = value < centre if metric.direction == "higher" else value > centre
        yield Measurement(*place, value, (index in far and worse) or (metric.id in UNFORGIVEN and value > 0))

"""What plan and journal of a bundle say: what was measured, and nothing that can be run."""

from collections.abc import Iterable, Iterator, Mapping

from dlperf.catalog.files.load import Catalog
from dlperf.errors import RequestError
from dlperf.measured.model import TrialResult
from dlperf.plan import Launch, Node, PlannedConfiguration, TrialKey
from dlperf.plan.expand import planned_accelerator, planned_protocol
from dlperf.plan.metrics import planned_metrics
from dlperf.plan.model import IMPORTED
from dlperf.runs.journal import figure_data
from dlperf.runs.records import Event, State, TrialStatus

_SOURCE = "bundle"


def inert(launch: Launch) -> Launch:
    """Return of a launch what results are computed from; no executor starts it, and no machine is named."""
    nodes = tuple(Node(node.name, "local", node.name, node.name, gpu_indices=node.gpu_indices) for node in launch.nodes)
    kept = launch.launcher, (), launch.command
    return Launch(IMPORTED, nodes, launch.gpus, *kept, compile_cache=launch.compile_cache)


def accepted(planned: PlannedConfiguration, source: str, date: str, catalog: Catalog) -> PlannedConfiguration:
    """Return a sent configuration with the arithmetic, peaks and metrics of this catalogue, and without a price.

    Raises:
        RequestError: its protocol is another than the one of that name here.
    """
    point, sent = planned.configuration, planned.protocol
    known = catalog.protocols.get(sent.id or "")
    if known and planned_protocol(known) != sent:
        raise RequestError(f"{point.id}: its protocol {sent.id} is another than the one of that name here")
    case, accelerator = catalog.cases.get(point.case), planned.accelerator and planned.accelerator.id
    metrics = planned_metrics(planned.unit, case, catalog.metrics)
    return PlannedConfiguration(
        configuration=point,
        launch=inert(planned.launch),
        format=planned.format,
        unit=metrics[0].unit,
        protocol=sent,
        repeats=planned.repeats,
        options=planned.options,
        numerics=planned.numerics,
        tuning=planned.tuning,
        accelerator=planned_accelerator(
            catalog.accelerators.get(accelerator or ""), catalog.precisions.get(point.precision)
        ),
        gflops_per_sample=case.gflops(dict(point.axes)) if case else None,
        facts=planned.facts | {"imported": "yes", "log_source": source, "log_date": date},
        metrics=metrics,
        expect=planned.expect,
        profiled=planned.profiled,
        uncounted=planned.uncounted,
    )


def ended_events(
    created: str, trials: Iterable[TrialStatus], results: Mapping[TrialKey, TrialResult]
) -> Iterator[Event]:
    """Yield the journal of a campaign whose trials have all ended."""
    yield Event(created, "campaign_started", source=_SOURCE)
    for trial in trials:
        name, result = str(trial.key), results.get(trial.key)
        if trial.retry_of is not None:
            yield Event(created, "planned", name, source=_SOURCE, data={"retry_of": trial.retry_of})
        if trial.started:
            yield Event(trial.started, "state", name, str(State.RUNNING), source=_SOURCE)
        data = figure_data(result.value, result.unit) if result else {}
        yield Event(trial.ended or created, "state", name, str(trial.state), trial.cause, _SOURCE, data)
    yield Event(created, "campaign_finished", source=_SOURCE)

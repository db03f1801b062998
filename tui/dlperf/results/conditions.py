"""``dlperf compare``: compare rows and the conditions under which they were measured."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from dlperf.errors import DlperfError
from dlperf.plan import PlannedConfiguration, TrialKey
from dlperf.results.compare import Comparisons, compare, parse_selector
from dlperf.results.load import Filters, load_results
from dlperf.results.model import ConfigurationResult
from dlperf.runs.archive import TrialFiles
from dlperf.runs.bounded import load_json
from dlperf.runs.paths import Workspace
from dlperf.runs.store import read_campaign

OF_THE_MACHINE = ("schema", "hostname", "boot_id", "network_interfaces", "memory_bytes", "topology", "uuid", "slurm")
"""Parts of ``environment.json`` that differ between equal machines."""
OF_THE_FRAMEWORK = tuple(f"facts.{name}" for name in ("version", "repository", "commit", "image", "patches"))
"""Conditions that are expected to differ between frameworks."""

Conditions = dict[str, str]
Plan = dict[str, PlannedConfiguration]


def differences(a: ConfigurationResult, b: ConfigurationResult, of_a: Conditions, of_b: Conditions) -> tuple[str, ...]:
    """Return the conditions that both sides state and that differ, apart from the compared axes."""
    return tuple(
        f"{name}: {of_a[name]} against {of_b[name]}"
        for name in of_a
        if name in of_b and of_a[name] != of_b[name] and not _expected(name, a, b)
    )


def _expected(name: str, a: ConfigurationResult, b: ConfigurationResult) -> bool:
    if a.hardware != b.hardware and name.startswith(("environment.", "facts.")):
        return True
    return a.framework != b.framework and name.startswith((*OF_THE_FRAMEWORK, "environment.container"))


def _conditions(workspace: Workspace, row: ConfigurationResult, plans: Mapping[str, Plan]) -> Conditions:
    """Return protocol, options, facts and environment by dotted name, without unknown ones."""
    planned = plans[row.campaign].get(row.configuration)
    if planned is None:
        return {"protocol": row.protocol} if row.protocol else {}
    stated = {
        "protocol": {key: planned.protocol.get(key) for key in ("estimator", "aggregate")},
        "numerics": planned.numerics,
        "options": planned.options,
        "facts": planned.facts,
        "environment": _environment(workspace, row),
    }
    return dict(flattened(stated, without=OF_THE_MACHINE))


def _plan(workspace: Workspace, name: str) -> Plan:
    """Return the planned configurations of a campaign by id; none for a third-party report."""
    paths = workspace.campaign(name) if "/" not in name else None
    if paths is None or not paths.plan.is_file():
        return {}
    return {item.configuration.id: item for item in read_campaign(paths).configurations}


def _environment(workspace: Workspace, row: ConfigurationResult) -> Any:
    """Return the environment of the first node of the first usable trial that has one."""
    campaign = workspace.campaign(row.campaign)
    for trial in row.trials:
        files = TrialFiles(campaign.trial(TrialKey(row.configuration, trial.number)))
        for node in files.nodes() if trial.usable else ():
            with suppress(OSError, ValueError):
                return load_json(files.read(node.environment))
    return {}


def flattened(value: Any, name: str = "", without: Container[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield nested facts as dotted names and text, except empty ones and those named ``without``."""
    if name.rpartition(".")[2] in without:
        return
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from flattened(member, f"{name}.{key}" if name else str(key), without)
    elif isinstance(value, list):
        for position, member in enumerate(value):
            yield from flattened(member, f"{name}.{position}" if name else str(position), without)
    elif value not in (None, ""):
        yield name, str(value)


def compare_in_workspace(
    workspace: Workspace,
    a: str,
    b: str,
    complain: Callable[[DlperfError], object] | None = None,
    metric: str | None = None,
) -> Comparisons:
    """Compare the rows of two selectors, with the conditions in which each pair differs.

    Args:
        complain: called for each campaign or report that cannot be read, which is left out.
        metric: the one to compare; the primary metric of each row if None.

    Raises:
        RequestError: a selector matches nothing, or the two share no configuration.
    """
    rows = load_results(workspace, Filters(metrics=(metric,) if metric else ()), complain)
    found = compare(rows, parse_selector(a, rows), parse_selector(b, rows))
    campaigns = {row.campaign for pair in found.pairs for row in (pair.a, pair.b)}
    plans = {name: _plan(workspace, name) for name in campaigns}
    pairs = []
    for pair in found.pairs:
        of_a, of_b = (_conditions(workspace, row, plans) for row in (pair.a, pair.b))
        pairs.append(replace(pair, differences=differences(pair.a, pair.b, of_a, of_b)))
    return replace(found, pairs=tuple(pairs))

"""``dlperf compare``: rows and the conditions that they were measured under are read here and compared."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from typing import Any

from dlperf.plan import PlannedConfiguration, TrialKey
from dlperf.results.compare import Comparisons, compare, parse_selector
from dlperf.results.load import load_results
from dlperf.results.model import ConfigurationResult
from dlperf.runs.archive import TrialFiles
from dlperf.runs.paths import Workspace
from dlperf.runs.store import read_campaign

OF_THE_MACHINE = ("schema", "hostname", "boot_id", "network_interfaces", "memory_bytes", "topology", "uuid", "slurm")
"""Parts of ``environment.json`` that differ between equal machines."""
OF_THE_FRAMEWORK = (
    "facts.version",
    "facts.repository",
    "facts.commit",
    "facts.image",
    "facts.patches",
    "environment.container",
)
"""Conditions that go with the framework: no difference to speak of where frameworks are compared."""

Conditions = dict[str, str]


def differences(a: ConfigurationResult, b: ConfigurationResult, of_a: Conditions, of_b: Conditions) -> tuple[str, ...]:
    """What both sides know and where they disagree, apart from the axes that are compared."""
    return tuple(
        f"{name}: {of_a[name]} against {of_b[name]}"
        for name in of_a
        if name in of_b and of_a[name] != of_b[name] and not _expected(name, a, b)
    )


def _expected(name: str, a: ConfigurationResult, b: ConfigurationResult) -> bool:
    if a.hardware != b.hardware and name.startswith(("environment.", "facts.")):
        return True
    return a.framework != b.framework and name.startswith(OF_THE_FRAMEWORK)


class ConditionsReader:
    """Reads the conditions of rows of one workspace; each plan once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._plans: dict[str, dict[str, PlannedConfiguration]] = {}

    def read(self, row: ConfigurationResult) -> Conditions:
        """Protocol, options, stated facts and probed environment, by dotted name; what is not known is left out."""
        planned = self._planned(row)
        if planned is None:
            return {"protocol": row.protocol} if row.protocol else {}
        stated = {
            "protocol": {key: planned.protocol.get(key) for key in ("estimator", "aggregate")},
            "options": planned.options,
            "facts": planned.facts,
            "environment": self._environment(row),
        }
        return dict(flattened(stated, without=OF_THE_MACHINE))

    def _planned(self, row: ConfigurationResult) -> PlannedConfiguration | None:
        if row.campaign not in self._plans:
            self._plans[row.campaign] = self._plan(row.campaign)
        return self._plans[row.campaign].get(row.configuration)

    def _plan(self, name: str) -> dict[str, PlannedConfiguration]:
        paths = self._workspace.campaign(name) if "/" not in name else None
        if paths is None or not paths.plan.is_file():
            return {}
        return {item.configuration.id: item for item in read_campaign(paths).configurations}

    def _environment(self, row: ConfigurationResult) -> Any:
        """What was probed on the first node of the first trial that gave a figure."""
        campaign = self._workspace.campaign(row.campaign)
        for trial in row.trials:
            files = TrialFiles(campaign.trial(TrialKey(row.configuration, trial.number)))
            for node in files.nodes() if trial.usable else ():
                try:
                    return json.loads(files.read(node.environment))
                except (OSError, ValueError):
                    continue
        return {}


def flattened(value: Any, name: str = "", without: Container[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield nested facts as dotted names with their values as text, but for empty ones and those named ``without``."""
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


def compare_in_workspace(workspace: Workspace, a: str, b: str) -> Comparisons:
    """Compare what two selectors mean in a workspace; each pair says under which differing conditions.

    Raises:
        RequestError: a selector means nothing here, or the two share no configuration.
    """
    rows = load_results(workspace)
    found = compare(rows, parse_selector(a, rows), parse_selector(b, rows))
    conditions = ConditionsReader(workspace)
    pairs = (
        replace(pair, differences=differences(pair.a, pair.b, conditions.read(pair.a), conditions.read(pair.b)))
        for pair in found.pairs
    )
    return replace(found, pairs=tuple(pairs))

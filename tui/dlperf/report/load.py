"""A workspace's results, plans, reports and catalogue as the one source of data for the pages."""

from __future__ import annotations

import inspect
from importlib.util import find_spec

from dlperf.catalog.load import load_catalog
from dlperf.measure.estimator import signature
from dlperf.measure.estimators import ESTIMATORS
from dlperf.report.data import PUBLISHED, SiteData
from dlperf.results.auditing import audit_workspace
from dlperf.results.load import load_results
from dlperf.runs.paths import Workspace
from dlperf.runs.published import load_reports
from dlperf.runs.store import read_campaign


def load_site_data(workspace: Workspace) -> SiteData:
    """Everything that the pages are made from.

    Raises:
        DlperfError: a file under ``runs/`` or ``catalog/`` cannot be read; the message names it.
    """
    catalog = load_catalog(workspace.catalog)
    return SiteData(
        results=tuple(load_results(workspace)),
        campaigns={paths.name: read_campaign(paths) for paths in workspace.campaigns()},
        published={f"{PUBLISHED}{report.id}": report for report in load_reports(workspace)},
        hardware=catalog.hardware,
        accelerators=catalog.accelerators,
        frameworks=catalog.frameworks,
        cases=catalog.cases,
        protocols=catalog.protocols,
        estimators=estimator_definitions(),
        audit=tuple(audit_workspace(workspace)),
        parquet=find_spec("pyarrow") is not None,
    )


def estimator_definitions() -> dict[str, str]:
    """How each estimator is written → what it does, as its own documentation begins."""
    return {signature(name): _first_sentences(inspect.getdoc(rule) or "") for name, rule in ESTIMATORS.items()}


def _first_sentences(documentation: str) -> str:
    return " ".join(documentation.partition("\n\n")[0].split()).replace("``", "")

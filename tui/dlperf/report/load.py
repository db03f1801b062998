"""A workspace's results, plans, reports and catalogue as the one source of data for the pages."""

from __future__ import annotations

import inspect
from importlib.util import find_spec

from dlperf.catalog.load import load_catalog
from dlperf.errors import DlperfError
from dlperf.measure.estimator import signature
from dlperf.measure.estimators import ESTIMATORS
from dlperf.report.data import SiteData
from dlperf.results.auditing import audit_workspace
from dlperf.results.load import load_campaign
from dlperf.results.model import ConfigurationResult
from dlperf.results.published import campaign_of, rows_of_report
from dlperf.runs.paths import Workspace
from dlperf.runs.published import load_reports
from dlperf.runs.records import CampaignRecord


def load_site_data(workspace: Workspace) -> SiteData:
    """Everything that the pages are made from. A campaign that cannot be read is left out, and said.

    Raises:
        DlperfError: a published report or the catalogue cannot be read; the message names the file.
    """
    catalog = load_catalog(workspace.catalog)
    campaigns: dict[str, CampaignRecord] = {}
    rows: list[ConfigurationResult] = []
    problems: list[str] = []
    for paths in workspace.campaigns():
        try:
            campaigns[paths.name], measured = load_campaign(workspace, paths)
            rows += measured
        except DlperfError as error:
            problems.append(f"left out: {error}")
    reports = load_reports(workspace)
    return SiteData(
        results=(*rows, *(row for report in reports for row in rows_of_report(report))),
        campaigns=campaigns,
        problems=tuple(problems),
        published={campaign_of(report): report for report in reports},
        hardware=catalog.hardware,
        accelerators=catalog.accelerators,
        frameworks=catalog.frameworks,
        cases=catalog.cases,
        protocols=catalog.protocols,
        estimators=estimator_definitions(),
        audit=tuple(audit_workspace(workspace, records=campaigns)),
        parquet=find_spec("pyarrow") is not None,
    )


def estimator_definitions() -> dict[str, str]:
    """How each estimator is written → what it does, as its own documentation begins."""
    return {signature(name): _first_sentences(inspect.getdoc(rule) or "") for name, rule in ESTIMATORS.items()}


def _first_sentences(documentation: str) -> str:
    return " ".join(documentation.partition("\n\n")[0].split()).replace("``", "")

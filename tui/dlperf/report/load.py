"""Load a workspace's results, reports and catalogue for the pages."""

from collections.abc import Iterable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from dlperf.catalog.axes import profiled_configuration
from dlperf.catalog.files.load import Catalog, load_catalog
from dlperf.catalog.files.problem import CatalogError
from dlperf.catalog.hardware import Hardware
from dlperf.evidence.logs import log_reader
from dlperf.opening import files_below
from dlperf.plan import PlannedConfiguration
from dlperf.report.data import SiteData
from dlperf.report.evidence import EvidenceReader
from dlperf.report.files.editions import editions
from dlperf.report.machine import Probed
from dlperf.report.rechecking import WorkspaceRecheck
from dlperf.report.site.lists.reading import read_list
from dlperf.report.site.lists.withdrawn import Withdrawn
from dlperf.report.site.settings import read_settings, site_address
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.published import load_reports
from dlperf.runs.records import CampaignRecord
from dlperf.runs.secrets import refuse_damaged_secrets
from dlperf.runs.store import Complain, each_readable
from dlperf.table.audited import Verified, read_verified, values_of
from dlperf.table.load import campaigns_of_results, load_campaign
from dlperf.table.model import ConfigurationResult
from dlperf.table.published import campaign_of, rows_of_report
from dlperf.verification.audit import audit_workspace, verdicts_of

HERE = "local"
"""Id of the built-in entry of the machine that dlperf runs on."""


class _Campaigns:
    """The campaigns of a workspace with their rows; what cannot be read is left out and listed in ``problems``."""

    def __init__(self, workspace: WorkspacePaths) -> None:
        self.records: dict[str, CampaignRecord] = {}
        self.rows: list[ConfigurationResult] = []
        self.verified: dict[str, Verified] = {}
        self.problems: list[str] = []
        self.recheck = WorkspaceRecheck(workspace)
        self._workspace = workspace
        list(each_readable(campaigns_of_results(workspace), self._load, self.leave_out))

    def leave_out(self, problem: object) -> None:
        self.problems.append(f"left out: {problem}")

    def _load(self, paths: CampaignPaths) -> None:
        refuse_damaged_secrets(paths.directory)
        found = load_campaign(paths, lambda: log_reader(self._workspace), self.problems.append, self.recheck)
        self.records[paths.name], rows = found
        self.rows += rows
        if verified := read_verified(paths, values_of(rows), self.problems.append):
            self.verified[paths.name] = verified


def load_site_data(workspace: WorkspacePaths, edition: str = "") -> SiteData:
    """Load the data of all pages; what cannot be read is left out and listed in ``problems``."""
    campaigns = _Campaigns(workspace)
    problems, recheck = campaigns.problems, campaigns.recheck
    catalog = load_catalog(workspace.catalog, complain=campaigns.leave_out)
    reports = load_reports(workspace, campaigns.leave_out)
    plans = {
        (name, plan.configuration.id): plan
        for name, record in campaigns.records.items()
        for plan in record.configurations
    }
    probed = _probed(workspace, campaigns.rows, plans, problems.append)
    withdrawn = _withdrawn(workspace.site / "withdrawn.yaml", plans, campaigns.leave_out)
    settings, _ = read_settings(workspace.mkdocs_config)
    address = site_address(settings)
    checked = audit_workspace(workspace, records=campaigns.records, reports=reports, damaged=problems.append)
    published = (row for report in reports for row in rows_of_report(report, verdicts_of(checked)))
    return SiteData(
        results=(*campaigns.rows, *published),
        campaigns=campaigns.records,
        problems=(*problems, *recheck.wrong),
        wrong=tuple(recheck.wrong),
        withdrawn=withdrawn,
        probed=probed,
        profiled=frozenset(key for key, plan in plans.items() if _has_profile(workspace, key[0], plan)),
        published={campaign_of(report): report for report in reports},
        hardware=named_by_processor(catalog, probed),
        accelerators=catalog.accelerators,
        precisions=catalog.precisions,
        frameworks=catalog.frameworks,
        cases=catalog.cases,
        protocols=catalog.protocols,
        metrics=catalog.metrics,
        verified=campaigns.verified,
        audit=tuple(checked),
        address=address,
        edition=edition,
        editions=tuple(sorted({*editions(workspace), *filter(None, [edition])}, reverse=True)),
        previews=bool(address and find_spec("PIL")),
        languages=settings.extra.languages,
        title=settings.site_name,
        repository=settings.repo_url.rstrip("/"),
        contact=settings.extra.contact,
        templates=_own_templates(workspace.site / "templates"),
        parquet=find_spec("pyarrow") is not None,
    )


def load_claim_data(workspace: WorkspacePaths) -> SiteData:
    """Load what the claims of the site are made of; values are not recomputed, and what cannot be read is left out."""
    load = partial(load_campaign, open_reader=lambda: log_reader(workspace))
    found = list(each_readable(campaigns_of_results(workspace), load, lambda _: None))
    rows = tuple(row for _, measured in found for row in measured)
    return SiteData(results=rows, campaigns={record.name: record for record, _ in found})


def _withdrawn(
    path: Path, plans: Mapping[tuple[str, str], PlannedConfiguration], complain: Complain
) -> tuple[Withdrawn, ...]:
    """Return the claims that the site no longer makes, and complain of those whose results are not here."""
    try:
        claims = read_list(path, Withdrawn)
    except CatalogError as error:
        complain(str(error))
        return ()
    for one in claims:
        for missing in {(one.campaign, one.ahead), (one.campaign, one.behind)} - plans.keys():
            complain(f"{path}: no result {missing[1]} in campaign {one.campaign}: correct or remove the claim")
    return claims


def _own_templates(folder: Path) -> Path | None:
    """Return the folder of a workspace's own templates, None without any: a sandbox makes all pages slower."""
    return folder if any(files_below(folder)) else None


def named_by_processor(catalog: Catalog, probed: Mapping[tuple[str, str, str], Probed]) -> Mapping[str, Hardware]:
    """Return the hardware, in which the machine that dlperf runs on has the name of its processor: readers of the site
    are elsewhere."""
    models = (each.environment.get("cpu.model") for (_, hardware, _), each in probed.items() if hardware == HERE)
    model = next(filter(None, models), "")
    if not model or HERE not in catalog.hardware or HERE in catalog.own_hardware:
        return catalog.hardware
    entry = catalog.hardware[HERE]
    chinese = entry.zh and entry.zh.model_copy(update={"title": ""})
    return {**catalog.hardware, HERE: entry.model_copy(update={"title": model, "zh": chinese})}


def _has_profile(workspace: WorkspacePaths, campaign: str, plan: PlannedConfiguration) -> bool:
    return bool(workspace.campaign(campaign).profiles(profiled_configuration(plan.configuration).id))


def _probed(
    workspace: WorkspacePaths,
    rows: Iterable[ConfigurationResult],
    plans: Mapping[tuple[str, str], PlannedConfiguration],
    damaged: Complain,
) -> dict[tuple[str, str, str], Probed]:
    """Return the environment of the first trial of each framework on each hardware of a campaign."""
    reader = EvidenceReader(workspace, damaged)
    found: dict[tuple[str, str, str], Probed] = {}
    for row in rows:
        key = (row.campaign, row.hardware, row.framework)
        trial = next((trial for trial in row.trials if trial.value is not None), None)
        if key not in found and trial is not None:
            plan = plans.get((row.campaign, row.id))
            evidence = reader.read(row, trial, plan, with_launch=False)
            pinned = plan.facts.get("version", "") if plan and plan.options.get("stack") else ""
            found[key] = Probed(evidence.environment, evidence.timeline.declared, evidence.topology, pinned)
    return found

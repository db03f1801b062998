"""``dlperf build-site``: results → Markdown pages and files in ``site/build`` → ``site/html``."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from dlperf.errors import DlperfError
from dlperf.messages import Language
from dlperf.opening import is_plain, linked
from dlperf.redaction import Redactor
from dlperf.report.charts.svg import style_sheet
from dlperf.report.data import SiteData
from dlperf.report.evidence import NOTHING, EvidenceReader, HashedFile, TrialEvidence
from dlperf.report.files import downloads
from dlperf.report.files.editions import keep_edition, refuse_edition
from dlperf.report.files.feed import feed
from dlperf.report.files.previews import previews
from dlperf.report.load import load_site_data
from dlperf.report.pages.audit import audit
from dlperf.report.pages.explorer import conditions_data, explorer, explorer_data
from dlperf.report.pages.frameworks import framework, frameworks_index
from dlperf.report.pages.hardware import hardware, hardware_index, search_ranks
from dlperf.report.pages.history import history
from dlperf.report.pages.home import every_answer, home
from dlperf.report.pages.methodology import methodology
from dlperf.report.pages.models import model
from dlperf.report.pages.reports.report import report, reports_index
from dlperf.report.pages.results.configurations import EvidenceOf, configurations, configurations_index
from dlperf.report.pages.results.evidence import Shapes, curves, log_lines, pictures
from dlperf.report.pages.results.profiles import OfferedProfile
from dlperf.report.pages.your_number import your_number, your_number_data
from dlperf.report.redaction import of_overviews, refuse_leaks, report_lines, site_redactor, without_secrets
from dlperf.report.site import locations as at
from dlperf.report.site.lists.acknowledged import read_acknowledged, without_acknowledged
from dlperf.report.site.locations import ReportGroup
from dlperf.report.site.metadata import described_pages, tabled_pages, with_metadata
from dlperf.report.site.mkdocs import build_html, refuse_foreign_folder
from dlperf.report.site.parallel import parallel_map
from dlperf.report.site.settings import read_settings
from dlperf.report.site.staging import stage
from dlperf.report.site.workspace import update_workspace
from dlperf.report.site.writing import Sources
from dlperf.runs.paths import WorkspacePaths
from dlperf.table.columns import flat_columns, parquet
from dlperf.table.model import ConfigurationResult

FONT = "theme/assets/fonts/inter.woff2"
ADDRESSES = {
    "site_url": "links have no previews and citations no address; set it to where the site will be",
    "repo_url": "readers find no contact and no form for disputes; set it to the repository with the issues, or "
    "extra.contact to a web or e-mail address",
}
"""Setting of mkdocs.yml → what a site lacks without it, and what to do."""


@dataclass(frozen=True)
class SiteBuild:
    """The outcome of a build."""

    pages: int
    """Markdown pages in all languages."""
    written: int
    """Files whose bytes changed."""
    seconds: float
    out: Path
    warnings: str = ""
    """Unreadable files, what was redacted, and warnings of MkDocs, one a line."""
    missing: Sequence[str] = ()
    """What mkdocs.yml lacks, and what the site lacks for it."""


def build_site(
    workspace: WorkspacePaths,
    out: Path | None = None,
    strict: bool = False,
    edition: str = "",
    say: Callable[[str], object] = lambda _: None,
) -> SiteBuild:
    """Write the pages and build the site.

    Args:
        out: folder of the HTML, ``site/html`` if absent. It is replaced as a whole.
        strict: treat warnings of MkDocs (a broken link, a missing page), suspected secrets, and kept results that are
            not what their logs give as errors.
        edition: name under which a copy is kept; none if empty.
        say: called with what is done next, which may take a minute.

    Raises:
        DlperfError: results cannot be read, or MkDocs failed.
    """
    started = time.monotonic()
    if out is None and not is_plain(workspace.site_html):  # which is replaced as a whole
        raise linked(workspace.site_html)
    out = (out or workspace.site_html).resolve()
    refuse_foreign_folder(out)
    if edition:
        refuse_edition(workspace, edition)
    notes = update_workspace(workspace)
    say("reading the results …")
    data = load_site_data(workspace, edition)
    if strict and data.wrong:
        raise DlperfError(data.wrong[0])
    say("writing the pages …")
    sources = write_pages(workspace, data)
    pages = sum(name.endswith(".md") for name in sources.kept)
    unknown = without_secrets(workspace, data.campaigns)
    if strict:
        acknowledged = read_acknowledged(workspace.site / "acknowledged.yaml")
        refuse_leaks(without_acknowledged(sources.redacted, acknowledged), unknown)
    problems = [*notes, *data.problems, *sorted(set(sources.problems)), *report_lines(sources.redacted, unknown)]
    say(f"MkDocs makes HTML of {pages:,} pages …")
    warnings = "".join(f"{problem}\n" for problem in problems) + build_html(workspace, out, strict, search_ranks(data))
    if edition:
        keep_edition(workspace, out, edition)
    return SiteBuild(pages, sources.written, time.monotonic() - started, out, warnings, missing=missing_addresses(data))


def missing_addresses(data: SiteData) -> list[str]:
    """Return a warning for each address that mkdocs.yml lacks: what the site lacks without it, and where to set it."""
    known = {"site_url": data.address, "repo_url": data.repository or data.contact}
    return [f"mkdocs.yml: no {name}: {lacks}" for name, lacks in ADDRESSES.items() if not known[name]]


def write_pages(workspace: WorkspacePaths, data: SiteData) -> Sources:
    """Write everything that MkDocs builds from, and remove what earlier builds left there."""
    redactor = site_redactor(workspace, data)
    sources = Sources(workspace.site_build)
    stage(workspace, read_settings(workspace.mkdocs_config)[0], sources)
    # None means the overviews, which come first because they take longest
    for part in parallel_map(partial(_write_part, workspace, data, redactor), [None, *data.groups]):
        sources.merge(part)
    sources.remove_stale()
    return sources


def _write_part(workspace: WorkspacePaths, data: SiteData, redactor: Redactor, group: ReportGroup | None) -> Sources:
    """Write the pages of a group, or the overviews."""
    sources = Sources(workspace.site_build, redactor if group is not None else of_overviews(redactor))
    if group is not None:
        reader = EvidenceReader(workspace, sources.problems.append)
        _write_group(group, data.groups[group], sources, data, reader)
        return sources
    described = described_pages(data)
    for language in data.site_languages:
        for path, content in overview_pages(language, data):
            page = with_metadata(content, data, path, described.get(path))
            sources.write(at.language_root(language) + path, page)
    _write_downloads(sources, data)
    for path, picture in previews(data, workspace.site_build / FONT):
        sources.write_binary(path, picture)
    return sources


def _write_downloads(sources: Sources, data: SiteData) -> None:
    rows = downloads.site_rows(data, data.ordered)
    columns = flat_columns(rows, downloads.SiteRow)
    sources.write(at.RESULTS_JSON, downloads.results_json(rows))
    sources.write(at.RESULTS_CSV, downloads.rows_csv(columns))
    if data.parquet:
        sources.write_binary(at.RESULTS_PARQUET, parquet(downloads.redacted_columns(columns, sources.redactor)))
    sources.write(at.FEED, feed(data))
    for page, table in tables(data):
        sources.write(at.page_data(page, "csv"), downloads.rows_csv(table))
        sources.write(at.page_data(page, "json"), downloads.rows_json(table))
        if data.parquet:
            table = downloads.redacted_columns(table, sources.redactor)
            sources.write_binary(at.page_data(page, "parquet"), parquet(table))


def tables(data: SiteData) -> Iterator[tuple[str, downloads.Columns]]:
    """Yield each page whose table can be downloaded, and the table."""
    again = [row for rows in data.repeated.values() for one in rows for row in data.together(one)]
    history = {at.HISTORY: again} if again else {}
    for page, results in (*tabled_pages(data).items(), *history.items()):
        yield page, flat_columns(downloads.site_rows(data, results), downloads.SiteRow)
    if data.audit:
        yield at.AUDIT, downloads.audit_columns(data.audit)


def overview_pages(language: Language, data: SiteData) -> Iterator[tuple[str, str]]:
    """Yield path and text of every page except those of configurations, and the explorer's data."""
    everything, data = data, data.localized(language)
    found = every_answer(data)
    yield at.HOME, home(language, data)
    yield at.REPORTS, reports_index(language, data)
    for (source, case), results in data.reports.items():
        yield at.report_page(source, case), report(language, data, source, case, results)
    for case, results in data.models.items():
        yield at.model_page(case), model(language, data, case, results)
    yield at.HARDWARE, hardware_index(language, data)
    for name, results in data.of_hardware.items():
        yield at.hardware_page(name), hardware(language, data, name, results, found)
    yield at.FRAMEWORKS, frameworks_index(language, data)
    for name, results in data.of_framework.items():
        yield at.framework_page(name), framework(language, data, name, results, found)
    yield at.CONFIGURATIONS, configurations_index(language, data)
    yield at.EXPLORER, explorer(language, data)
    yield at.EXPLORER_DATA, explorer_data(language, everything)
    yield at.CONDITIONS_DATA, conditions_data(language, data)
    yield at.YOUR_NUMBER, your_number(language, data)
    yield at.YOUR_NUMBER_DATA, your_number_data(language, data)
    yield at.PALETTE, style_sheet()
    yield at.HISTORY, history(language, data)
    yield at.METHODOLOGY, methodology(language, data)
    yield at.AUDIT, audit(language, data)


def _write_group(
    group: ReportGroup,
    results: tuple[ConfigurationResult, ...],
    sources: Sources,
    data: SiteData,
    reader: EvidenceReader,
) -> None:
    """Write the page of a group in every language, and the files that it links to."""
    evidence = {
        (at.configuration_anchor(result), trial.number): _offer_files(sources, found)
        for result, trial, found in reader.of_group(results, data.plan)
    }
    for path, points in ((at.curves(group), curves(evidence)), (at.log_lines(group), log_lines(evidence))):
        if points:
            sources.write(path, points)
    shapes = {at.configuration_anchor(result): _write_pictures(sources, result, evidence) for result in results}
    profiles = {at.configuration_anchor(result): _offer_profile(sources, result, data, reader) for result in results}
    fleets = reader.diagnosis(group)
    for language in data.site_languages:
        path = at.language_root(language) + at.group_page(group)
        page = configurations(language, data.localized(language), group, results, evidence, shapes, profiles, fleets)
        page = with_metadata(page, data, at.group_page(group), results)
        sources.write(path, page)


def _write_pictures(sources: Sources, result: ConfigurationResult, evidence: EvidenceOf) -> Shapes:
    """Write the charts of a configuration, which all languages share."""
    anchor = at.configuration_anchor(result)
    found = {trial.number: evidence.get((anchor, trial.number), NOTHING) for trial in result.trials}
    drawn, shapes = pictures(result, found)
    if drawn:
        sources.write(at.pictures(result), drawn)
    return shapes


def _offer_files(sources: Sources, found: TrialEvidence) -> TrialEvidence:
    """Offer the trial's files as downloads, except an altered log."""
    if found.log is not None and not found.log_altered:
        sources.copy(at.log_download(found.log.sha256), found.log.source)
    downloads, programs = (tuple(_offer_file(sources, file) for file in files) for files in (found.files, found.sent))
    return replace(found, downloads=downloads, programs=programs)


def _offer_profile(
    sources: Sources, result: ConfigurationResult, data: SiteData, reader: EvidenceReader
) -> OfferedProfile | None:
    found = reader.profile(result, data.plan(result))
    return found and (found[0], _offer_file(sources, found[1]) if found[1] else None)


def _offer_file(sources: Sources, file: HashedFile) -> downloads.Download:
    path = at.file_download(file.sha256, file.name)
    sources.copy(path, file.source)
    redacted = any(path in names for names in sources.redacted.values())
    return downloads.Download(file.name, path, file.sha256, redacted)

"""The pages of machines."""

from collections.abc import Sequence

from dlperf.catalog.hardware import Accelerator, Hardware
from dlperf.messages import Language
from dlperf.messages.numbers import four_digits
from dlperf.plan import max_nodes
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.answer import Answer
from dlperf.report.data import SiteData, distinct
from dlperf.report.machine import localize_facts
from dlperf.report.pages.home import headlines
from dlperf.report.pages.page import COUNTS, Page
from dlperf.report.site import locations as at
from dlperf.report.views import Link, TableView
from dlperf.table.model import ConfigurationResult

MOST_SHARED = 3
"""GPUs in a title."""
RANK_OF_ONE, RANK_OF_PARTS, RANK_OF_MEASURED = 4, 0.5, 2.0
"""Ranks in a search, of one GPU and of nodes that share a host: who types the name of a GPU looks for the first."""


def hardware(
    language: Language, data: SiteData, name: str, results: Sequence[ConfigurationResult], found: Sequence[Answer]
) -> str:
    """Return the page of a machine.

    Args:
        found: the answers of all reports; those on this machine are shown first.
    """
    page = Page(language, data, at.hardware_page(name), figures.shared_axes(results))
    entry, accelerator = data.hardware.get(name), _accelerator_of(data, name)
    return page.render(
        "hardware.md.j2",
        title=data.hardware_title(name),
        description=entry.description if entry else "",
        source=entry.source if entry else "",
        headlines=headlines(page, [answer for answer in found if answer.best.hardware == name]),
        facts=entry and _facts(page, entry, results),
        accelerator=accelerator,
        accelerator_numbers=accelerator and _accelerator_numbers(page, accelerator),
        figures=page.all_figures(results, ("case", "framework")),
    )


def search_ranks(data: SiteData) -> dict[str, float]:
    """Return the ranks of pages in a search by address: of single GPUs, and of frameworks that were measured here."""
    machines = {name: _search_rank(entry) for name in data.of_hardware if (entry := data.hardware.get(name))}
    ranks = {at.hardware_page(name): rank for name, rank in machines.items() if rank}
    measured = {row.framework for row in data.results if data.is_ours(row.campaign)}
    ranks |= {at.framework_page(name): RANK_OF_MEASURED for name in measured}
    return {at.html_address(at.HOME, page): rank for page, rank in ranks.items()}


def _search_rank(entry: Hardware) -> float | None:
    if len({node.host for node in entry.nodes}) < len(entry.nodes):
        return RANK_OF_PARTS
    return RANK_OF_ONE if entry.accelerator and max_nodes(entry) * entry.gpus_per_node == 1 else None


def hardware_index(language: Language, data: SiteData) -> str:
    page = Page(language, data, at.HARDWARE)
    rows = [
        (page.hardware_link(name), _accelerator_title(data, name), _size(page, name, results), *page.counts(results))
        for name, results in sorted(data.of_hardware.items(), key=lambda item: (*data.most_measured(item[1]), item[0]))
    ]
    table = page.table(("hardware", "accelerator", "nodes_gpus", *COUNTS), rows)
    return page.render("hardware_index.md.j2", machines=[("", table)] if rows else [])


def _size(page: Page, name: str, results: Sequence[ConfigurationResult]) -> str:
    """Return nodes and GPUs of each; for a machine known from reports only, the largest scale with a result."""
    entry = page.data.hardware.get(name)
    if entry and _runs_alone(entry, results):
        return page._("1 × 1 (up to {count} separate GPUs, each alone)", count=str(max_nodes(entry)))
    if entry:
        return md.unbroken(f"{max_nodes(entry)} × {entry.gpus_per_node}")
    measured = [row for row in results if row.value is not None]
    return figures.scale_text(max(measured, key=lambda row: row.gpus_total)) if measured else ""


def _runs_alone(entry: Hardware, results: Sequence[ConfigurationResult]) -> bool:
    """Return whether the nodes are GPUs of one host, of which no result used two."""
    hosts = {node.host for node in entry.nodes}
    return len(hosts) < len(entry.nodes) and max((row.gpus_total for row in results), default=0) == 1


def _facts(page: Page, entry: Hardware, results: Sequence[ConfigurationResult]) -> TableView:
    nodes = str(max_nodes(entry))
    if _runs_alone(entry, results):
        nodes = page._("1 (one of up to {count} separate GPUs)", count=nodes)
    return page.facts(
        (
            (page._("Id"), Link(entry.id, code=True)),
            (page._("Accelerator"), _accelerator_title(page.data, entry.id) or "–"),
            (page._("Nodes"), nodes),
            (page._("GPUs per node"), str(entry.gpus_per_node)),
            (page._("Executor"), entry.executor),
            (page._("Price"), str(entry.price or "")),
            *((page.fact(fact), value) for fact, value in localize_facts(page.language, entry, entry.facts).items()),
        )
    )


def _accelerator_numbers(page: Page, accelerator: Accelerator) -> list[tuple[str, str, str]]:
    """Return name, value and unit of each."""
    peaks = {name.upper(): four_digits(peak) for name, peak in accelerator.peak_tflops.items()}
    return [
        (page._("GPU memory"), four_digits(accelerator.memory_gb), "GB"),
        (page._("Memory bandwidth"), four_digits(accelerator.bandwidth_gb_per_s), "GB/s"),
        *((page._("Peak, {precision}", precision=name), peak, "TFLOP/s") for name, peak in peaks.items()),
    ]


def _accelerator_of(data: SiteData, name: str) -> Accelerator | None:
    """Return the accelerator in the catalogue; for a machine known from reports only, the one in its name."""
    entry = data.hardware.get(name)
    if entry:
        return data.accelerators.get(entry.accelerator or "")
    title = data.hardware_title(name)
    matching = (one for one in data.accelerators.values() if one.is_called(title))
    return next(matching, None)


def _accelerator_title(data: SiteData, name: str) -> str:
    entry, accelerator = data.hardware.get(name), _accelerator_of(data, name)
    return accelerator.title if accelerator else (entry.accelerator if entry else "") or ""


def shared_title(page: Page, case: str, results: Sequence[ConfigurationResult]) -> str:
    """Return a title that names model and GPUs, for links to the page elsewhere."""
    hardware = distinct(row.hardware for row in results)
    names = distinct(_accelerator_title(page.data, name) or page.data.hardware_title(name) for name in hardware)
    shown = page.language.separator.join(names[:MOST_SHARED])
    if len(names) > MOST_SHARED:
        shown = page._("{hardware} and {count} more", hardware=shown, count=str(len(names) - MOST_SHARED))
    return page._("{model}: training speed on {hardware}", model=page.data.case_title(case), hardware=shown)

"""The pages of machines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dlperf.catalog.model import Accelerator
from dlperf.messages import Language
from dlperf.report import figures
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.answer import Answer
from dlperf.report.data import SiteData, gpus_total, localize_facts
from dlperf.report.pages.home import headlines
from dlperf.report.pages.page import COUNTS, Page
from dlperf.results.model import ConfigurationResult


def hardware(
    language: Language, data: SiteData, name: str, results: Sequence[ConfigurationResult], found: Sequence[Answer]
) -> str:
    """Return the page of a machine.

    Args:
        found: the answers of all reports; those on this machine are shown first.
    """
    page = Page(language, data, at.hardware_page(name))
    return page.written(
        data.hardware_title(name),
        _description(page, name),
        headlines(page, [answer for answer in found if answer.best.hardware == name]),
        _facts(page, name),
        _accelerator(page, name),
        md.heading(2, page._("All figures"), "figures", searched=False),
        page.all_figures(results, ("case", "framework")),
        page.data_files(),
        wide=True,
    )


def hardware_index(language: Language, data: SiteData) -> str:
    page = Page(language, data, at.HARDWARE)
    rows = [
        (
            page.hardware_link(name),
            _accelerator_title(data, name),
            _size(data, name, results),
            *page.counts(results),
        )
        for name, results in sorted(data.of_hardware.items())
    ]
    table = page.table(("hardware", "accelerator", "nodes_gpus", *COUNTS), rows)
    return page.index(page._("Hardware"), page._("The machines, and how many figures come from each."), table)


def _size(data: SiteData, name: str, results: Sequence[ConfigurationResult]) -> str:
    """Return nodes and GPUs of each; for a machine known from reports only, the largest scale with a result."""
    entry = data.hardware.get(name)
    if entry:
        return md.unbroken(f"{len(entry.nodes)} × {entry.gpus_per_node}")
    measured = [row for row in results if row.value is not None]
    return figures.scale_text(max(measured, key=gpus_total)) if measured else ""


def _description(page: Page, name: str) -> str:
    entry = page.data.hardware.get(name)
    return md.paragraphs(md.text(entry.description), md.source_link(entry.source)) if entry else ""


def _facts(page: Page, name: str) -> str:
    entry = page.data.hardware.get(name)
    if entry is None:
        return ""
    language = page.language
    rows = [
        (page._("Id"), md.code(name)),
        (page._("Accelerator"), md.text(_accelerator_title(page.data, name) or "–")),
        (page._("Nodes"), md.number(str(len(entry.nodes)))),
        (page._("GPUs per node"), md.number(str(entry.gpus_per_node))),
        (page._("Executor"), md.text(entry.executor)),
        *(
            (md.text(page.fact(fact)), md.web_link(value))
            for fact, value in localize_facts(language, entry, entry.facts).items()
        ),
    ]
    return md.paragraphs(md.heading(2, page._("Environment"), "environment"), page.facts(rows))


def _accelerator(page: Page, name: str) -> str:
    accelerator = _accelerator_of(page.data, name)
    if accelerator is None:
        return ""
    rows = [
        (page._("GPU memory"), f"{figures.exact(accelerator.memory_gb)} GB"),
        (page._("Memory bandwidth"), f"{figures.exact(accelerator.bandwidth_gb_per_s)} GB/s"),
        *(
            (page._("Peak, {precision}", precision=md.text(precision.upper())), f"{figures.exact(peak)} TFLOP/s")
            for precision, peak in accelerator.peak_tflops.items()
        ),
        (page._("Source"), md.web_link(accelerator.source) if accelerator.source else ""),
    ]
    title = md.heading(2, page._("Accelerator") + page.language.colon + md.text(accelerator.title), "accelerator")
    return md.paragraphs(title, page.facts(rows))


def _accelerator_of(data: SiteData, name: str) -> Accelerator | None:
    """Return the accelerator in the catalogue; for a machine known from reports only, the one in its name."""
    entry = data.hardware.get(name)
    if entry:
        return data.accelerators.get(entry.accelerator or "")
    title = data.hardware_title(name)
    matching = (one for one in data.accelerators.values() if any(re.search(pattern, title) for pattern in one.match))
    return next(matching, None)


def _accelerator_title(data: SiteData, name: str) -> str:
    entry, accelerator = data.hardware.get(name), _accelerator_of(data, name)
    return accelerator.title if accelerator else (entry.accelerator if entry else "") or ""

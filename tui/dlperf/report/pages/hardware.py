"""The pages of machines."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.report import figures
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.data import SiteData, facts_in_words, grouped
from dlperf.report.pages.page import Page
from dlperf.report.text import Language
from dlperf.results.model import ConfigurationResult


def hardware(say: Language, data: SiteData, name: str, results: Sequence[ConfigurationResult]) -> str:
    page = Page(say, data, at.hardware_page(name))
    return page.written(
        data.hardware_title(name),
        _description(page, name),
        _facts(page, name),
        _accelerator(page, name),
        md.heading(2, say("all_figures"), "figures", searched=False),
        page.all_figures(results, ("case", "framework", "source")),
        page.data_files(),
        wide=True,
    )


def hardware_index(say: Language, data: SiteData) -> str:
    page = Page(say, data, at.HARDWARE)
    rows = []
    for name, results in grouped(sorted(data.ordered, key=lambda row: row.hardware), lambda row: row.hardware).items():
        entry = data.hardware.get(name)
        rows.append(
            (
                page.hardware(name),
                md.text(_accelerator_title(data, entry.accelerator) if entry and entry.accelerator else ""),
                md.number(str(len(entry.nodes))) if entry else "",
                md.number(str(entry.gpus_per_node)) if entry else "",
                md.number(str(sum(row.value is not None for row in results))),
            )
        )
    header = [say(word) for word in ("hardware", "accelerator", "nodes", "gpus_per_node", "figures")]
    return page.written(say("hardware"), say("hardware_intro"), md.table(header, rows) if rows else say("no_figures"))


def _description(page: Page, name: str) -> str:
    entry = page.data.hardware.get(name)
    return md.paragraphs(md.text(entry.description), md.source_link(entry.source)) if entry else ""


def _facts(page: Page, name: str) -> str:
    entry = page.data.hardware.get(name)
    if entry is None:
        return ""
    say = page.say
    rows = [
        (say("id"), md.code(name)),
        (say("accelerator"), md.text(_accelerator_title(page.data, entry.accelerator) if entry.accelerator else "–")),
        (say("nodes"), md.number(str(len(entry.nodes)))),
        (say("gpus_per_node"), md.number(str(entry.gpus_per_node))),
        (say("executor"), md.text(entry.executor)),
        *((page.fact(fact), md.web_link(value)) for fact, value in facts_in_words(say, entry, entry.facts).items()),
    ]
    return md.paragraphs(md.heading(2, say("s_environment"), "environment"), page.facts(rows))


def _accelerator(page: Page, name: str) -> str:
    entry = page.data.hardware.get(name)
    accelerator = page.data.accelerators.get(entry.accelerator) if entry and entry.accelerator else None
    if accelerator is None:
        return ""
    say = page.say
    rows = [
        (say("memory"), f"{md.number(figures.exact(accelerator.memory_gb))} GB"),
        (say("bandwidth"), f"{md.number(figures.exact(accelerator.bandwidth_gb_per_s))} GB/s"),
        *(
            (say("peak", precision=md.text(precision.upper())), f"{md.number(figures.exact(peak))} TFLOP/s")
            for precision, peak in accelerator.peak_tflops.items()
        ),
        *([(say("source"), md.web_link(accelerator.source))] if accelerator.source else []),
    ]
    title = md.heading(2, f"{say('accelerator')}{say.colon}{md.text(accelerator.title)}", "accelerator")
    return md.paragraphs(title, page.facts(rows))


def _accelerator_title(data: SiteData, name: str) -> str:
    return data.accelerators[name].title if name in data.accelerators else name

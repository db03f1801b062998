"""Facts behind the results of a report: plans, machines and software, and a table to compare them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dlperf.messages import N_, Language
from dlperf.plan import PlannedConfiguration
from dlperf.report import figures
from dlperf.report.data import distinct, localize_facts
from dlperf.report.machine import Probed, machine_facts
from dlperf.report.pages.page import Page
from dlperf.report.views import Column, Link, Table
from dlperf.results.model import ConfigurationResult

Results = Sequence[ConfigurationResult]
DECLARED = ("data", "loader")
FRAMEWORK_FACTS = {
    "version": N_("Version"),
    "image": N_("Image"),
    "repository": N_("Repository"),
    "commit": N_("Commit"),
}


def listed(language: Language, values: Iterable[str]) -> str:
    """Join distinct values in order of first appearance."""
    return language.separator.join(distinct(values))


def framework_of(row: ConfigurationResult) -> str:
    return row.framework


def plans_of(page: Page, results: Results) -> list[PlannedConfiguration]:
    """Return the plans of the results, as far as known."""
    return [plan for plan in map(page.data.plan, results) if plan is not None]


def options_of(page: Page, framework: str, results: Results) -> dict[str, str]:
    """Return the options of a framework's recipes, with all values where recipes differ."""
    sets = [plan.options for plan in plans_of(page, results) if plan.configuration.framework == framework]
    names = distinct(name for one in sets for name in one)
    return {name: " / ".join(distinct(figures.option_text(one[name]) for one in sets if name in one)) for name in names}


def probed_of(page: Page, results: Results) -> list[Probed]:
    """Return what one trial of each campaign, hardware and framework probed."""
    keys = distinct((row.campaign, row.hardware, row.framework) for row in results)
    return [page.data.probed[key] for key in keys if key in page.data.probed]


def declared_of(page: Page, results: Results) -> dict[str, str]:
    """Return the facts on the origin of the training data that the logs state."""
    trials = probed_of(page, results)
    values = {
        name: listed(page.language, (probed.declared[name] for probed in trials if name in probed.declared))
        for name in DECLARED
    }
    return {name: value for name, value in values.items() if value}


def machine_of(page: Page, results: Results) -> dict[str, str]:
    """Return the probed facts of the machines, with all values where they differ."""
    known = [machine_facts(probed.environment) for probed in probed_of(page, results)]
    names = distinct(name for facts in known for name in facts)
    return {page._(name): " / ".join(distinct(facts[name] for facts in known if name in facts)) for name in names}


def software_of(page: Page, framework: str, results: Results) -> dict[str, str]:
    """Return version as printed, image, repository and commit; empty for results without a known version."""
    entry = page.data.frameworks.get(framework)
    if entry is None or any(page.data.lacks_version(framework, row.campaign) for row in results):
        return {}
    versions = (probed.framework_version for probed in probed_of(page, results))
    printed = listed(page.language, filter(None, versions))
    image = entry.container.image if entry.container else ""
    stated = dict(
        zip(FRAMEWORK_FACTS.values(), (printed or entry.version, image, entry.repository, entry.commit), strict=True)
    )
    named = {page._(name): value for name, value in stated.items() if value}
    return {
        **named,
        **entry.facts,
        **({page._("Changes to the model code"): "; ".join(entry.patches)} if entry.patches else {}),
    }


def hardware_of(page: Page, hardware: str, results: Results) -> dict[str, str]:
    """Return a machine's facts from catalogue and plan, without those about frameworks."""
    entry = page.data.hardware.get(hardware)
    planned = [plan for plan in plans_of(page, results) if plan.configuration.hardware == hardware]
    facts = {**(entry.facts if entry else {}), **(planned[0].facts if planned else {})}
    shown = localize_facts(page.language, entry, facts) if entry else facts
    return {name: value for name, value in shown.items() if name not in FRAMEWORK_FACTS}


def side_by_side(page: Page, corner: str, columns: Mapping[Link, Mapping[str, str]]) -> Table:
    """Return a table with facts as rows and ``columns`` as columns."""
    named = [{page.fact(fact): value for fact, value in facts.items()} for facts in columns.values()]
    names = distinct(name for facts in named for name in facts)
    rows = tuple((name, *(facts.get(name, "–") for facts in named)) for name in names)
    return Table((Column(corner), *map(Column, columns)), rows)

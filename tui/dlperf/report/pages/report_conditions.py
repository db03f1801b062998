"""Parts of a report on the conditions of its results."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dlperf.plan import Selection
from dlperf.report.data import distinct, grouped, is_published
from dlperf.report.pages.page import Page
from dlperf.report.pages.report_facts import (
    Results,
    framework_of,
    hardware_of,
    machine_of,
    options_of,
    plans_of,
    probed_of,
    side_by_side,
    software_of,
)
from dlperf.report.views import Part, Table
from dlperf.report.views import Step as StepView
from dlperf.runs.published import PublishedReport, Step


@dataclass(frozen=True)
class Environment:
    """The machines, as described in a report or as probed."""

    groups: Sequence[Part] = ()
    topology: str = ""
    """Quoted from the report."""
    machines: Table | None = None
    topologies: Sequence[tuple[str, str]] = ()
    """Machine and its probed topology."""


@dataclass(frozen=True)
class Setup:
    """Prerequisites of a machine for running a campaign."""

    steps: Sequence[StepView] = ()
    """Steps quoted from a published report."""
    data_paths: Table | None = None
    commands: str = ""


@dataclass(frozen=True)
class Steps:
    """Commands that reproduce the results, and commands that ran."""

    again: str = ""
    """The commands that plan and run a campaign."""
    published: Sequence[StepView] = ()
    commands: Sequence[StepView] = ()
    """Commands of each framework."""


def options(page: Page, results: Results) -> Table | None:
    """Return a table of the options that affect the comparison, one column for each framework."""
    if is_published(results[0].campaign):
        return None
    names = distinct(row.framework for row in results)
    return side_by_side(
        page, page._("Options"), {page.framework_link(name): options_of(page, name, results) for name in names}
    )


def environment(page: Page, results: Results) -> Environment:
    report = page.data.published.get(results[0].campaign)
    if report:
        return Environment(_environment_groups(page, report), report.topology)
    machines = grouped(results, lambda row: row.hardware)
    known = {name: hardware_of(page, name, results) | machine_of(page, rows) for name, rows in machines.items()}
    topologies = [
        (page.data.hardware_title(name), topology)
        for name, rows in machines.items()
        for topology in distinct(probed.topology for probed in probed_of(page, rows) if probed.topology)
    ]
    columns = {page.hardware_link(name): facts for name, facts in known.items() if facts}
    return Environment(machines=side_by_side(page, page._("Item"), columns), topologies=topologies)


def images(page: Page, results: Results) -> Table | None:
    """Return the software of a campaign; None for published reports, since the catalogue may be newer."""
    if is_published(results[0].campaign):
        return None
    frameworks = grouped(results, framework_of)
    columns = {page.framework_link(name): software_of(page, name, rows) for name, rows in frameworks.items()}
    return side_by_side(page, page._("Item"), columns)


def setup(page: Page, results: Results) -> Setup | None:
    report = page.data.published.get(results[0].campaign)
    if report:
        prepared = _published_steps(page, (step for step in report.steps if step.setup))
        return Setup(prepared) if prepared else None
    if page.data.is_imported(results[0].campaign):
        return None
    commands = distinct(shlex.join(command) for plan in plans_of(page, results) for command in plan.launch.setup)
    machines = [page.data.hardware.get(row.hardware) for row in results]
    paths = {name: path for entry in machines if entry for name, path in entry.data.items()}
    rows = [(page.fact(name), path) for name, path in paths.items()]
    return Setup(data_paths=page.facts(rows), commands="\n".join(commands))


def steps(page: Page, results: Results) -> Steps:
    report = page.data.published.get(results[0].campaign)
    if report:
        return Steps(published=_published_steps(page, (step for step in report.steps if not step.setup)))
    if page.data.is_imported(results[0].campaign):
        return Steps()
    records = [page.data.campaigns.get(campaign) for campaign in distinct(row.campaign for row in results)]
    again = "\n".join(distinct(run_command(record.selection) for record in records if record))
    frameworks = distinct(row.framework for row in results)
    return Steps(again, commands=[step for name in frameworks for step in _commands(page, name, results)])


def _environment_groups(page: Page, report: PublishedReport) -> list[Part]:
    language = page.language.code
    parts = []
    for group in report.environment:
        table = page.facts((fact.localized(language), fact.value) for fact in group.facts)
        parts.append(Part((group.title.localized(language),), (table,) if table else ()))
    return parts


def _published_steps(page: Page, steps: Iterable[Step]) -> list[StepView]:
    language = page.language
    return [
        StepView(
            step.title.localized(language.code),
            step.text.localized(language.code),
            (step.commands,) * bool(step.commands.strip()),
        )
        for step in steps
    ]


def run_command(selection: Selection) -> str:
    """Return the ``dlperf run`` command with the selection from which a campaign was planned."""
    axes: dict[str, Sequence[str | int]] = {
        "--hardware": selection.hardware,
        "--framework": selection.frameworks,
        "--case": selection.cases,
        "--precision": selection.precisions,
        "--batch-size": selection.batch_sizes,
        "--gpus": selection.scales,
    }
    words = ["dlperf", "run"]
    for option, values in axes.items():
        words += [option, ",".join(map(str, values))] if values else []
    words += ["--protocol", selection.protocol] if selection.protocol else []
    words += ["--repeats", str(selection.repeats)] if selection.repeats else []
    return shlex.join(words)


def _commands(page: Page, framework: str, results: Results) -> list[StepView]:
    """Return the commands of a framework; the whole scripts are on the configuration pages."""
    plans = [plan for plan in plans_of(page, results) if plan.configuration.framework == framework]
    commands = distinct(shlex.join((*plan.launch.interpreter, *plan.launch.command)) for plan in plans)
    return [StepView(page.framework_link(framework), commands=tuple(commands))] if commands else []

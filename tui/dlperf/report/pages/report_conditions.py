"""The parts of a report that say under which conditions its figures came about."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from dlperf.plan import Selection
from dlperf.report import markdown as md
from dlperf.report.data import distinct, grouped, in_language, is_published
from dlperf.report.pages.page import Page
from dlperf.report.pages.report_facts import (
    Results,
    framework_of,
    hardware_of,
    in_columns,
    machine_of,
    options_of,
    plans_of,
    probed_of,
    side_by_side,
    software_of,
)
from dlperf.runs.published import EnvironmentGroup, Step


def options(page: Page, results: Results) -> str:
    """Options that a fair comparison must show, frameworks side by side."""
    if is_published(results[0].campaign):
        return ""
    columns = {name: options_of(page, name, results) for name in distinct(row.framework for row in results)}
    return side_by_side(page, page._("Options"), columns)


def environment(page: Page, results: Results) -> str:
    report = page.data.published.get(results[0].campaign)
    if report:
        groups = [_environment_group(page, group) for group in report.environment]
        topology = (
            md.paragraphs(md.heading(3, page._("Topology"), searched=False), md.block(report.topology, lines=True))
            if report.topology
            else ""
        )
        return md.paragraphs(*groups, topology) or page._("Nothing is known about the machines.")
    machines = grouped(results, lambda row: row.hardware)
    told = {name: hardware_of(page, name, results) | machine_of(page, rows) for name, rows in machines.items()}
    known = {name: facts for name, facts in told.items() if facts}
    folded = [
        md.details(f"{page._('Topology')} · {page.data.hardware_title(name)}", topology)
        for name, rows in machines.items()
        for topology in distinct(probed.topology for probed in probed_of(page, rows) if probed.topology)
    ]
    columns = {
        page.hardware(name): {page.fact(fact): value for fact, value in facts.items()} for name, facts in known.items()
    }
    return md.paragraphs(in_columns(page._("Item"), columns), *folded) or page._("Nothing is known about the machines.")


def images(page: Page, results: Results) -> str:
    """The software of a campaign. A published report tells it in its environment, the catalogue may be newer."""
    if is_published(results[0].campaign):
        return ""
    frameworks = grouped(results, framework_of)
    return side_by_side(
        page, page._("Item"), {name: software_of(page, name, rows) for name, rows in frameworks.items()}
    )


def setup(page: Page, results: Results) -> str:
    """What a machine needs before a campaign can run there."""
    report = page.data.published.get(results[0].campaign)
    if report:
        return _steps(page, (step for step in report.steps if step.setup))
    if page.data.is_imported(results[0].campaign):
        return ""
    commands = distinct(shlex.join(command) for plan in plans_of(page, results) for command in plan.launch.setup)
    data = {name: path for row in results for name, path in _data_paths(page, row.hardware).items()}
    return md.paragraphs(
        page._(
            "A node needs ssh, Python 3.6 or newer and a POSIX shell; dlperf copies the rest. Frameworks come "
            "from the images named above; where none is named, they are those that the machine has."
        ),
        md.paragraphs(page._("Data sets come from these paths:"), _facts(page, data)) if data else "",
        md.block("\n".join(commands)) if commands else "",
    )


def steps(page: Page, results: Results) -> str:
    report = page.data.published.get(results[0].campaign)
    if report:
        return _steps(page, (step for step in report.steps if not step.setup)) or page._(
            "The source gives no commands."
        )
    if page.data.is_imported(results[0].campaign):
        return page._("The source gives no commands.")
    records = [page.data.campaigns.get(campaign) for campaign in distinct(row.campaign for row in results)]
    commands = "\n".join(distinct(run_command(record.selection) for record in records if record))
    again = (
        md.paragraphs(page._("To plan and run the same configurations again:"), md.block(commands)) if commands else ""
    )
    listed = [_commands(page, framework, results) for framework in distinct(row.framework for row in results)]
    return md.paragraphs(again, *listed) or page._("The source gives no commands.")


def _environment_group(page: Page, group: EnvironmentGroup) -> str:
    facts = [(fact.zh if page.language.code == "zh" else fact.en, fact.value) for fact in group.facts]
    rows = [(md.text(name), md.web_link(value)) for name, value in facts]
    return md.paragraphs(
        md.heading(3, md.text(in_language(page.language, group.title)), searched=False), page.facts(rows)
    )


def _steps(page: Page, steps: Iterable[Step]) -> str:
    return md.paragraphs(*(_step(page, number, step) for number, step in enumerate(steps, 1)))


def _step(page: Page, number: int, step: Step) -> str:
    return md.paragraphs(
        md.heading(3, f"{number}. {md.text(in_language(page.language, step.title))}"),
        md.text(in_language(page.language, step.text)),
        md.block(step.commands) if step.commands.strip() else "",
    )


def run_command(selection: Selection) -> str:
    """``dlperf run`` with the selection that a campaign was planned from."""
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


def _commands(page: Page, framework: str, results: Results) -> str:
    """The commands of a framework; the whole scripts stand on the configuration pages."""
    plans = [plan for plan in plans_of(page, results) if plan.configuration.framework == framework]
    commands = distinct(shlex.join((*plan.launch.interpreter, *plan.launch.command)) for plan in plans)
    if not commands:
        return ""
    title = page._("Commands of {framework}", framework=page.framework(framework))
    return md.paragraphs(md.heading(3, title, searched=False), *map(md.block, commands))


def _data_paths(page: Page, hardware: str) -> dict[str, str]:
    entry = page.data.hardware.get(hardware)
    return entry.data if entry else {}


def _facts(page: Page, facts: Mapping[str, str]) -> str:
    return page.facts((page.fact(name), md.web_link(value)) for name, value in facts.items())

"""The parts of a report that say under which conditions its figures came about."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from dlperf.plan import PlannedConfiguration, Selection
from dlperf.report import markdown as md
from dlperf.report.data import distinct, in_language, is_published
from dlperf.report.pages.page import Page
from dlperf.results.model import ConfigurationResult
from dlperf.runs.published import EnvironmentGroup, Step

Results = Sequence[ConfigurationResult]
FRAMEWORK_FACTS = ("version", "image", "repository", "commit")


def options(page: Page, results: Results) -> str:
    """Options that a fair comparison must show, frameworks side by side."""
    if is_published(results[0].campaign):
        return ""
    columns = {name: _options(page, name, results) for name in distinct(row.framework for row in results)}
    return _side_by_side(page, page.say("options"), columns)


def fairness(page: Page, results: Results) -> str:
    """What was not equal between the frameworks; nothing for a single one."""
    frameworks = distinct(row.framework for row in results)
    if is_published(results[0].campaign) or len(frameworks) < 2:
        return ""
    told = {name: {**_software(page, name), **_options(page, name, results)} for name in frameworks}
    names = distinct(name for facts in told.values() for name in facts)
    unequal = [name for name in names if len({facts.get(name, "") for facts in told.values()}) > 1]
    equal = page.say.separator.join(md.text(name) for name in names if name not in unequal)
    columns = {framework: {name: facts.get(name, "–") for name in unequal} for framework, facts in told.items()}
    return md.paragraphs(
        page.say("fairness_rule"),
        _side_by_side(page, page.say("item"), columns),
        page.say("fairness_equal", names=equal) if equal else "",
    )


def environment(page: Page, results: Results) -> str:
    report = page.data.published.get(results[0].campaign)
    if report:
        groups = [_environment_group(page, group) for group in report.environment]
        topology = (
            md.paragraphs(md.heading(3, page.say("topology")), md.block(report.topology)) if report.topology else ""
        )
        return md.paragraphs(*groups, topology) or page.say("no_environment")
    parts = []
    for hardware in distinct(row.hardware for row in results):
        known = _hardware_facts(page, hardware, results)
        parts.append(md.paragraphs(md.heading(3, page.hardware(hardware)), _facts(page, known)) if known else "")
    return md.paragraphs(*parts) or page.say("no_environment")


def images(page: Page, results: Results) -> str:
    """The software of a campaign. A published report tells it in its environment, the catalogue may be newer."""
    if is_published(results[0].campaign):
        return ""
    frameworks = distinct(row.framework for row in results)
    return _side_by_side(page, page.say("item"), {name: _software(page, name) for name in frameworks})


def setup(page: Page, results: Results) -> str:
    """What a machine needs before a campaign can run there. A published report tells it among its steps."""
    if page.data.kind(results[0].campaign) != "measured":
        return ""
    commands = distinct(shlex.join(command) for plan in _plans(page, results) for command in plan.launch.setup)
    data = {name: path for row in results for name, path in _data_paths(page, row.hardware).items()}
    return md.paragraphs(
        page.say("setup_campaign"),
        _facts(page, data),
        md.block("\n".join(commands)) if commands else "",
    )


def steps(page: Page, results: Results) -> str:
    report = page.data.published.get(results[0].campaign)
    if report:
        told = [_step(page, number, step) for number, step in enumerate(report.steps, 1)]
        return md.paragraphs(*told) or page.say("no_steps")
    record = page.data.campaigns.get(results[0].campaign)
    if page.data.is_imported(results[0].campaign):
        return page.say("no_steps")
    again = md.paragraphs(page.say("reproduce"), md.block(run_command(record.selection))) if record else ""
    listed = [_commands(page, framework, results) for framework in distinct(row.framework for row in results)]
    return md.paragraphs(again, *listed) or page.say("no_steps")


def _environment_group(page: Page, group: EnvironmentGroup) -> str:
    facts = [(fact.zh if page.say.code == "zh" else fact.en, fact.value) for fact in group.facts]
    rows = [(md.text(name), md.web_link(value)) for name, value in facts]
    return md.paragraphs(md.heading(3, md.text(in_language(page.say, group.title))), page.facts(rows))


def _step(page: Page, number: int, step: Step) -> str:
    return md.paragraphs(
        md.heading(3, f"{number}. {md.text(in_language(page.say, step.title))}"),
        md.text(in_language(page.say, step.text)),
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
    words += ["--repeats", str(selection.repeats)] if selection.repeats else []
    return shlex.join(words)


def _commands(page: Page, framework: str, results: Results) -> str:
    """The commands of a framework; the whole scripts stand on the configuration pages."""
    plans = [plan for plan in _plans(page, results) if plan.configuration.framework == framework]
    commands = distinct(shlex.join((*plan.launch.interpreter, *plan.launch.command)) for plan in plans)
    if not commands:
        return ""
    title = page.say("commands_of", framework=page.framework(framework))
    return md.paragraphs(md.heading(3, title), *map(md.block, commands))


def _plans(page: Page, results: Results) -> list[PlannedConfiguration]:
    return [plan for plan in map(page.data.plan, results) if plan is not None]


def _options(page: Page, framework: str, results: Results) -> dict[str, str]:
    sets = [plan.options for plan in _plans(page, results) if plan.configuration.framework == framework]
    names = distinct(name for one in sets for name in one)
    return {name: " / ".join(distinct(str(one[name]) for one in sets if name in one)) for name in names}


def _software(page: Page, framework: str) -> dict[str, str]:
    entry = page.data.frameworks.get(framework)
    if entry is None:
        return {}
    image = entry.container.image if entry.container else ""
    stated = dict(zip(FRAMEWORK_FACTS, (entry.version, image, entry.repository, entry.commit), strict=True))
    named = {page.say(name): value for name, value in stated.items() if value}
    return {**named, **entry.facts, **({page.say("patches"): "; ".join(entry.patches)} if entry.patches else {})}


def _hardware_facts(page: Page, hardware: str, results: Results) -> dict[str, str]:
    entry = page.data.hardware.get(hardware)
    planned = [plan for plan in _plans(page, results) if plan.configuration.hardware == hardware]
    return {**(entry.facts if entry else {}), **(planned[0].facts if planned else {})}


def _data_paths(page: Page, hardware: str) -> dict[str, str]:
    entry = page.data.hardware.get(hardware)
    return entry.data if entry else {}


def _facts(page: Page, facts: Mapping[str, str]) -> str:
    return page.facts((md.text(name), md.web_link(value)) for name, value in facts.items())


def _side_by_side(page: Page, corner: str, columns: Mapping[str, Mapping[str, str]]) -> str:
    """Facts as rows and frameworks as columns; nothing where no framework states a fact."""
    names = distinct(name for facts in columns.values() for name in facts)
    if not names:
        return ""
    rows = [(md.text(name), *(md.web_link(facts.get(name, "–")) for facts in columns.values())) for name in names]
    return md.table((corner, *map(page.framework, columns)), rows)

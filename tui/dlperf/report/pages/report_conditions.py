"""The parts of a report that say under which conditions its figures came about."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from dlperf.plan import PlannedConfiguration, Selection
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.answer import contest_of
from dlperf.report.data import distinct, facts_in_words, grouped, in_language, is_published
from dlperf.report.machine import Probed, machine_facts
from dlperf.report.pages.page import Page
from dlperf.report.text import ENGLISH, Language
from dlperf.report.words import WORDS
from dlperf.results.audit import estimator_of
from dlperf.results.identify import slug
from dlperf.results.model import ConfigurationResult
from dlperf.runs.published import EnvironmentGroup, Fact, PublishedReport, Step

Results = Sequence[ConfigurationResult]
DECLARED = ("data", "loader")
FRAMEWORK_FACTS = ("version", "image", "repository", "commit")


def options(page: Page, results: Results) -> str:
    """Options that a fair comparison must show, frameworks side by side."""
    if is_published(results[0].campaign):
        return ""
    columns = {name: _options(page, name, results) for name in distinct(row.framework for row in results)}
    return _side_by_side(page, page.say("options"), columns)


def fairness(page: Page, results: Results) -> str:
    """What was not equal between the frameworks; nothing for a single one, nor where no condition is known."""
    frameworks = distinct(row.framework for row in results)
    if len(frameworks) < 2:
        return ""
    report = page.data.published.get(results[0].campaign)
    by_framework = grouped(results if report else _contested(results), _framework)
    told = {
        name: published_facts(page, report, rows) if report else _measured_facts(page, name, rows)
        for name, rows in by_framework.items()
    }
    names = distinct(name for facts in told.values() for name in facts)
    if not names:
        return ""
    unequal = [name for name in names if len({facts.get(name, "") for facts in told.values()}) > 1]
    equal = page.say.separator.join(page.fact(name) for name in names if name not in unequal)
    columns = {framework: {name: facts.get(name, "–") for name in unequal} for framework, facts in told.items()}
    return md.paragraphs(
        page.say("fairness_rule"),
        _side_by_side(page, page.say("item"), columns, results[0].campaign),
        page.say("fairness_equal", names=equal) if equal else "",
        page.say("fairness_unsaid") if report else "",
    )


def _contested(results: Results) -> list[ConfigurationResult]:
    """What stands beside another framework on the same hardware and precision; all of it where nothing does."""
    measured = [row for row in results if row.value is not None]
    contests = grouped(measured, contest_of)
    several = {contest for contest, rows in contests.items() if len({row.framework for row in rows}) > 1}
    return [row for row in measured if contest_of(row) in several] or list(results)


def _measured_facts(page: Page, framework: str, results: Results) -> dict[str, str]:
    return {
        **_software(page, framework, results),
        **_options(page, framework, results),
        **_declared(page, results),
        **_machine(page, results),
        page.say("batch_size"): _listed(figures.batch_text(row) for row in results),
        page.say("clock_measured"): _clocks(results),
    }


def _clocks(results: Results) -> str:
    """The lowest and the highest mean clock of the trials, in MHz: chips of one kind differ by some percent."""
    told = [round(trial.sm_clock_mhz) for row in results for trial in row.trials if trial.sm_clock_mhz is not None]
    return f"{'–'.join(map(str, distinct((min(told), max(told)))))} MHz" if told else ""


def published_facts(page: Page, report: PublishedReport, results: Results) -> dict[str, str]:
    """What a report says of one of its frameworks: image and versions, batch sizes, precisions, rule and logs."""
    say, first = page.say, results[0]
    name = page.data.framework_title(first.framework, first.campaign)
    printed = [figure for figure in report.figures if slug(figure.framework) == first.framework]
    in_words = {_name_of(say, fact): fact.value for fact in _facts_of(report, name)}
    images = [fact.value for group in report.environment for fact in group.facts if fact.en == name]
    logs = sum(bool(figure.log) for figure in printed)
    return {
        **in_words,
        **({say("image"): images[0]} if images and say("image") not in in_words else {}),
        say("batch_size"): _listed(str(row.batch_size) for row in results if row.batch_size is not None),
        say("precision"): _listed(figure.precision for figure in printed),
        say("nodes_gpus"): _listed(f"{row.nodes} × {row.gpus}" for row in results if row.value is not None),
        say("estimator"): _listed(rule for figure in printed if (rule := estimator_of(figure.rule))),
        say("published_logs_count"): f"{logs} / {len(printed)}",
    }


def _name_of(say: Language, fact: Fact) -> str:
    """In the source's own words; an image is called so in every column, whatever the source calls that of one."""
    if fact.en == WORDS["image"][ENGLISH.column]:
        return say("image")
    return fact.zh if say.code == "zh" else fact.en


def _facts_of(report: PublishedReport, framework: str) -> list[Fact]:
    told = [(group.framework, group.facts) for group in report.environment]
    told += [(run.framework, run.facts) for run in report.conditions]
    return [fact for about, facts in told if about == framework for fact in facts]


def _listed(values: Iterable[str]) -> str:
    return ", ".join(distinct(values))


def _framework(row: ConfigurationResult) -> str:
    return row.framework


def environment(page: Page, results: Results) -> str:
    report = page.data.published.get(results[0].campaign)
    if report:
        groups = [_environment_group(page, group) for group in report.environment]
        topology = (
            md.paragraphs(md.heading(3, page.say("topology"), searched=False), md.block(report.topology, lines=True))
            if report.topology
            else ""
        )
        return md.paragraphs(*groups, topology) or page.say("no_environment")
    machines = grouped(results, lambda row: row.hardware)
    told = {name: _hardware_facts(page, name, results) | _machine(page, rows) for name, rows in machines.items()}
    known = {name: facts for name, facts in told.items() if facts}
    folded = [
        md.details(f"{page.say('topology')} · {page.data.hardware_title(name)}", topology)
        for name, rows in machines.items()
        for topology in distinct(probed.topology for probed in _probed(page, rows) if probed.topology)
    ]
    columns = {
        page.hardware(name): {page.fact(fact): value for fact, value in facts.items()} for name, facts in known.items()
    }
    return md.paragraphs(_columns(page.say("item"), columns), *folded) or page.say("no_environment")


def images(page: Page, results: Results) -> str:
    """The software of a campaign. A published report tells it in its environment, the catalogue may be newer."""
    if is_published(results[0].campaign):
        return ""
    frameworks = grouped(results, _framework)
    return _side_by_side(
        page, page.say("item"), {name: _software(page, name, rows) for name, rows in frameworks.items()}
    )


def setup(page: Page, results: Results) -> str:
    """What a machine needs before a campaign can run there."""
    report = page.data.published.get(results[0].campaign)
    if report:
        return _steps(page, (step for step in report.steps if step.setup))
    if page.data.is_imported(results[0].campaign):
        return ""
    commands = distinct(shlex.join(command) for plan in _plans(page, results) for command in plan.launch.setup)
    data = {name: path for row in results for name, path in _data_paths(page, row.hardware).items()}
    return md.paragraphs(
        page.say("setup_campaign"),
        md.paragraphs(page.say("setup_data"), _facts(page, data)) if data else "",
        md.block("\n".join(commands)) if commands else "",
    )


def steps(page: Page, results: Results) -> str:
    report = page.data.published.get(results[0].campaign)
    if report:
        return _steps(page, (step for step in report.steps if not step.setup)) or page.say("no_steps")
    if page.data.is_imported(results[0].campaign):
        return page.say("no_steps")
    records = [page.data.campaigns.get(campaign) for campaign in distinct(row.campaign for row in results)]
    commands = "\n".join(distinct(run_command(record.selection) for record in records if record))
    again = md.paragraphs(page.say("reproduce"), md.block(commands)) if commands else ""
    listed = [_commands(page, framework, results) for framework in distinct(row.framework for row in results)]
    return md.paragraphs(again, *listed) or page.say("no_steps")


def _environment_group(page: Page, group: EnvironmentGroup) -> str:
    facts = [(fact.zh if page.say.code == "zh" else fact.en, fact.value) for fact in group.facts]
    rows = [(md.text(name), md.web_link(value)) for name, value in facts]
    return md.paragraphs(md.heading(3, md.text(in_language(page.say, group.title)), searched=False), page.facts(rows))


def _steps(page: Page, steps: Iterable[Step]) -> str:
    return md.paragraphs(*(_step(page, number, step) for number, step in enumerate(steps, 1)))


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
    words += ["--protocol", selection.protocol] if selection.protocol else []
    words += ["--repeats", str(selection.repeats)] if selection.repeats else []
    return shlex.join(words)


def _commands(page: Page, framework: str, results: Results) -> str:
    """The commands of a framework; the whole scripts stand on the configuration pages."""
    plans = [plan for plan in _plans(page, results) if plan.configuration.framework == framework]
    commands = distinct(shlex.join((*plan.launch.interpreter, *plan.launch.command)) for plan in plans)
    if not commands:
        return ""
    title = page.say("commands_of", framework=page.framework(framework))
    return md.paragraphs(md.heading(3, title, searched=False), *map(md.block, commands))


def _plans(page: Page, results: Results) -> list[PlannedConfiguration]:
    return [plan for plan in map(page.data.plan, results) if plan is not None]


def _options(page: Page, framework: str, results: Results) -> dict[str, str]:
    sets = [plan.options for plan in _plans(page, results) if plan.configuration.framework == framework]
    names = distinct(name for one in sets for name in one)
    return {name: " / ".join(distinct(figures.option_text(one[name]) for one in sets if name in one)) for name in names}


def _probed(page: Page, results: Results) -> list[Probed]:
    keys = distinct((row.campaign, row.hardware, row.framework) for row in results)
    return [page.data.probed[key] for key in keys if key in page.data.probed]


def _declared(page: Page, results: Results) -> dict[str, str]:
    """What the logs say of where their data came from."""
    told = _probed(page, results)
    values = {name: _listed(probed.declared[name] for probed in told if name in probed.declared) for name in DECLARED}
    return {name: value for name, value in values.items() if value}


def _machine(page: Page, results: Results) -> dict[str, str]:
    """What was probed where these figures were measured; where it differs between frameworks, all of it."""
    told = [machine_facts(probed.environment) for probed in _probed(page, results)]
    names = distinct(name for facts in told for name in facts)
    return {page.say(name): " / ".join(distinct(facts[name] for facts in told if name in facts)) for name in names}


def _software(page: Page, framework: str, results: Results) -> dict[str, str]:
    entry = page.data.frameworks.get(framework)
    if entry is None or any(page.data.tells_no_version(framework, row.campaign) for row in results):
        return {}
    printed = _listed(probed.framework_version for probed in _probed(page, results) if probed.framework_version)
    image = entry.container.image if entry.container else ""
    stated = dict(zip(FRAMEWORK_FACTS, (printed or entry.version, image, entry.repository, entry.commit), strict=True))
    named = {page.say(name): value for name, value in stated.items() if value}
    return {**named, **entry.facts, **({page.say("patches"): "; ".join(entry.patches)} if entry.patches else {})}


def _hardware_facts(page: Page, hardware: str, results: Results) -> dict[str, str]:
    entry = page.data.hardware.get(hardware)
    planned = [plan for plan in _plans(page, results) if plan.configuration.hardware == hardware]
    facts = {**(entry.facts if entry else {}), **(planned[0].facts if planned else {})}
    told = facts_in_words(page.say, entry, facts) if entry else facts
    return {name: value for name, value in told.items() if name not in FRAMEWORK_FACTS}


def _data_paths(page: Page, hardware: str) -> dict[str, str]:
    entry = page.data.hardware.get(hardware)
    return entry.data if entry else {}


def _facts(page: Page, facts: Mapping[str, str]) -> str:
    return page.facts((page.fact(name), md.web_link(value)) for name, value in facts.items())


def _side_by_side(page: Page, corner: str, columns: Mapping[str, Mapping[str, str]], campaign: str = "") -> str:
    """Facts as rows and frameworks as columns; nothing where no framework states a fact."""
    named = {
        page.framework(name, campaign): {page.fact(fact): value for fact, value in facts.items()}
        for name, facts in columns.items()
    }
    return _columns(corner, named)


def _columns(corner: str, columns: Mapping[str, Mapping[str, str]]) -> str:
    """Facts as rows; names of columns and of facts are Markdown already."""
    names = distinct(name for facts in columns.values() for name in facts)
    rows = [(name, *(md.web_link(facts.get(name, "–")) for facts in columns.values())) for name in names]
    return md.table((corner, *columns), rows, figures=False) if rows else ""

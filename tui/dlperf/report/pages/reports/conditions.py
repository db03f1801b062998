"""The conditions of the results of a report: plans, machines, software and commands, and a table to compare them."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dlperf.errors import RequestError
from dlperf.messages import N_, Language
from dlperf.plan import Launch, PlannedConfiguration
from dlperf.plan.axes import run_command
from dlperf.render.launchers import NodeLaunch, find_launcher
from dlperf.report import markdown as md
from dlperf.report.data import distinct, grouped
from dlperf.report.machine import Probed, localize_facts, machine_facts
from dlperf.report.pages.page import Page
from dlperf.report.views import ColumnView, Link, Listed, TableView
from dlperf.substitution import names_in
from dlperf.table.conditions import used_numerics
from dlperf.table.model import ConfigurationResult

Results = Sequence[ConfigurationResult]
DECLARED = ("data", "loader")
FRAMEWORK_FACTS = {
    "version": N_("Version"),
    "image": N_("Image"),
    "repository": N_("Repository"),
    "commit": N_("Commit"),
}
FILLED_IN = {
    "files": N_("the folder of the training programs, which each configuration page links to"),
    "build": N_("the folder in which the framework was installed"),
    "ranks": N_("a folder for what each rank writes"),
    "trial": N_("the number of the trial, from 1: its seed"),
    "node_rank": N_("the number of the node, from 0"),
    "master_address": N_("the address of the first node, such as 127.0.0.1 on a single one"),
    "master_port": N_("a free port of the first node, such as 29500"),
}
"""What a command on a page names in braces, because it is known only when a trial starts."""
ORIGINS = ("log_source", "log_date")
"""Facts of imported logs, which differ between the configurations of one machine."""


def conditions(page: Page, results: Results) -> dict[str, object]:
    """Return options, software and machines side by side, and the commands.

    The template shows none of them for a published report, since the catalogue may be newer.
    """
    corner, frameworks = page._("Item"), grouped(results, framework_of)
    links = {name: page.framework_link(name) for name in frameworks}
    software = {links[name]: software_of(page, name, rows) for name, rows in frameworks.items()}
    return {
        "options": side_by_side(
            page, page._("Options"), {link: options_of(page, name, results) for name, link in links.items()}
        ),
        "images": side_by_side(page, corner, software),
        **_machines(page, results),
        **_commands(page, results),
    }


def _machines(page: Page, results: Results) -> dict[str, object]:
    machines = grouped(results, lambda row: row.hardware)
    known = {name: hardware_of(page, name, results) | machine_of(page, rows) for name, rows in machines.items()}
    columns = {page.hardware_link(name): facts for name, facts in known.items() if facts}
    topologies = [found for name, rows in machines.items() for found in _topologies(page, name, rows)]
    return {"machines": side_by_side(page, page._("Item"), columns), "topologies": topologies}


def _topologies(page: Page, hardware: str, results: Results) -> list[tuple[str, str]]:
    """Return each topology of a machine once, with the first campaign that probed it where there are several."""
    title = page.data.hardware_title(hardware)
    found: dict[str, str] = {}
    for campaign, rows in grouped(results, lambda row: row.campaign).items():
        for probed in probed_of(page, rows):
            found.setdefault(probed.topology, campaign)
    found.pop("", None)
    several = len(found) > 1
    return [(md.BETWEEN.join((title, campaign)) if several else title, text) for text, campaign in found.items()]


def _commands(page: Page, results: Results) -> dict[str, object]:
    """Return how to prepare a machine, how to run everything again, and the command of each trial by framework.

    The whole scripts are on the configuration pages.
    """
    plans = plans_of(page, results)
    machines = [page.data.hardware.get(row.hardware) for row in results]
    paths = {name: path for entry in machines if entry for name, path in entry.data.items()}
    records = [page.data.campaigns.get(campaign) for campaign in distinct(row.campaign for row in results)]
    commands = launched(page, plans)
    return {
        "data_paths": page.facts((page.fact(name), path) for name, path in paths.items()),
        "setup_commands": "\n".join(distinct(line for plan in plans for line in _preparing(plan.launch))),
        "again": "\n".join(distinct(run_command(record.selection) for record in records if record)),
        "commands": commands,
        "filled_in": filled_in(page, [line for _, lines in commands for _, line in lines]),
    }


def launched(page: Page, plans: Sequence[PlannedConfiguration]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return each framework's commands of a first node, with the hardware where there are several kinds."""
    several = len({plan.configuration.hardware for plan in plans}) > 1
    found = []
    for name, same in grouped(plans, lambda plan: plan.configuration.framework).items():
        lines = grouped(same, lambda plan: shlex.join(_words(plan.launch)))
        machines = {line: distinct(_machine(page, plan) for plan in each) for line, each in lines.items()}
        labelled = [(page.language.separator.join(machines[line]) if several else "", line) for line in lines]
        found.append((page.data.framework_title(name), labelled))
    return found


def filled_in(page: Page, commands: Iterable[str]) -> list[tuple[str, str]]:
    """Return what stands in braces in commands, with its meaning."""
    used = {name for line in commands for name in names_in(line)}
    return [(f"{{{name}}}", page._(meaning)) for name, meaning in FILLED_IN.items() if name in used]


def _machine(page: Page, plan: PlannedConfiguration) -> str:
    return page.data.hardware_title(plan.configuration.hardware)


def _words(launch: Launch) -> Sequence[str]:
    """Return the launcher's command on the first node, or that of the program where its launcher is not installed."""
    nodes = tuple(replace(node, address=node.name) for node in launch.nodes)
    task = NodeLaunch(replace(launch, nodes=nodes), 0, {}, "{master_address}", "{master_port}", "{ranks}")
    try:
        return find_launcher(launch.launcher).words(task)
    except RequestError:
        return task.program


def _preparing(launch: Launch) -> list[str]:
    prepared = (*launch.node_preparation.lines, *launch.program_preparation.lines)
    return [*launch.build, *prepared, *map(shlex.join, launch.setup)]


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
    sets = [
        {**used_numerics(plan.numerics, plan.configuration.gpus_total), **plan.options}
        for plan in plans_of(page, results)
        if plan.configuration.framework == framework
    ]
    names = distinct(name for one in sets for name in one)
    return {name: " / ".join(distinct(page.option(one[name]) for one in sets if name in one)) for name in names}


def probed_of(page: Page, results: Results) -> list[Probed]:
    """Return what one trial of each campaign, hardware and framework probed."""
    keys = distinct((row.campaign, row.hardware, row.framework) for row in results)
    return [page.data.probed[key] for key in keys if key in page.data.probed]


def declared_of(page: Page, results: Results) -> dict[str, str]:
    """Return the facts on the origin of the training data that the logs state."""
    trials = probed_of(page, results)
    values = {
        name: listed(
            page.language, (page.option(probed.declared[name]) for probed in trials if name in probed.declared)
        )
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
    stated = [_localized(page, hardware, plan.facts) for plan in planned]
    facts = {**_localized(page, hardware, entry.facts if entry else {}), **(stated[0] if stated else {})}
    several = {*ORIGINS, *(name for told in (entry.told_later if entry else {}).values() for name in told)}
    texts = {name: distinct(each[name] for each in stated if name in each) for name in facts if name in several}
    shown = facts | {name: "; ".join(told) for name, told in texts.items() if told}
    return {name: value for name, value in shown.items() if name not in FRAMEWORK_FACTS}


def _localized(page: Page, hardware: str, facts: Mapping[str, str]) -> dict[str, str]:
    entry = page.data.hardware.get(hardware)
    return localize_facts(page.language, entry, facts) if entry else dict(facts)


def side_by_side(page: Page, corner: str, columns: Mapping[Link, Mapping[str, str]]) -> TableView:
    """Return a table with facts as rows and ``columns`` as columns, those with equal facts as one."""
    equal = grouped(columns, lambda link: tuple(columns[link].items()))
    named = [{page.fact(fact): value for fact, value in facts} for facts in equal]
    names = distinct(name for facts in named for name in facts)
    rows = tuple((name, *(facts.get(name, "–") for facts in named)) for name in names)
    return TableView((ColumnView(corner), *(ColumnView(Listed(links)) for links in equal.values())), rows)

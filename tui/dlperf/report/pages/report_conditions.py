"""Parts of a report on the conditions of its results."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from dlperf.plan import Selection
from dlperf.report.data import distinct, grouped
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
    topologies = [
        (page.data.hardware_title(name), topology)
        for name, rows in machines.items()
        for topology in distinct(probed.topology for probed in probed_of(page, rows) if probed.topology)
    ]
    return {"machines": side_by_side(page, page._("Item"), columns), "topologies": topologies}


def _commands(page: Page, results: Results) -> dict[str, object]:
    """Return how to prepare a machine, how to run everything again, and the command of each trial by framework.

    The whole scripts are on the configuration pages.
    """
    plans = plans_of(page, results)
    machines = [page.data.hardware.get(row.hardware) for row in results]
    paths = {name: path for entry in machines if entry for name, path in entry.data.items()}
    records = [page.data.campaigns.get(campaign) for campaign in distinct(row.campaign for row in results)]
    by_framework = {
        name: distinct(
            shlex.join((*plan.launch.interpreter, *plan.launch.command))
            for plan in plans
            if plan.configuration.framework == name
        )
        for name in distinct(row.framework for row in results)
    }
    return {
        "data_paths": page.facts((page.fact(name), path) for name, path in paths.items()),
        "setup_commands": "\n".join(distinct(shlex.join(command) for plan in plans for command in plan.launch.setup)),
        "again": "\n".join(distinct(run_command(record.selection) for record in records if record)),
        "commands": [(page.framework_link(name), lines) for name, lines in by_framework.items() if lines],
    }


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

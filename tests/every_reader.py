"""All that reads a workspace, in this process: commands, models of the terminal UI, pages of the site."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from dlperf.app.campaigns import CampaignBook
from dlperf.app.model.campaigns_table import CampaignsView, about_campaign
from dlperf.app.model.choice import Choice
from dlperf.app.model.events import event_rows
from dlperf.app.model.options import options_of
from dlperf.app.model.results.comparison import comparable
from dlperf.app.model.results.table import ResultsView
from dlperf.app.model.table import SortedView
from dlperf.app.model.telemetry import device_rows, history_rows, read_devices, read_means
from dlperf.app.model.trial_pages import command_text, environment_lines, figure_lines, read_environment
from dlperf.app.presets import saved_presets
from dlperf.app.series import SeriesReader, log_of_the_figure
from dlperf.app.watching import WatchedCampaign
from dlperf.catalog.files.load import Catalog, load_catalog
from dlperf.cli import main
from dlperf.errors import DlperfError
from dlperf.evidence.logs import log_reader
from dlperf.report import build, rechecking
from dlperf.runs.lookup import trashed_campaigns
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.table.load import load_results
from dlperf.view.webhook import webhook_address

LONGEST = 2500
"""Characters of a line that says what is wrong."""
Reader = Callable[[WorkspacePaths], object]


def run(workspace: WorkspacePaths, *words: str) -> tuple[str, str]:
    """Run a command in this process; return what it printed, which must be a documented end and steer no terminal."""
    out, err = TextIOWrapper(BytesIO(), "utf-8"), TextIOWrapper(BytesIO(), "utf-8")
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(["--workspace", str(workspace.root), *words])
    printed, said = _text(out), _text(err)
    assert ended.value.code in (0, 1, 2, 4), (words, said)
    assert not re.search(r"Traceback|unexpected \w+:", said), (words, said)
    lines = [*printed.splitlines(), *said.splitlines()]
    assert words[0] == "logs" or [line for line in lines if not line.replace("\t", "").isprintable()] == []
    assert max(map(len, said.splitlines()), default=0) <= LONGEST, (words, said[:LONGEST])
    return printed, said


def _text(stream: TextIOWrapper) -> str:
    stream.flush()
    data: bytes = stream.buffer.getvalue()  # type: ignore[attr-defined]
    return data.decode()


def show(table: SortedView[Any]) -> None:
    """Sort a table by each column, and show and copy every row."""
    for column in range(len(table.columns())):
        table.sorted_by(column).shown()
    for item in table.shown():
        table.cells(item), table.text(item)
    table.as_markdown()


def screens(workspace: WorkspacePaths) -> None:
    """What the terminal UI shows of a whole workspace."""
    book = CampaignBook(workspace)
    book.list_names()
    book.refresh(lambda: False)
    book.trial_seconds(), book.last_selection()
    show(CampaignsView(summaries=book.summaries))
    for summary in book.summaries.values():
        about_campaign(summary, 80)
    rows = tuple(load_results(workspace, complain=lambda error: None))
    results = ResultsView(rows=rows)
    for table in (results, *comparable(rows, rows[0].campaign if rows else "").values()):
        show(table)
        table.as_csv()
        for item in table.shown():
            table.about(item)
    trashed_campaigns(workspace)


def watch(workspace: WorkspacePaths, paths: CampaignPaths) -> None:
    """What the terminal UI shows of a campaign and its trials."""
    event_rows(paths)
    with suppress(DlperfError):
        watched = WatchedCampaign(paths)
        watched.refresh_engine()
        for key, trial in watched.status.trials.items():
            watched.trial_row(key, None, time.time()), watched.group_row(key.configuration, [trial], None)
            watched.streams(key), watched.side_logs(key), figure_lines(trial, watched.result_of(key))
            if planned := watched.planned(key.configuration):
                environment_lines(planned, read_environment(paths.trial(key)))
                command_text(paths.trial(key), planned, trial.state.finished)
                if log := log_of_the_figure(watched, key):
                    with suppress(DlperfError):
                        SeriesReader(log, planned, log_reader(workspace)).whole()
            for node in paths.trial(key).nodes():
                for read in (read_devices, read_means):
                    devices = read(node.telemetry, node.directory.name)
                    device_rows(devices, {}), history_rows(devices, 80)


def pages(workspace: WorkspacePaths) -> None:
    """Build the site, all but what MkDocs makes of the pages."""
    said = ""
    try:
        said = build.build_site(workspace).warnings
    except DlperfError as error:
        said = "\n".join(error.lines)
    assert max(map(len, said.splitlines()), default=0) <= LONGEST, said[:LONGEST]


def choices(workspace: WorkspacePaths) -> None:
    """What may be chosen in the terminal UI."""
    options_of(load_catalog(workspace.catalog, complain=lambda problem: None), Choice())


def settings(workspace: WorkspacePaths) -> None:
    """What an engine and the terminal UI read of the settings."""
    for read in (webhook_address, saved_presets):
        with suppress(DlperfError):
            read(workspace)


def command(*words: str) -> Reader:
    return lambda workspace: run(workspace, *words)


OF_WORKSPACE: dict[str, Reader] = {
    **{
        " ".join(words): command(*words)
        for words in (
            *(("status",), ("status", "--json"), ("results",), ("results", "--json", "--metric", "all")),
            *(("results", "--status", "failed"), ("verify",), ("verify", "--json"), ("clean",)),
            *(("query", "select * from results"), ("query", "select * from trials", "--json")),
        )
    },
    "export": lambda workspace: run(workspace, "export", str(workspace.root / "all.sqlite")),
    "results --csv": lambda workspace: run(workspace, "results", "--csv", str(workspace.root / "all.csv")),
    "screens": screens,
    "pages": pages,
}
OF_CATALOGUE: dict[str, Reader] = {
    "catalog check": command("catalog", "check"),
    "catalog": command("catalog"),
    "plan": command("plan", "-H", "local", "-c", "lenet5", "-g", "1n1g"),
    "choices": choices,
    "results": command("results"),
    "pages": pages,
}


def of_campaign(name: str, known: str) -> dict[str, Reader]:
    """What reads one campaign, beside another one of this name."""
    words = (("status", name), ("status", name, "--json"), ("logs", name), ("compare", name, known), ("verify", name))
    return {" ".join(some): command(*some) for some in words} | {
        f"watch {name}": lambda workspace: watch(workspace, workspace.campaign(name))
    }


@contextmanager
def cheap(one_catalogue: bool) -> Iterator[None]:
    """Leave out what takes most of the time and reads no file of a workspace: MkDocs, and processes.

    Args:
        one_catalogue: whether no file of the catalogue changes, so that it is read once.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "build_html", lambda *_: "")
        for module in (build, rechecking):
            patch.setattr(module, "parallel_map", lambda work, items: list(map(work, items)))
        if one_catalogue:
            known: dict[Path | None, Catalog] = {}
            for module in [item for item in sys.modules.values() if getattr(item, "load_catalog", 0) is load_catalog]:
                patch.setattr(module, "load_catalog", partial(_load_once, load_catalog, known))
        yield


def _load_once(
    load: Callable[..., Catalog],
    known: dict[Path | None, Catalog],
    folder: Path | None = None,
    *_: object,
    **__: object,
) -> Catalog:
    if folder not in known:
        known[folder] = load(folder, complain=lambda problem: None)
    return known[folder]

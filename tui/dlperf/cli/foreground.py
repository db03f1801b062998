"""An engine at a terminal: its progress while it runs, its figures at the end."""

from __future__ import annotations

import asyncio
import shlex
import time
from typing import TYPE_CHECKING

from dlperf.cli.output import Progress, print_remarks, print_table, say
from dlperf.errors import ExitCode
from dlperf.view.text import count_noun, one_line

if TYPE_CHECKING:
    from dlperf.runs.journal import CampaignReader
    from dlperf.runs.paths import CampaignPaths, Workspace

REDRAW_SECONDS = 0.5
MOST_REMARKED = 8
"""Configurations whose findings are printed: more would push the figures off the screen."""


def run_in_foreground(workspace: Workspace, paths: CampaignPaths) -> ExitCode:
    """Run a campaign's engine in this process until it is finished, or until a signal: trials then go on."""
    from dlperf.campaign.rules import exit_code, failures, succeeded_without_value
    from dlperf.runs.journal import CampaignReader

    say(f"campaign {one_line(paths.name)}: {paths.directory}")
    reader = CampaignReader(paths)
    signal = asyncio.run(_run_and_draw(workspace, reader))
    name = shlex.quote(one_line(paths.name))
    if signal is not None:
        say(f"stopped by {signal}: what runs goes on on its nodes")
        say(f"`dlperf resume {name}` comes back to it, `dlperf cancel {name}` ends it")
        return ExitCode.INTERRUPTED
    print_figures(paths)
    status = reader.refresh()
    if failures(status):
        say(f"not everything succeeded: see `dlperf status {name}`, run it again with `dlperf retry {name}`")
    if without := succeeded_without_value(status):
        say(
            f"{count_noun(len(without), 'trial')} gave no figure: mend the log format, then "
            f"`dlperf verify {name} --write` measures the same logs again"
        )
    return exit_code(status)


async def _run_and_draw(workspace: Workspace, reader: CampaignReader) -> str | None:
    from dlperf.campaign.dependencies import engine_dependencies
    from dlperf.campaign.engine import run_campaign

    drawing = asyncio.create_task(_draw(reader))
    try:
        return await run_campaign(reader.paths, engine_dependencies(workspace, reader.record))
    finally:
        drawing.cancel()
        await asyncio.gather(drawing, return_exceptions=True)


async def _draw(reader: CampaignReader) -> None:
    from dlperf.cli.campaign_text import announcements, progress_lines
    from dlperf.runs.records import Progress as ProgressRecord
    from dlperf.runs.store import read_record_if_whole

    screen = Progress()
    before = reader.refresh()
    try:
        while True:
            status = reader.refresh()
            screen.announce(announcements(before, status))
            before = status
            if progress := read_record_if_whole(reader.paths.progress, ProgressRecord):
                screen.show(progress_lines(status, progress))
            await asyncio.sleep(REDRAW_SECONDS)
    finally:
        screen.clear()
        screen.announce(announcements(before, reader.refresh()))


def print_figures(paths: CampaignPaths) -> None:
    """The campaign's figures, one row for each configuration, and below them what a careful reader must know."""
    from dlperf.cli.campaign_text import FIGURE_HEADERS, figure_row, remarks
    from dlperf.results.load import campaign_rows

    rows = campaign_rows(paths)
    print_table(FIGURE_HEADERS, [figure_row(row) for row in rows])
    odd = [row for row in rows if remarks(row)]
    if odd:
        print()
    for row in odd[:MOST_REMARKED]:
        print_remarks(row.configuration, remarks(row))
    if len(odd) > MOST_REMARKED:
        print(f"and findings of {len(odd) - MOST_REMARKED} more: see the site, or `dlperf results --json`")


def wait_for_requests(paths: CampaignPaths, seconds: float = 10.0) -> None:
    """Wait until the engine has taken up what was asked, and say what it made of it."""
    from dlperf.runs.records import Event
    from dlperf.runs.store import read_records

    size, read = paths.control.stat().st_size, 0
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        events, read = read_records(paths.journal, Event, read)
        taken = [event for event in events if event.event == "request" and event.data.get("offset", 0) >= size]
        if taken:
            say(str(taken[0].cause or "") or f"{taken[0].data.get('action')}: taken up by the engine")
            return
        time.sleep(0.1)
    say("the engine has not taken it up yet: see `dlperf status`")

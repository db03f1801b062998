"""A campaign in one line, and what ails it in the next."""

from __future__ import annotations

from dlperf.app.model.bars import bar
from dlperf.app.model.table import packed
from dlperf.app.watching import WatchedCampaign
from dlperf.messages import _, render
from dlperf.runs.records import State
from dlperf.view.campaigns import BAD, Standing, standing_of
from dlperf.view.text import local_time, printable, short_duration


def campaign_lines(campaign: WatchedCampaign, width: int) -> list[str]:
    """Progress first, then every problem, at most three lines."""
    return [*_progress_lines(campaign, width), *_problems(campaign)]


def _progress_lines(campaign: WatchedCampaign, width: int) -> list[str]:
    status = campaign.status
    standing = standing_of(status, campaign.engine_pid)
    total = len(status.trials)
    done = sum(trial.state.finished for trial in status.trials.values())
    parts = [
        printable(campaign.paths.name),
        _(standing.value),
        bar(done / total if total else 0.0, 12 if width >= 100 else 6),
        _("{done} of {total}", done=f"{done:,}", total=f"{total:,}"),
    ]
    if running := status.count(State.RUNNING):
        parts.append(_("{count} running", count=running))
    if bad := status.count(*BAD):
        parts.append(_("{count} without a figure", count=bad))
    left = campaign.progress.seconds_left if campaign.progress and campaign.engine_pid is not None else None
    if left is not None and standing in (Standing.RUNNING, Standing.PAUSED):
        parts.append(_("about {time} left", time=short_duration(left)))
    return packed(parts, width)


def _problems(campaign: WatchedCampaign) -> list[str]:
    standing = standing_of(campaign.status, campaign.engine_pid)
    if standing is Standing.INTERRUPTED:
        return [_("The engine has stopped before the end. R starts it again: what still runs is taken over.")]
    if standing is Standing.FINISHED:
        return []
    lines = [
        _(
            "{node} unreachable since {time}: {reason}",
            node=printable(node),
            time=local_time(since),
            reason=printable(render(campaign.status.silence[node])),
        )
        for node, since in campaign.status.unreachable.items()
    ]
    lines += [
        _("{node} is left out: {cause}", node=printable(node), cause=printable(render(cause)))
        for node, cause in campaign.status.left_out.items()
    ]
    if standing is Standing.PAUSED:
        lines.append(_("Paused: no new trial starts; p goes on."))
    return lines

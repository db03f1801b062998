"""Which trials of campaigns may be removed from their nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from dlperf.campaign.create import trial_id
from dlperf.executors.base import Trial
from dlperf.runs.archive import TrialFiles
from dlperf.runs.journal import campaign_status
from dlperf.runs.paths import CampaignPaths, TrialPaths
from dlperf.runs.store import read_campaign


def ended_trials(campaigns: Sequence[CampaignPaths], hardware: Collection[str] = ()) -> list[Trial]:
    """Trials that ended and were sealed, on this hardware or on all.

    Raises:
        DlperfError: a campaign's plan cannot be read.
    """
    return [trial for paths in campaigns for trial in _of_campaign(paths, hardware)]


def _of_campaign(paths: CampaignPaths, hardware: Collection[str]) -> Iterator[Trial]:
    record, status = read_campaign(paths), campaign_status(paths)
    planned = {item.configuration.id: item for item in record.configurations}
    for key, state in status.trials.items():
        item, files = planned[key.configuration], paths.trial(key)
        wanted = not hardware or item.configuration.hardware in hardware
        if wanted and state.state.finished and _archived(files):
            yield Trial(trial_id(record, key), item.launch, files)


def _archived(paths: TrialPaths) -> bool:
    """Whether the trial was submitted and sealed."""
    files = TrialFiles(paths)
    return files.sealed and files.has(paths.reference)

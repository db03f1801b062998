"""An import plan → a campaign's files. The campaign appears whole, in one step, or not at all."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from dlperf import __version__
from dlperf.errors import DlperfError, RequestError
from dlperf.plan import PlannedConfiguration, Selection, TrialKey
from dlperf.results.derived import derive, write_derived
from dlperf.results.importing import NODE, ImportedLog, ImportPlan
from dlperf.results.logs import LogReader, is_gzip
from dlperf.results.model import TrialResult
from dlperf.runs.archive import seal
from dlperf.runs.checksums import sha256_of
from dlperf.runs.clock import utc_now
from dlperf.runs.journal import figure_data
from dlperf.runs.paths import CampaignPaths, TrialPaths, Workspace
from dlperf.runs.records import CampaignRecord, Event, State, TrialRecord, TrialStatus
from dlperf.runs.store import append_records, write_campaign, write_record


def write_import(workspace: Workspace, name: str, plan: ImportPlan, logs: LogReader) -> dict[TrialKey, TrialResult]:
    """Write a campaign of imported logs, and give each trial's result.

    Raises:
        RequestError: a campaign of that name exists, or another import of it was begun.
        DlperfError: a log changed while it was read, or the disk is full.
    """
    campaign = workspace.campaign(name)
    refuse_existing(campaign)
    with _staged(workspace, campaign) as staging:
        record = _campaign_record(name, plan)
        planned = {item.configuration.id: item for item in plan.configurations}
        results = {
            key: _write_trial(staging.trial(key), record, key, log, planned[key.configuration], logs)
            for key, log in plan.trials.items()
        }
        append_records(staging.journal, _events(plan, results))
        write_campaign(staging, record)
    return results


def refuse_existing(campaign: CampaignPaths) -> None:
    """Nothing is overwritten.

    Raises:
        RequestError: there is a campaign of that name.
    """
    if campaign.directory.exists():
        raise RequestError(
            f"--campaign {campaign.name}: it exists already, and nothing is overwritten: choose another name"
        )


@contextmanager
def _staged(workspace: Workspace, campaign: CampaignPaths) -> Iterator[CampaignPaths]:
    """A folder to write into that becomes the campaign in the end, and vanishes when anything goes wrong."""
    folder = workspace.staging(campaign)
    try:
        folder.mkdir(parents=True)
    except FileExistsError as error:
        raise RequestError(
            f"{folder}: another import of this name runs, or one was cut off: delete it if so"
        ) from error
    except OSError as error:
        raise DlperfError(f"{folder}: {error.strerror}") from error
    try:
        yield CampaignPaths(folder)
        refuse_existing(campaign)
        folder.rename(campaign.directory)
    except OSError as error:
        raise DlperfError(f"{error.filename or folder}: {error.strerror}: nothing was imported") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _campaign_record(name: str, plan: ImportPlan) -> CampaignRecord:
    return CampaignRecord(
        name=name,
        token=secrets.token_hex(4),
        created=utc_now(),
        dlperf_version=__version__,
        selection=Selection(),
        configurations=plan.configurations,
        trials=tuple(plan.trials),
    )


def _write_trial(
    paths: TrialPaths,
    campaign: CampaignRecord,
    key: TrialKey,
    log: ImportedLog,
    planned: PlannedConfiguration,
    logs: LogReader,
) -> TrialResult:
    trial_id = f"{campaign.name}-{campaign.token}.{key.configuration}.{key.number}"
    write_record(
        paths.trial,
        TrialRecord(trial_id, campaign.name, log.configuration, key.number, source=log.source, log_run=log.log_run),
    )
    _copy_log(log, paths)
    seal(paths)
    derived = derive(paths, planned, TrialStatus(key, State.SUCCEEDED), logs)
    write_derived(paths, derived)
    return derived.result


def _copy_log(log: ImportedLog, paths: TrialPaths) -> None:
    """Byte for byte; what was compressed stays so."""
    node = paths.node(NODE)
    target = node.compressed_log if is_gzip(log.file.path) else node.log
    target.parent.mkdir(parents=True, exist_ok=True)
    with log.file.path.open("rb") as source, target.open("wb") as stream:
        shutil.copyfileobj(source, stream, 1 << 20)
    if sha256_of(target) != log.sha256:
        raise DlperfError(f"{log.file.shown} changed while it was read: import it when it is no longer written")


def _events(plan: ImportPlan, results: Mapping[TrialKey, TrialResult]) -> list[Event]:
    now = utc_now()
    return [
        Event(now, "campaign_started", source="import"),
        *(_state(now, key, log, results[key]) for key, log in plan.trials.items()),
        Event(now, "campaign_finished", source="import"),
    ]


def _state(time: str, key: TrialKey, log: ImportedLog, result: TrialResult) -> Event:
    data = {"log": log.file.name} | figure_data(result.value, result.unit)
    return Event(time, "state", str(key), str(State.SUCCEEDED), source="import", data=data)

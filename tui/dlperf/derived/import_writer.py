"""Write an import plan as a campaign, in one step or not at all."""

import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from dlperf.derived.importing import FOLDER, ImportedLog, ImportPlan
from dlperf.derived.timeline import derive, write_derived
from dlperf.errors import DlperfError, RequestError
from dlperf.evidence.logs import LogReader, is_gzip
from dlperf.measured.model import TrialResult
from dlperf.opening import make_folder, open_regular, private_writer
from dlperf.plan import PlannedConfiguration, Selection, TrialKey
from dlperf.runs.archive import seal, sha256_of
from dlperf.runs.journal import figure_data
from dlperf.runs.paths import CampaignPaths, TrialPaths, WorkspacePaths
from dlperf.runs.records import CampaignRecord, Event, State, TrialRecord, TrialStatus, utc_now
from dlperf.runs.store import append_records, write_campaign, write_record
from dlperf.version import version


def write_import(
    workspace: WorkspacePaths, name: str, plan: ImportPlan, logs: LogReader
) -> dict[TrialKey, TrialResult]:
    """Write a campaign of imported logs, and return each trial's result.

    Raises:
        RequestError: a campaign of that name exists, or another import of it was started.
        DlperfError: a log changed while it was read, or the disk is full.
    """
    campaign = workspace.campaign(name)
    refuse_existing(campaign)
    with staged(workspace, campaign) as staging:
        token, trials = secrets.token_hex(4), tuple(plan.trials)
        record = CampaignRecord(name, token, utc_now(), version(), Selection(), plan.configurations, trials)
        planned = {item.configuration.id: item for item in plan.configurations}
        results = {
            key: _write_trial(staging.trial(key), record, key, log, planned[key.configuration], logs)
            for key, log in plan.trials.items()
        }
        append_records(staging.journal, _events(plan, results))
        write_campaign(staging, record)
    return results


def refuse_existing(campaign: CampaignPaths) -> None:
    """Raise RequestError if the campaign exists."""
    if campaign.directory.exists():
        raise RequestError(
            f"--campaign {campaign.name}: it exists already, and nothing is overwritten: choose another name"
        )


@contextmanager
def staged(workspace: WorkspacePaths, campaign: CampaignPaths) -> Iterator[CampaignPaths]:
    """Provide a folder that becomes the campaign at the end, and is removed after an error."""
    folder = workspace.staging(campaign)
    try:
        make_folder(folder, anew=True)
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
    """Copy the log byte for byte, compressed or not."""
    node = paths.node(FOLDER)
    target = node.compressed_log if is_gzip(log.file.opened) else node.log
    make_folder(target.parent)
    with open_regular(log.file.opened) as source, open(target, "wb", opener=private_writer) as stream:
        shutil.copyfileobj(source, stream, 1 << 20)
    if sha256_of(target) != log.sha256:
        raise DlperfError(f"{log.file.shown} changed while it was read: import it when it is no longer written")


def _events(plan: ImportPlan, results: Mapping[TrialKey, TrialResult]) -> Iterator[Event]:
    now = utc_now()
    yield Event(now, "campaign_started", source="import")
    for key, log in plan.trials.items():
        data = {"log": log.file.name} | figure_data(results[key].value, results[key].unit)
        yield Event(now, "state", str(key), str(State.SUCCEEDED), source="import", data=data)
    yield Event(now, "campaign_finished", source="import")

"""Accept a bundle: verify it as any campaign, trust nothing else in it, and add it as somebody's results."""

from contextlib import suppress
from dataclasses import replace
from math import isclose
from pathlib import Path

from dlperf.bundles.pack import INSIDE_TRIAL, MOST_FILES, plan_in_bundle, unpack
from dlperf.bundles.plan import accepted, ended_events
from dlperf.catalog.files.load import Catalog
from dlperf.derived.import_writer import refuse_existing, staged
from dlperf.errors import DlperfError, RequestError
from dlperf.evidence.logs import LogReader, is_plain
from dlperf.formats.registry import format_ids
from dlperf.measured.model import TrialResult
from dlperf.runs.archive import TrialFiles
from dlperf.runs.bounded import load_json
from dlperf.runs.journal import campaign_status
from dlperf.runs.paths import CampaignPaths, TrialPaths, WorkspacePaths
from dlperf.runs.records import CampaignStatus, TrialRecord, is_until_now
from dlperf.runs.store import append_records, read_campaign, read_record_if_whole, write_campaign
from dlperf.verification.differing import DECISIVE
from dlperf.verification.verify import Difference, Verification, verify_campaign

LONGEST_SENDER = 80
SAME_VALUE = 1e-12
"""Relative difference of values that versions of dlperf may round differently."""


def accept_bundle(
    workspace: WorkspacePaths, file: Path, sender: str, name: str, catalog: Catalog, logs: LogReader
) -> Verification:
    """Add a bundle as an imported campaign, in one step or not at all.

    Args:
        sender: who is named as its source.
        name: of the campaign; that of the bundle if empty.

    Raises:
        RequestError: it is no bundle, is not what its logs give, or a campaign of that name exists.
        DlperfError: it cannot be written.
    """
    if not sender.strip() or not sender.isprintable() or len(sender) > LONGEST_SENDER:
        raise RequestError(f"--from {sender!r}: a name has 1 to {LONGEST_SENDER} printable characters")
    campaign = workspace.new_campaign(name or _name_of(file))
    refuse_existing(campaign)
    with staged(workspace, campaign) as staging:
        unpack(file, staging.directory)
        try:
            found = _verified(staging, logs)
            _rewrite(staging, campaign.name, f"sent by {sender}", catalog)
        except (DlperfError, ValueError, ArithmeticError) as error:
            problem = str(error).replace(f"{staging.directory}/", "")
            raise RequestError(f"{file}: {problem}: nothing was accepted") from error
        verify_campaign(staging, logs, write=True)
    return replace(found, campaign=campaign.name)


def _name_of(file: Path) -> str:
    with suppress(ValueError, TypeError, KeyError):
        return str(load_json(plan_in_bundle(file))["name"])
    raise RequestError(f"{file}: no bundle: its plan has no name: nothing was accepted")


def _verified(staging: CampaignPaths, logs: LogReader) -> Verification:
    """Verify a bundle that was unpacked."""
    record = read_campaign(staging)
    if len(record.trials) > MOST_FILES:
        raise RequestError(f"its plan has more than {MOST_FILES} trials")
    if not is_until_now(record.created):
        raise RequestError(f"created {record.created!r} is no date until now")
    known = format_ids(logs.formats)
    if unknown := [item.format for item in record.configurations if item.format not in known]:
        raise RequestError(
            f"its log format {unknown[0]!r} is not in your catalogue: ask the sender for the entry, read it, put it in "
            "catalog/"
        )
    status = campaign_status(staging)
    _refuse_strays(staging, status)
    for key in status.trials:
        _check_trial(staging.trial(key))
    found = verify_campaign(staging, logs)
    if wrong := [item for item in found.differences if item.problem != "differs" or _is_decisive(item)]:
        raise RequestError(f"{wrong[0].trial}: {wrong[0].what} {wrong[0].problem}: not what its logs and hashes give")
    if not found.values:
        raise RequestError("no log in it gives a value")
    return found


def _is_decisive(difference: Difference) -> bool:
    """Tell whether a field says another result; versions may differ in others, which are written as recomputed."""
    if difference.what != "value" or None in (difference.stored, difference.recomputed):
        return difference.what in DECISIVE
    return not isclose(difference.stored, difference.recomputed, rel_tol=SAME_VALUE)


def _refuse_strays(staging: CampaignPaths, status: CampaignStatus) -> None:
    """Raise RequestError for files of no trial, and for trials that have not ended."""
    known = {staging.trial(key).directory for key in status.trials}
    for folder in staging.directory.glob("*/*"):
        if folder.is_dir() and folder not in known:
            raise RequestError(f"{folder.relative_to(staging.directory)} is no trial of its plan")
    if running := [str(key) for key, trial in status.trials.items() if not trial.state.finished]:
        raise RequestError(f"{running[0]} has not ended")


def _check_trial(paths: TrialPaths) -> None:
    """Raise RequestError for archived names that lead elsewhere, packed logs, and logs that claim another source."""
    files = TrialFiles(paths)
    for name in files.digests():
        if not INSIDE_TRIAL.fullmatch(name):
            raise RequestError(f"{name!r} is no name of a trial's file")
    for log in (log for node in paths.nodes() for log in node.logs()):
        if not is_plain(log):
            raise RequestError(f"{log}: packed")
    record = read_record_if_whole(paths.trial, TrialRecord, read=files.read)
    if record and record.source:
        raise RequestError(f"{paths.trial}: an imported log: results are sent by who measured them")


def _rewrite(staging: CampaignPaths, name: str, source: str, catalog: Catalog) -> None:
    """Write plan and journal anew: what others sent is not run, and its constants are those of this catalogue."""
    record, status = read_campaign(staging), campaign_status(staging)
    plans = tuple(accepted(item, source, record.created[:10], catalog) for item in record.configurations)
    results = {
        key: result
        for key in status.trials
        if (result := read_record_if_whole(staging.trial(key).result, TrialResult)) is not None
    }
    write_campaign(staging, replace(record, name=name, configurations=plans, impossible=()))
    staging.journal.unlink()
    append_records(staging.journal, ended_events(record.created, status.trials.values(), results))

"""Create a campaign from a plan: name, token and frozen ``campaign.json``."""

import hashlib
import re
import secrets
from dataclasses import replace
from datetime import UTC, datetime

from dlperf.catalog.files.settings import read_settings
from dlperf.errors import RequestError, StorageError
from dlperf.opening import make_folder
from dlperf.plan import Plan, TrialKey
from dlperf.plan.hiding import Hidden
from dlperf.plan.model import interleaved
from dlperf.runs.lookup import refuse_unfinished
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.records import CampaignRecord, TrialRecord, utc_now
from dlperf.runs.store import write_campaign, write_secrets
from dlperf.version import version

ID_LENGTH = 200
"""Longest trial id: it names a folder on the node (at most 255 bytes) and, with the node's name, a container."""


def create_campaign(workspace: WorkspacePaths, plan: Plan, name: str | None = None) -> CampaignPaths:
    """Write a plan under a name, by default the time and what is measured first, and its secrets in a separate file.

    Raises:
        RequestError: the plan is empty, or a campaign of that name exists, or the name cannot be one.
        CatalogError: ``dlperf.yaml`` has mistakes.
        StorageError: the run directory cannot be written.
    """
    if not plan.configurations:
        raise RequestError("nothing to run: every configuration asked for is impossible")
    read_settings(workspace.settings)  # before anything is written that an engine would then refuse
    paths = _make_named(workspace, name) if name is not None else _make_unnamed(workspace, plan)
    hidden = Hidden()
    record = _record(paths.name, replace(plan, configurations=tuple(map(hidden.configuration, plan.configurations))))
    write_secrets(paths.directory, hidden.values)
    write_campaign(paths, record)
    return paths


def refuse_examples(plan: Plan) -> None:
    """Refuse machines of published reports, which have placeholder hosts.

    Raises:
        RequestError: the plan needs such a machine.
    """
    for item in plan.configurations:
        if item.example:
            name = item.configuration.hardware
            raise RequestError(
                f"--hardware {name}: an example with placeholder hosts: copy it with `dlperf catalog show {name} "
                f"> catalog/hardware/<id>.yaml`, give it an id, hosts and paths of your own, take `example: true` out, "
                f"and select that"
            )


def _record(name: str, plan: Plan) -> CampaignRecord:
    token = secrets.token_hex(4)
    return CampaignRecord(
        name=name,
        token=token,
        created=utc_now(),
        dlperf_version=version(),
        selection=plan.selection,
        configurations=plan.configurations,
        trials=interleaved(plan.configurations, token),
        seed=token,
        impossible=plan.impossible,
    )


def campaign_name(plan: Plan, moment: datetime) -> str:
    """Return a name made of a time and of what is measured first."""
    first = plan.configurations[0].configuration
    return f"{moment:%Y-%m-%d-%H%M%S}-{first.framework}-{first.case}"[:100]


def _make_named(workspace: WorkspacePaths, name: str) -> CampaignPaths:
    paths = workspace.new_campaign(name)
    refuse_unfinished(workspace, paths.name)
    if not _make(paths):
        raise RequestError(f"--name {name!r}: {paths.directory} exists: choose another, or go on with `dlperf resume`")
    return paths


def _make_unnamed(workspace: WorkspacePaths, plan: Plan) -> CampaignPaths:
    stem = campaign_name(plan, datetime.now(UTC))
    names = [stem, *(f"{stem}-{number}" for number in range(2, 100))]
    return next(filter(_make, map(workspace.campaign, names)))


def _make(paths: CampaignPaths) -> bool:
    """Make the folder of a campaign; return whether there was none, also where another process makes the same one."""
    try:
        make_folder(paths.directory, anew=True)
    except FileExistsError:
        return False
    except OSError as error:
        raise StorageError(
            f"{paths.directory}: cannot be written ({error.strerror}): free space or fix permissions"
        ) from error
    return True


def trial_record(record: CampaignRecord, key: TrialKey, retry_of: int | None = None) -> TrialRecord:
    """Return the contents of ``trial.json``."""
    configuration = next(
        item.configuration for item in record.configurations if item.configuration.id == key.configuration
    )
    return TrialRecord(trial_id(record, key), record.name, configuration, key.number, retry_of)


def trial_id(record: CampaignRecord, key: TrialKey) -> str:
    """Return ``<campaign>-<token>.<configuration id>.<number>`` in ``[A-Za-z0-9._-]``, at most 200 characters.

    The token makes it unique, so the campaign's name may be shortened.
    """
    campaign = re.sub(r"[^A-Za-z0-9]+", "-", record.name).strip("-")[:32] or "campaign"
    configuration = key.configuration
    room = ID_LENGTH - len(f"{campaign}-{record.token}..{key.number}")
    if len(configuration) > room:
        digest = hashlib.sha256(configuration.encode()).hexdigest()[:12]
        configuration = f"{configuration[: room - 13]}-{digest}"
    return f"{campaign}-{record.token}.{configuration}.{key.number}"

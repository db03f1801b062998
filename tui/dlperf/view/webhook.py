"""Hand the results of a campaign that has ended to the address and the command in ``dlperf.yaml``."""

import os
import subprocess
from collections import Counter
from typing import Any

from dlperf.catalog.files.settings import read_settings
from dlperf.errors import DlperfError, ExitCode, RequestError
from dlperf.evidence.logs import log_reader
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.records import CampaignStatus, State
from dlperf.runs.secrets import redact_for_runs
from dlperf.runs.store import dump_record
from dlperf.table.load import load_campaign
from dlperf.table.model import ConfigurationResult
from dlperf.version import version
from dlperf.view.http import SendError, send

COMMAND_SECONDS = 60.0
RESULT = ("configuration", "metric", "value", "unit", "spread", "n")
"""Fields of a result."""


def webhook_address(workspace: WorkspacePaths) -> str:
    """Return the address, empty without one.

    Raises:
        RequestError: ``dlperf.yaml`` has mistakes, or names a variable that holds no address.
    """
    written = read_settings(workspace.settings).at_end.webhook
    if not written.startswith("$"):
        return written
    address = os.environ.get(written[1:], "")
    if not address.startswith(("http://", "https://")):
        raise RequestError(
            f"{workspace.settings}: at_end.webhook: {written} holds no http:// or https:// address: set it"
        )
    return address


def campaign_document(
    workspace: WorkspacePaths, paths: CampaignPaths, status: CampaignStatus, code: ExitCode
) -> dict[str, Any]:
    """Return what is posted: trials by state, exit code, and each result with the codes of its caveats."""
    states = Counter(str(trial.state) for trial in status.trials.values())
    _, rows = load_campaign(paths, lambda: log_reader(workspace))
    return {
        "event": "campaign_ended",
        "schema": 1,
        "campaign": paths.name,
        "text": f"campaign {paths.name}: {states[State.SUCCEEDED]} of {states.total()} trials succeeded",
        "exit_code": int(code),
        "trials": dict(states),
        "results": list(map(_result, rows)),
        "dlperf_version": version(),
    }


def _result(row: ConfigurationResult) -> dict[str, Any]:
    fields = {name: row.cell(name) for name in RESULT}
    return fields | {"status": row.status.code, "caveats": [finding.code for finding in row.caveats]}


def post_document(address: str, paths: CampaignPaths, document: dict[str, Any]) -> None:
    """Post a document as JSON, without the secrets of its campaign. Raises DlperfError: it did not arrive."""
    try:
        send(address, redact_for_runs(paths.plan, dump_record(document)))
    except SendError as error:
        raise DlperfError(f"webhook of {error}: the campaign is not affected") from error


def run_command(command: str, paths: CampaignPaths, document: dict[str, Any]) -> None:
    """Give a document as JSON, without the secrets of its campaign, to a line of ``sh``, which writes to stderr.

    Raises:
        DlperfError: it failed, or did not end in time.
    """
    data = redact_for_runs(paths.plan, dump_record(document))
    try:
        subprocess.run(["sh", "-c", command], input=data, stdout=2, timeout=COMMAND_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        code = getattr(error, "returncode", None)
        why = f"no end after {COMMAND_SECONDS:.0f} s" if code is None else f"exit code {code}"
        raise DlperfError(f"at_end.command of dlperf.yaml: {why}: the campaign is not affected") from error

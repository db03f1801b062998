"""Push results to an MLflow server by its REST API: a run for each result."""

import json
import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from dlperf.errors import DlperfError, RequestError
from dlperf.runs.records import seconds_between
from dlperf.table.model import ConfigurationResult
from dlperf.view.http import SendError, send
from dlperf.view.text import one_line

EXPERIMENT = "dlperf"
RESULT = "dlperf.result"
"""Tag of a run that names its result, so that none is pushed twice."""
PAGE = 1000
BATCH = 500
"""Metrics in a request; MLflow takes 1000."""
REFUSED = "is it an MLflow server, and are MLFLOW_TRACKING_USERNAME and _PASSWORD (or _TOKEN) right?"
LONGEST = 500
"""Characters of a parameter or tag."""
_KEY = re.compile(r"[\w. /-]{1,200}", re.ASCII)


def push_results(address: str, rows: Iterable[ConfigurationResult]) -> int:
    """Push each result of a campaign that the server lacks into the experiment ``dlperf``; return how many.

    Raises:
        DlperfError: the address is none, or the server does not take them.
    """
    if not address.startswith(("http://", "https://")):
        raise RequestError("--mlflow: write the server's address, such as http://127.0.0.1:5000")
    server = _TrackingServer(address)
    experiment = server.experiment()
    known = set(server.pushed(experiment))
    new = [row for row in rows if row.n and not row.is_third_party and _name(row) not in known]
    for row in new:
        server.push(experiment, row)
    return len(new)


def _name(row: ConfigurationResult) -> str:
    return f"{row.campaign}/{row.id}"


class _TrackingServer:
    def __init__(self, address: str) -> None:
        self._root = f"{address.rstrip('/')}/api/2.0/mlflow/"
        self._headers = _authorization()

    def experiment(self) -> str:
        """Return the id of the experiment, which is made where it is missing."""
        found = self._call("experiments/search", filter=f"name = '{EXPERIMENT}'", max_results=1).get("experiments")
        return str((found[0] if found else self._call("experiments/create", name=EXPERIMENT))["experiment_id"])

    def pushed(self, experiment: str) -> Iterator[str]:
        """Yield the results whose runs are complete."""
        asked = {"experiment_ids": [experiment], "filter": "attributes.status = 'FINISHED'", "max_results": PAGE}
        token: str | None = ""
        while token is not None:
            answer = self._call("runs/search", **asked, page_token=token)
            for run in answer.get("runs", ()):
                yield from (tag["value"] for tag in run["data"].get("tags", ()) if tag["key"] == RESULT)
            token = answer.get("next_page_token") or None

    def push(self, experiment: str, row: ConfigurationResult) -> None:
        begun = min((_milliseconds(trial.started) for trial in row.trials if trial.started), default=0)
        caveats = ", ".join(finding.code for finding in row.caveats)
        tags = _pairs({RESULT: _name(row), "campaign": row.campaign, "status": row.status.code, "caveats": caveats})
        asked = {"experiment_id": experiment, "start_time": begun, "run_name": row.id, "tags": tags}
        run = self._call("runs/create", **asked)["run"]["info"]["run_id"]
        self._call("runs/log-batch", run_id=run, params=_pairs(_parameters(row)))
        metrics = list(_metrics(row, begun))
        for start in range(0, len(metrics), BATCH):
            self._call("runs/log-batch", run_id=run, metrics=metrics[start : start + BATCH])
        ended = max((_milliseconds(trial.started) for trial in row.trials if trial.started), default=begun)
        self._call("runs/update", run_id=run, status="FINISHED", end_time=ended)

    def _call(self, path: str, **document: Any) -> Any:
        try:
            answer = json.loads(send(self._root + path, json.dumps(document).encode(), self._headers))
        except SendError as error:
            said = _server_message(error.answer) or (REFUSED if error.is_answered else "is the server running there?")
            raise DlperfError(f"--mlflow {error}: {said}") from error
        except ValueError as error:
            raise DlperfError(f"--mlflow: what answers there is no MLflow server ({error})") from error
        return answer


def _server_message(answer: bytes) -> str:
    """Return what a server said: the message of MLflow, or a plain line; empty for a page, or nothing."""
    with suppress(ValueError, TypeError, KeyError):
        return str(json.loads(answer)["message"])[:LONGEST]
    text = one_line(answer.decode("utf-8", "replace"))[:LONGEST]
    return "" if text.startswith(("<", "{")) else text


def _authorization() -> dict[str, str]:
    """Return the header that MLflow's own variables ask for."""
    if token := os.environ.get("MLFLOW_TRACKING_TOKEN"):
        return {"Authorization": f"Bearer {token}"}
    user, password = (os.environ.get(f"MLFLOW_TRACKING_{name}", "") for name in ("USERNAME", "PASSWORD"))
    return {"Authorization": "Basic " + b64encode(f"{user}:{password}".encode()).decode()} if user else {}


def _pairs(values: dict[str, Any]) -> list[dict[str, str]]:
    return [{"key": name, "value": str(value)[:LONGEST]} for name, value in values.items() if value not in (None, "")]


def _parameters(row: ConfigurationResult) -> dict[str, Any]:
    names = ("hardware", "framework", "case", "precision", "batch_size", "nodes", "gpus", "protocol", "unit", "n")
    further = {f"numerics.{name}": text for name, text in row.numerics.items()}
    return {name: getattr(row, name) for name in names} | dict(row.axes) | further


def _metrics(row: ConfigurationResult, begun: int) -> Iterator[dict[str, Any]]:
    """Yield each metric of the result, and below ``trials/`` its values by trial."""
    yield from _points({metric.id: metric.value for metric in row.metrics}, begun, 0)
    for trial in row.trials:
        if trial.usable:
            values = {row.metric: trial.value} | {metric.id: metric.value for metric in trial.metrics}
            yield from _points({f"trials/{name}": value for name, value in values.items()}, begun, trial.number)


def _points(values: Mapping[str, float | None], moment: int, step: int) -> Iterator[dict[str, Any]]:
    for name, value in values.items():
        if _KEY.fullmatch(name):
            yield {"key": name, "value": value, "timestamp": moment, "step": step}


def _milliseconds(time: str) -> int:
    return int(seconds_between("1970-01-01T00:00:00Z", time) * 1000)

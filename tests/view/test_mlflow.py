"""``dlperf export --mlflow``, against a real server where ``DLPERF_MLFLOW`` is the address of one, else a stand-in."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mlflow_stand_in import StandIn

from dlperf.cli import main
from dlperf.view import mlflow
from dlperf.view.http import send
from handmade_trials import measured_campaign, planned, workspace_in

REAL = os.environ.get("DLPERF_MLFLOW", "")


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with StandIn() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    workspace = workspace_in(tmp_path / "w")
    name = f"a-{os.getpid()}"
    measured_campaign(workspace, name, [(planned(1), [100.0, 101.0, 99.0]), (planned(2), [190.0, 191.0, 189.0])])
    monkeypatch.chdir(workspace.root)
    return workspace.root


@pytest.fixture
def export(bench: Path, capsys: pytest.CaptureFixture[str]):
    def typed(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as leaving:
            main(["export", *words])
        return int(leaving.value.code or 0), capsys.readouterr().err

    return typed


def call(address: str, path: str, **asked: Any) -> Any:
    return json.loads(send(f"{address}/api/2.0/mlflow/{path}", json.dumps(asked).encode()))


def address_of(server: StandIn) -> str:
    return f"http://127.0.0.1:{server.server_port}"


def test_each_result_becomes_a_run_with_its_metrics_once(export, stand_in: StandIn):
    address = REAL or address_of(stand_in)
    assert export("--mlflow", address) == (0, "2 new results pushed to the experiment dlperf\n")
    assert export("--mlflow", address) == (0, "0 new results pushed to the experiment dlperf\n")
    (experiment,) = call(address, "experiments/search", filter="name = 'dlperf'", max_results=1)["experiments"]
    asked = {"experiment_ids": [experiment["experiment_id"]], "filter": f"tags.campaign = 'a-{os.getpid()}'"}
    run = call(address, "runs/search", **asked)["runs"][0]
    metrics = {item["key"]: item["value"] for item in run["data"]["metrics"]}
    params = {item["key"]: item["value"] for item in run["data"]["params"]}
    gpus = int(params["gpus"])
    assert metrics["throughput"] == pytest.approx({1: 100.0, 2: 190.0}[gpus])
    assert metrics["trials/throughput"] == pytest.approx({1: 99.0, 2: 189.0}[gpus])  # of the last step, the third trial
    assert (params["framework"], params["n"], run["info"]["status"]) == ("numpy", "3", "FINISHED")


def test_many_metrics_go_in_several_requests(export, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mlflow, "BATCH", 2)
    assert export("--mlflow", address_of(stand_in))[0] == 0
    assert [len(run["data"]["metrics"]) for run in stand_in.runs] == [4, 4]


def test_a_run_that_was_cut_off_is_pushed_again(export, stand_in: StandIn):
    export("--mlflow", address_of(stand_in))
    stand_in.runs[0]["info"]["status"] = "RUNNING"
    assert export("--mlflow", address_of(stand_in))[1].startswith("1 new result pushed")


def test_the_login_is_that_of_mlflow_itself(export, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch):
    stand_in.authorization = "Basic bWU6c2VjcmV0"
    code, said = export("--mlflow", address_of(stand_in))
    assert (code, "answered 401: is it an MLflow server, and are MLFLOW_TRACKING_USERNAME" in said) == (1, True)
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "me")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "secret")
    assert export("--mlflow", address_of(stand_in))[0] == 0
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "t")
    stand_in.authorization = "Bearer t"
    assert export("--mlflow", address_of(stand_in))[0] == 0


@pytest.mark.parametrize(
    ("refusal", "shown"),
    [
        (b"Invalid Host header - possible DNS rebinding attack detected\n", "Invalid Host header - possible"),
        (b"<html><h1>Forbidden</h1>", "is it an MLflow server"),
    ],
)
def test_the_words_of_a_server_that_refuses_are_shown(export, stand_in: StandIn, refusal: bytes, shown: str):
    stand_in.refusal = refusal
    code, said = export("--mlflow", address_of(stand_in))
    assert code == 1
    assert f"answered 403: {shown}" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "export: name a FILE, or --mlflow"),
        (("a.sqlite", "--mlflow", "http://h"), "export: name a FILE or --mlflow, not both"),
        (("a.sqlite", "--campaign", "a"), "--campaign: a file holds all campaigns"),
        (("--mlflow", "localhost:5000"), "write the server's address, such as http://127.0.0.1:5000"),
        (("--mlflow", "http://127.0.0.1:5000", "--campaign", "nothing"), "no such campaign"),
    ],
)
def test_a_wrong_request_is_said(export, words: tuple[str, ...], said: str):
    code, error = export(*words)
    assert (code, said in error) == (2, True), error


def test_a_server_that_is_not_there_is_an_error(export):
    code, said = export("--mlflow", "http://127.0.0.1:1")
    assert (code, said.startswith("dlperf: --mlflow 127.0.0.1:1: ")) == (1, True)
    assert said.endswith("refused: is the server running there?\n")


def test_a_token_that_cannot_be_sent_is_not_shown(export, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "hunter2\n")
    code, said = export("--mlflow", "http://127.0.0.1:1")
    assert code == 1
    assert "hunter2" not in said

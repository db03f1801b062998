"""The webhook of ``dlperf.yaml``: what a server gets when a campaign has ended."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from counting_workspace import Counting
from dlperf import Workspace
from dlperf.catalog.files.problem import CatalogError
from dlperf.catalog.files.settings import read_settings
from dlperf.errors import DlperfError, RequestError
from dlperf.view.webhook import post_document, webhook_address

RUN = ("run", "-H", "local", "-f", "counting", "-c", "lenet5", "-b", "32", "--repeats", "1", "--name", "try", "--yes")


class Server(HTTPServer):
    """Keeps what is posted."""

    posted: list[dict[str, Any]]
    answer = 200

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook/secret-part"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        self.server.posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.server.answer)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as found:
        found.posted = []
        threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True).start()
        yield found
        found.shutdown()


def set_webhook(counting: Counting, text: str) -> None:
    counting.workspace.settings.write_text(f"at_end:\n  webhook: {text}\n")


def test_the_results_are_posted_once_when_all_trials_have_ended(counting: Counting, server: Server):
    set_webhook(counting, server.address)
    counting.dlperf(*RUN)
    counting.dlperf("resume", "try")
    (document,) = server.posted
    assert (document["event"], document["campaign"], document["exit_code"]) == ("campaign_ended", "try", 0)
    assert document["text"] == "campaign try: 1 of 1 trials succeeded"
    assert document["trials"] == {"succeeded": 1}
    (row,) = document["results"]
    assert (row["status"], row["metric"], row["n"]) == ("measured", "throughput", 1)


def test_a_command_gets_the_results_and_may_fail(counting: Counting):
    seen = counting.workspace.root / "seen.json"
    counting.workspace.settings.write_text(f"at_end:\n  command: cat > {seen}; exit 3\n")
    done = counting.dlperf(*RUN)
    assert json.loads(seen.read_text())["trials"] == {"succeeded": 1}
    assert "at_end.command of dlperf.yaml: exit code 3: the campaign is not affected" in done.stderr
    assert done.returncode == 0


def test_a_server_that_refuses_changes_neither_campaign_nor_exit_code(counting: Counting, server: Server):
    server.answer = 302
    set_webhook(counting, server.address)
    done = counting.dlperf(*RUN)
    assert (
        f"dlperf: webhook of 127.0.0.1:{server.server_port}: answered 302: the campaign is not affected" in done.stderr
    )
    assert "secret-part" not in done.stderr


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/x", "http://[", "http://127.0.0.1:no/", "https://a b"])
def test_what_does_not_arrive_is_one_line(counting: Counting, address: str):
    with pytest.raises(DlperfError, match="the campaign is not affected"):
        post_document(address, counting.workspace.campaign("a"), {})


@pytest.mark.parametrize("address", ["http://me:hunter2@127.0.0.1/x", "http://127.0.0.1:1/hunter2 x"])
def test_no_part_of_an_address_but_its_host_is_in_a_message(counting: Counting, address: str):
    with pytest.raises(DlperfError, match=r"webhook of 127\.0\.0\.1") as found:
        post_document(address, counting.workspace.campaign("a"), {})
    assert "hunter2" not in str(found.value)


def test_tokens_are_taken_out_of_what_is_posted(counting: Counting, server: Server):
    token = "ghp_" + "a1B2" * 9
    post_document(server.address, counting.workspace.campaign("a"), {"text": f"it printed {token}"})
    assert token not in str(server.posted)


def test_the_address_may_be_in_a_variable(counting: Counting, monkeypatch: pytest.MonkeyPatch):
    set_webhook(counting, "$HOOK")
    monkeypatch.setenv("HOOK", "https://example.org/x")
    assert webhook_address(counting.workspace) == "https://example.org/x"
    monkeypatch.delenv("HOOK")
    with pytest.raises(RequestError, match=r"dlperf.yaml: at_end.webhook: \$HOOK holds no http"):
        webhook_address(counting.workspace)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("at_end: {webhok: https://a}", ":1: at_end.webhok: unknown field (did you mean webhook?)"),
        ("at_end:\n  webhook: ftp://a", ":2: at_end.webhook: 'ftp://a' is not allowed (an address with http"),
        ("[1]", ":1: expected a mapping"),
        ("at_end: {", "YAML syntax"),
    ],
)
def test_a_mistake_is_said_before_anything_runs(counting: Counting, text: str, said: str):
    counting.workspace.settings.write_text(text)
    with pytest.raises(CatalogError) as found:
        read_settings(counting.workspace.settings)
    assert said in str(found.value)


def test_settings_with_a_mistake_leave_no_campaign_behind(counting: Counting):
    counting.workspace.settings.write_text("at_end: {webhok: https://a}")
    workspace = Workspace(counting.workspace.root)
    plan = workspace.plan(workspace.select(hardware="local", framework="counting", case="lenet5"))
    with pytest.raises(CatalogError, match="unknown field"):
        workspace.start(plan, "try")
    assert not counting.workspace.campaign("try").directory.exists()


def test_the_settings_that_the_page_on_files_shows_are_right(tmp_path):
    section = (Path(__file__).parents[2] / "docs" / "files.md").read_text().partition("## Settings")[2]
    (tmp_path / "dlperf.yaml").write_text(section.partition("```yaml\n")[2].partition("```")[0])
    settings = read_settings(tmp_path / "dlperf.yaml")
    assert settings.at_end.webhook == "https://example.org/hooks/dlperf"
    assert settings.at_end.command == 'notify-send "$(jq -r .text)"'

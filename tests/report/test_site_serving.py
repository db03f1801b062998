"""A built site that dlperf serves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from html_text import Document
from site_sample import make_workspace, sample

from dlperf.errors import RequestError
from dlperf.report.site.serve import open_server, rebuild_if_changed, stamp
from dlperf.report.site.serve import serve as serve_site
from dlperf.runs.paths import WorkspacePaths

ROOT = Path(__file__).parents[2]


SERVING = """
import sys
from pathlib import Path
from dlperf.report.site.serve import serve
from dlperf.runs.paths import WorkspacePaths
serve(WorkspacePaths(Path(sys.argv[1])), 0, lambda line: print(line, flush=True))
"""


def test_a_served_site_answers_and_ends_with_its_process(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, replace(sample(), results=()), small=True)
    command = [sys.executable, "-c", SERVING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = next(int(match[1]) for line in process.stdout if (match := re.match(r"http://127.0.0.1:(\d+)/", line)))
        page = (workspace.site_html / "index.html").read_text()
        assert _answer(port) == page
        process.kill()
        assert process.stdout.read() == "", "the pipe ends when nobody holds it any more"
    assert _answer(port) != page


def _answer(port: int) -> str:
    """What a server says, "" where there is none; the port may be another's by now."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/index.html") as answer:
            return answer.read().decode()
    except (OSError, HTTPException):
        return ""


def test_a_served_site_is_built_again_only_when_something_changed(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, replace(sample(), results=()), small=True)
    said: list[str] = []
    seen = rebuild_if_changed(workspace, (0, 0), said.append)
    assert said[0].startswith("built again")
    assert rebuild_if_changed(workspace, seen, said.append) == seen == stamp(workspace)
    assert len(said) == 1
    workspace.site_docs.mkdir()
    (workspace.site_docs / "about.md").write_text("# New\n")
    assert rebuild_if_changed(workspace, seen, said.append) != seen
    assert len(said) == 2


def test_a_served_site_says_what_is_wrong_and_shows_the_last_good_one(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, replace(sample(), results=()), small=True)
    said: list[str] = []
    rebuild_if_changed(workspace, (0, 0), said.append)
    home = (workspace.site_html / "index.html").read_bytes()
    settings = (tmp_path / "mkdocs.yml").read_text()
    (tmp_path / "mkdocs.yml").write_text("site_name: [\n")
    rebuild_if_changed(workspace, (0, 0), said.append)
    assert said[-1].startswith("not built: ")
    assert "\n" not in said[-1]
    assert (workspace.site_html / "index.html").read_bytes() == home
    (tmp_path / "mkdocs.yml").write_text(settings)
    (workspace.catalog / "hardware").mkdir(parents=True, exist_ok=True)
    (workspace.catalog / "hardware/box.yaml").write_text("box: [\n")
    rebuild_if_changed(workspace, (0, 0), said.append)
    assert said[-1].startswith(f"left out: {workspace.catalog / 'hardware/box.yaml'}:")
    (workspace.catalog / "hardware/box.yaml").unlink()
    (tmp_path / "runs/cut").mkdir(parents=True)
    (tmp_path / "runs/cut/campaign.json").write_text("}{")
    rebuild_if_changed(workspace, (0, 0), said.append)
    assert said[-2].startswith("built again")
    assert said[-1].startswith("left out: ")


def test_a_served_site_shows_no_folder_no_file_outside_and_no_page_to_other_names(tmp_path: Path, serve) -> None:
    folder = tmp_path / "html"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("the site")
    (tmp_path / "secret").write_text("secret")
    for name in ("link", "404.html"):
        (folder / name).symlink_to(tmp_path / "secret")
    (folder / "one").symlink_to("other")
    (folder / "other").symlink_to("one")
    os.mkfifo(folder / "pipe")
    address = serve(folder)
    assert urlopen(f"{address}index.html").read() == b"the site"
    missing = [(path, "", 404) for path in ("link", "one", "pipe", "assets/", "%00", "404.html")]
    for path, host, code in (*missing, ("", "evil.example:8000", 403)):
        request = Request(address + path, headers={"Host": host} if host else {})
        with pytest.raises(HTTPError) as refused:
            urlopen(request, timeout=10)
        assert refused.value.code == code
        assert b"secret" not in refused.value.read()


def test_a_missing_address_shows_the_page_that_the_site_has_for_it(site: Path, serve) -> None:
    with pytest.raises(HTTPError) as refused:
        urlopen(f"{serve(site)}results/gone/for/ever.html")
    assert refused.value.code == 404
    told = refused.value.read().decode()
    assert "There is no such page" in told
    article = told[told.index("<h1>404") : told.index("</article>")]
    assert Document(article).links == [
        f"{root}{page}" for root in ("/", "/zh/") for page in ("index.html", "results/explorer.html")
    ]


def test_a_reader_who_leaves_is_not_mentioned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "large.html").write_bytes(bytes(32 << 20))
    with open_server(tmp_path, 0) as server:
        server.daemon_threads = False  # so that closing waits for the answer
        Thread(target=server.serve_forever).start()
        answer = urlopen(f"http://127.0.0.1:{server.server_port}/large.html")
        answer.read(1)
        answer.close()
        server.shutdown()
    assert capsys.readouterr().err == ""


def test_a_port_that_is_taken_is_told_before_anything_is_built(tmp_path: Path) -> None:
    with open_server(tmp_path, 0) as server, pytest.raises(RequestError, match=f"--port {server.server_port}: "):
        serve_site(WorkspacePaths(tmp_path / "not even a workspace"), server.server_port, pytest.fail)

"""One small site, built once for every test that only reads it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from site_browser import CHROMIUM, FLAGS, PATIENCE_MILLISECONDS, Watched
from site_sample import make_workspace, sample

from dlperf.report.build import build_site, write_pages
from dlperf.report.site.mkdocs import build_html
from dlperf.report.site.serve import open_server
from dlperf.runs.paths import WorkspacePaths
from made_once import made_once

ROOT = Path(__file__).parents[2]


ALL_LAID_OUT = """
const sheet = new CSSStyleSheet();
sheet.replaceSync("* { content-visibility: visible !important }");
document.adoptedStyleSheets = [sheet];
"""
"""A browser leaves out what is far below; the tests look at all of a page."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole site that will be published at an address, built as ``--strict`` builds it."""

    def build(folder: Path) -> None:
        data = replace(sample(), address="https://bench.example.org/", previews=True)
        workspace = make_workspace(folder, data)
        write_pages(workspace, data)
        build_html(workspace, workspace.site_html, strict=True)

    return WorkspacePaths(made_once(tmp_path_factory, "built", build)).site_html


@pytest.fixture(scope="session")
def own_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of this repository's own site, built in a copy of what it is made from."""

    def build(copy: Path) -> None:
        shutil.copy(ROOT / "mkdocs.yml", copy)
        for name in ("catalog", "runs"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns(".cache"))
        build_site(WorkspacePaths(copy), strict=True)

    return WorkspacePaths(made_once(tmp_path_factory, "repository", build, shared=True)).site_html


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """A browser whose pages are waited for as long as a busy machine may need. Of a module, not of the session: while
    it is there, no other event loop can run."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def watched(browser) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    context.add_init_script(ALL_LAID_OUT)
    yield Watched(context.new_page())
    context.close()


@pytest.fixture(params=["folder", "http"])
def address(request, site: Path, serve: Callable[[Path], str]) -> str:
    """Where the site is, as a folder and from a server."""
    return site.as_uri() + "/" if request.param == "folder" else serve(site)


@pytest.fixture
def serve() -> Iterator[Callable[[Path], str]]:
    """Serves a folder over HTTP; gives its address."""
    with ExitStack() as running:

        def address(folder: Path) -> str:
            server = running.enter_context(open_server(folder, 0))
            thread = Thread(target=server.serve_forever)
            thread.start()
            running.callback(thread.join)
            running.callback(server.shutdown)
            return f"http://127.0.0.1:{server.server_port}/"

        yield address

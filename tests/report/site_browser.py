"""A real browser for which every other host is out of reach."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from waiting import PATIENCE_SECONDS

AXE = Path(__file__).parents[1] / "data/axe/axe.min.js"
PATIENCE_MILLISECONDS = PATIENCE_SECONDS * 1000
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium") or ""
"""The shell draws a page without the window around it, which takes a third of the time."""
needs_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not CHROMIUM or find_spec("playwright") is None, reason="chromium or playwright is not installed"
    ),
]
fonts = pytest.mark.fonts
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


WHEN_IDLE = """() => new Promise(done =>
    requestIdleCallback(() => requestIdleCallback(done, {timeout: 5000}), {timeout: 5000}))"""


class Watched:
    """A page that remembers what it asked for and what went wrong."""

    def __init__(self, page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("requestfailed", self.note_failure)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)

    def open(self, address: str) -> None:
        """Load a page, and what its scripts load once they have nothing else to do.

        Chromium does not always report the state "networkidle" of a page in a folder.
        """
        self.page.goto(address)
        self.page.evaluate(WHEN_IDLE)

    def note_failure(self, request) -> None:
        """What the browser gave up because its reader went on to another page did not fail."""
        if request.failure != "net::ERR_ABORTED":
            self.errors.append(f"failed: {request.url}: {request.failure}")

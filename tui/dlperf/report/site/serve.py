"""``dlperf serve-site``: serve the site on 127.0.0.1 and rebuild it when its inputs change."""

import io
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO

from dlperf.errors import DlperfError, RequestError
from dlperf.opening import files_below
from dlperf.report.build import SiteBuild, build_site
from dlperf.runs.paths import WorkspacePaths

POLL_SECONDS = 0.5
OWN_FOLDERS = ("docs", "templates", "theme")
"""Folders of ``site`` in which an owner writes."""

HOSTS = ("127.0.0.1", "localhost")

Stamp = tuple[int, int]
"""Number of files, and the newest change in nanoseconds."""


class Handler(SimpleHTTPRequestHandler):
    """HTTP handler for the files of the site: no access log, no caching, nothing outside the site's folder."""

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        """Refuse names of other hosts, by which a web page could read the site, and paths that lead out of it."""
        host = (self.headers.get("Host") or "").rpartition(":")[0] or self.headers.get("Host")
        if host not in HOSTS:
            self.send_error(HTTPStatus.FORBIDDEN, f"only {' and '.join(HOSTS)} are served")
            return None
        if not _is_below(self.translate_path(self.path), Path(self.directory)):
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        return super().send_head()

    def list_directory(self, path: object) -> None:
        """Answer that there is no such page."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send the site's own page for a missing address."""
        page = Path(self.directory) / "404.html"
        if code != HTTPStatus.NOT_FOUND or not page.is_file() or not _is_below(str(page), page.parent):
            super().send_error(code, message, explain)
            return
        content = page.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


def _is_below(path: str, folder: Path) -> bool:
    """Whether a path leads, through links too, to a file or folder in a folder, and to no pipe, which would block."""
    try:
        found = Path(path).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # none, links that lead to each other, a null character
        return False
    return found.is_relative_to(folder.resolve()) and (found.is_file() or found.is_dir())


class Server(ThreadingHTTPServer):
    """HTTP server that does not mention readers who leave before a page is sent."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def serve(workspace: WorkspacePaths, port: int, say: Callable[[str], None]) -> None:
    """Build, then serve until interrupted.

    Raises:
        DlperfError: the first build failed; a later failure is reported, and the last good site stays.
        RequestError: the port is taken.
    """
    with open_server(workspace.site_html, port) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()  # an earlier build, until this one is done
        say(f"building {workspace.site_html}")
        seen = stamp(workspace)
        _print_warnings(build_site(workspace), say)
        say(f"http://127.0.0.1:{server.server_port}/ (Ctrl-C ends it)")
        while True:
            time.sleep(POLL_SECONDS)
            seen = rebuild_if_changed(workspace, seen, say)


def open_server(folder: Path, port: int) -> ThreadingHTTPServer:
    """Open a server of a folder on 127.0.0.1; port 0 takes a free one.

    Raises:
        RequestError: the port is taken.
    """
    try:
        return Server(("127.0.0.1", port), partial(Handler, directory=str(folder)))
    except OSError as error:
        raise RequestError(f"--port {port}: {error.strerror}; give another, or 0 for a free one") from error


def rebuild_if_changed(workspace: WorkspacePaths, seen: Stamp, say: Callable[[str], None]) -> Stamp:
    """Rebuild if the inputs changed since ``seen``, and return their stamp."""
    now = stamp(workspace)
    if now == seen:
        return seen
    try:
        site = build_site(workspace)
        say(f"built again: {site.written} files changed, {site.seconds:.1f} s")
        _print_warnings(site, say)
    except DlperfError as error:
        say(f"not built: {'; '.join(error.lines)}")
    return now


def _print_warnings(site: SiteBuild, say: Callable[[str], None]) -> None:
    for line in site.warnings.splitlines():
        say(line)


def stamp(workspace: WorkspacePaths) -> Stamp:
    """Return a value that changes when an input of the site appears, changes or goes."""
    times = []
    for path in _inputs(workspace):
        with suppress(OSError):  # it is being replaced
            times.append(path.stat().st_mtime_ns)
    return len(times), max(times, default=0)


def _inputs(workspace: WorkspacePaths) -> Iterator[Path]:
    """Yield the inputs of the site, except what a running trial writes."""
    yield from workspace.root.glob("mkdocs*.yml")
    for campaign in workspace.campaigns():
        yield from (path for path in (campaign.plan, campaign.journal) if path.is_file())
    for folder in (workspace.published, workspace.catalog, *(workspace.site / name for name in OWN_FOLDERS)):
        yield from files_below(folder)

"""How soon a page of this repository's own site can be used on a telephone, and a table of it on a desktop.

    python benchmarks/page.py [--rounds 11]

Each round opens each page in a fresh context of Debian's Chromium, with nothing cached, compressed over HTTP from this
machine. On a telephone (390 × 844, processor slowed four times; 4G: 10 Mbit/s and 40 ms, slow 4G: 1.6 Mbit/s and
150 ms as in Lighthouse) the page is interactive from its first contentful paint or the end of its last task of more
than 50 ms, whichever is later, until it has been quiet for a second. On a desktop: from the beginning until the first
table is sorted by a click. The aims: interactive within 1.5 s on 4G, a table sorted within 1 s. Beside them the bytes
that a page loads, without compression.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from playwright.sync_api import sync_playwright

from dlperf.report.build import build_site
from dlperf.runs.paths import Workspace

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "home": "index.html",
    "Compare": "results/explorer.html",
    "report": "results/reports/measured/dlperf-2/resnet50.html",
    "configuration": "results/configurations/h200-resnet50-bf16-5/h200-1x_jax_resnet50.html",
}
TABLES = {
    "measured report": "results/reports/measured/dlperf/resnet50.html",
    "largest report": "results/reports/published/dlperf-v1/bert-base.html",
    "measured report, Chinese": "zh/results/reports/measured/dlperf/resnet50.html",
}
NETWORKS = {"4G": (40, 10_000), "slow 4G": (150, 1_600)}
"""Milliseconds of a round trip, and kbit/s."""
SLOWER_PROCESSOR = 4
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
]
SORTED = "() => document.querySelector('article th[aria-sort]') && performance.now()"
REMEMBER_LONG_TASKS = """
window.longTaskEnds = [];
new PerformanceObserver(found => found.getEntries().forEach(it => longTaskEnds.push(it.startTime + it.duration)))
    .observe({type: "longtask", buffered: true});
"""
INTERACTIVE = "Math.max(performance.getEntriesByName('first-contentful-paint')[0].startTime, ...longTaskEnds)"
LOADED = "performance.getEntries().filter(it => it.decodedBodySize).reduce((sum, it) => sum + it.decodedBodySize, 0)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        site = build_site(Workspace(ROOT), Path(folder) / "html").out
        with served(site) as root:
            told = measured(root, rounds)
    print(json.dumps({"rounds": rounds, **told}))


class Compressing(SimpleHTTPRequestHandler):
    """Serves files as a web host does: text compressed."""

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        text = path.suffix in (".html", ".css", ".js", ".svg", ".json")
        body = gzip.compress(path.read_bytes()) if text else path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Length", str(len(body)))
        if text:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        with suppress(BrokenPipeError):  # of a page that was closed
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing between the figures."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder; give its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Compressing, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def measured(root: str, rounds: int) -> dict[str, float]:
    """Open all pages in turns; return medians and slowest, by name."""
    seconds: dict[str, list[float]] = {}
    told: dict[str, float] = {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        for _ in range(rounds):
            for network in NETWORKS:
                for name, page in PAGES.items():
                    seconds.setdefault(f"{name}, {network}", []).append(interactive(browser, root + page, network))
            for name, page in TABLES.items():
                taken, loaded = sorted_table(browser, root + page)
                seconds.setdefault(f"{name}, sorted", []).append(taken)
                told[f"{name} kB"] = round(loaded / 1000)
        browser.close()
    for name, values in seconds.items():
        told |= {f"{name} s": round(statistics.median(values), 3), f"{name}, slowest s": round(max(values), 3)}
    return told


def interactive(browser: Any, address: str, network: str) -> float:
    """Seconds until a page can be used on a telephone."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    page = context.new_page()
    page.add_init_script(REMEMBER_LONG_TASKS)
    latency, rate = NETWORKS[network]
    session = context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER_PROCESSOR})
    limits = {"offline": False, "latency": latency, "downloadThroughput": rate * 125, "uploadThroughput": rate * 125}
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", limits)
    page.goto(address, wait_until="networkidle")
    page.wait_for_timeout(1000)
    taken = float(page.evaluate(INTERACTIVE)) / 1000
    context.close()
    return taken


def sorted_table(browser: Any, address: str) -> tuple[float, int]:
    """Seconds until the first table of a page is sorted, and the bytes that were loaded by then."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(address, wait_until="domcontentloaded")
    page.locator("article th.sortable").first.click()
    taken = page.wait_for_function(SORTED).json_value() / 1000
    page.wait_for_load_state("networkidle")
    loaded = page.evaluate(LOADED)
    context.close()
    return taken, loaded


if __name__ == "__main__":
    main()

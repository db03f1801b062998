"""How soon a reader can use a report of this repository's own site, beside the page of protocols.

    python benchmarks/page.py [--rounds 11]

Each round opens each page in a fresh context of Debian's Chromium, over HTTP from this machine with nothing cached, and
sorts its first table by a click: taken is the time from the beginning of the navigation until the table is sorted. The
aim: a report within 1 s. Beside it the bytes that the page loads, without compression.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path
from threading import Thread
from typing import Any

from playwright.sync_api import sync_playwright

from dlperf.report.build import build_site
from dlperf.report.serve import open_server
from dlperf.runs.paths import Workspace

ROOT = Path(__file__).resolve().parents[1]
PROTOCOLS = "results/protocols.html"
PAGES = {
    "protocols": PROTOCOLS,
    "measured report": "results/reports/measured/dlperf/resnet50.html",
    "largest report": "results/reports/published/dlperf-v1/bert-base.html",
    "measured report, Chinese": "zh/results/reports/measured/dlperf/resnet50.html",
}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
]
SORTED = "() => document.querySelector('article th[aria-sort]') && performance.now()"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        site = build_site(Workspace(ROOT), Path(folder) / "html").out
        with open_server(site, 0) as server:
            Thread(target=server.serve_forever, daemon=True).start()
            taken = measured(f"http://127.0.0.1:{server.server_port}/", rounds)
            server.shutdown()
    print(json.dumps({"rounds": rounds, **taken}))


def measured(root: str, rounds: int) -> dict[str, float]:
    seconds: dict[str, list[float]] = {name: [] for name in PAGES}
    loaded: dict[str, int] = {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        for _ in range(rounds):
            for name, page in PAGES.items():
                taken, loaded[name] = opened(browser, root + page)
                seconds[name].append(taken)
        browser.close()
    told: dict[str, float] = {}
    for name, values in seconds.items():
        told |= {f"{name} s": round(statistics.median(values), 3), f"{name}, slowest s": round(max(values), 3)}
        told[f"{name} kB"] = round(loaded[name] / 1000)
    return told


def opened(browser: Any, address: str) -> tuple[float, int]:
    """Seconds until the first table of a page is sorted, and the bytes that were loaded by then."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(address, wait_until="domcontentloaded")
    page.locator("article th.sortable").first.click()
    taken = page.wait_for_function(SORTED).json_value() / 1000
    page.wait_for_load_state("networkidle")
    sizes = "performance.getEntries().filter(it => it.decodedBodySize).reduce((sum, it) => sum + it.decodedBodySize, 0)"
    loaded = page.evaluate(sizes)
    context.close()
    return taken, loaded


if __name__ == "__main__":
    main()

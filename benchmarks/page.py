"""How soon a page of this repository's own site can be used on a telephone, and a table of it on a desktop.

    python benchmarks/page.py [--rounds 5]

Each round opens each page in a fresh context of Debian's Chromium, with nothing cached, compressed over HTTP from this
machine. On a telephone (390 × 844) the processor is slowed until it is about as fast in Lighthouse's benchmark as the
telephone: 1000 for a mid-range one (a Pixel 5), 264 for a slow one (a Moto G Power), as Chrome's developer tools
calibrate them. 4G is 10 Mbit/s and 40 ms, slow 4G 1.6 Mbit/s and 150 ms as in Lighthouse. The page is interactive from
its first contentful paint or the end of its last task of more than 50 ms, whichever is later, until it has been quiet
for a second. On a desktop: from the beginning until the first table is sorted by a click. The aims: interactive within
1.5 s on a mid-range telephone on 4G, a table sorted within 1 s. Beside them the bytes that a page loads, without
compression.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from threading import Thread
from typing import Any

from playwright.sync_api import sync_playwright

from dlperf.report.build import build_site
from dlperf.runs.paths import WorkspacePaths

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "home": "index.html",
    "Compare": "results/explorer.html",
    "report": "results/reports/measured/dlperf-2/resnet50.html",
    "configuration": "results/configurations/h200-resnet50-bf16-corrected-5/h200-1x_jax_resnet50.html",
}
TABLES = {
    "measured report": "results/reports/measured/dlperf/resnet50.html",
    "largest report": "results/reports/published/dlperf-v1/bert-base.html",
    "measured report, Chinese": "zh/results/reports/measured/dlperf/resnet50.html",
}
NETWORKS = {"4G": (40, 10_000), "slow 4G": (150, 1_600)}
"""Milliseconds of a round trip, and kbit/s."""
PHONES = {"mid-range": 1000, "slow": 264}
"""Their scores in ``SCORE``: chrome-devtools-frontend, panels/mobile_throttling/CalibrationController.ts."""
CONDITIONS = (("mid-range", "4G"), ("mid-range", "slow 4G"), ("slow", "4G"))
SCORE = """() => {
    const perSecond = (work) => {
        const start = performance.now();
        let rounds = 0;
        do {
            for (let i = 0; i < 10; i++, rounds++) work(rounds);
        } while (performance.now() - start < 500);
        return rounds / 10 / ((performance.now() - start) / 1000);
    };
    const arrays = [[], []];
    for (let i = 0; i < 100000; i++) arrays[0][i] = arrays[1][i] = i;
    const copying = perSecond((round) => {
        const [source, target] = [arrays[round % 2], arrays[1 - round % 2]];
        for (let i = 0; i < source.length; i++) target[i] = source[i];
    });
    const joining = perSecond(() => {
        let text = "";
        for (let i = 0; i < 10000; i++) text += "a";
        if (text.length === 1) throw new Error("not joined");
    });
    return (copying + joining) / 2;
}"""
"""Lighthouse's BenchmarkIndex: tenths of rounds a second, the mean of joining texts and of copying an array."""
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
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        site = build_site(WorkspacePaths(ROOT), Path(folder) / "html").out
        with served(site) as root:
            told = measured(root, rounds)
    print(json.dumps({"rounds": rounds, **told}))


class Compressing(SimpleHTTPRequestHandler):
    """Serves files as a web host does: text compressed."""

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
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
        program = shutil.which("chromium") or shutil.which("chromium-headless-shell")
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        told["processor score"] = score = processor_score(browser)
        for _ in range(rounds):
            for (phone, network), (name, page) in product(CONDITIONS, PAGES.items()):
                taken = interactive(browser, root + page, max(1.0, score / PHONES[phone]), network)
                seconds.setdefault(f"{name}, {phone} telephone, {network}", []).append(taken)
            for name, page in TABLES.items():
                taken, loaded = sorted_table(browser, root + page)
                seconds.setdefault(f"{name}, sorted", []).append(taken)
                told[f"{name} kB"] = round(loaded / 1000)
        browser.close()
    for name, values in seconds.items():
        told |= {f"{name} s": round(statistics.median(values), 3), f"{name}, slowest s": round(max(values), 3)}
    return told


def processor_score(browser: Any) -> int:
    """This machine's score: the median of three."""
    page = browser.new_page()
    scores = [page.evaluate(SCORE) for _ in range(4)][1:]  # the first one compiles
    page.close()
    return round(statistics.median(scores))


def interactive(browser: Any, address: str, slower: float, network: str) -> float:
    """Seconds until a page can be used on a telephone whose processor is so many times slower than this one."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    page = context.new_page()
    page.add_init_script(REMEMBER_LONG_TASKS)
    latency, rate = NETWORKS[network]
    session = context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
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

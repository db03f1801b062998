"""Take the README's picture from the site: ``python tests/report/screenshots.py`` after ``dlperf build-site``."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import sync_playwright
from site_browser import CHROMIUM

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "site" / "html" / "results" / "reports" / "published" / "perf-resnet50-2.5" / "resnet50.html"
PICTURE = ROOT / "docs" / "report.png"
FLAGS = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking"]


def main() -> None:
    PICTURE.parent.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800}, device_scale_factor=1)
        page.goto(PAGE.as_uri())
        page.get_by_role("link", name="Comparison of frameworks").first.click()
        page.mouse.move(0, 0)
        page.wait_for_timeout(1000)
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()

"""Where the links of the site lead."""

from __future__ import annotations

import os
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

EXTERNAL = re.compile(r"""(?:src|href|action|srcset)\s*=\s*["']?(?:https?:)?//|url\(\s*["']?(?:https?:)?//|@import""")
STARTED = re.compile(r'<(?:script|link(?! rel="canonical")|img|iframe|source|video|audio)\b[^>]*(?:https?:)?//[^>]*>')
TAG = re.compile(r"<[a-z][^<>]*>")
ATTRIBUTE = re.compile(r"""\s(href|src|id)="([^"]*)\"""")
SCRIPT = re.compile(r"(<script\b[^>]*>).*?</script>", re.DOTALL)


def links_and_ids(html: str) -> tuple[list[str], set[str]]:
    """Return links and ids where attributes stand in double quotes; ``Document`` takes nine times as long."""
    tags = TAG.findall(SCRIPT.sub(r"\1", html))
    found = [(name, unescape(value)) for tag in tags for name, value in ATTRIBUTE.findall(tag)]
    return [value for name, value in found if name != "id"], {value for name, value in found if name == "id"}


@pytest.mark.parametrize("built", ["site", "own_site"])
def test_every_link_inside_the_site_leads_somewhere(request: pytest.FixtureRequest, built: str) -> None:
    site: Path = request.getfixturevalue(built)
    files = {str(path) for path in site.rglob("*") if path.is_file()}
    pages = [path for path in site.rglob("*.html") if path.name != "404.html"]
    found = {str(page): links_and_ids(page.read_text()) for page in pages}
    assert all(links for links, _ in found.values())
    broken = []
    for page, (links, _) in found.items():
        for link in links:
            if re.match(r"[a-z]+:|/\.\./", link) or not link:  # without an address, the page 404 begins at the root
                continue
            path, _, anchor = link.partition("#")
            target = os.path.normpath(f"{os.path.dirname(page)}/{unquote(path)}") if path else page
            kept = "=" in anchor  # by a script, of what a reader chose
            unknown = anchor and not kept and target in found and unquote(anchor) not in found[target][1] | {"__"}
            if target not in files or unknown:
                broken.append(f"{page}: {link}")
    assert broken == []


@pytest.mark.parametrize("built", ["site", "own_site"])
def test_no_page_shows_the_marks_of_code_beside_it(request: pytest.FixtureRequest, built: str) -> None:
    site: Path = request.getfixturevalue(built)
    for path in site.rglob("*.html"):
        text = unescape(re.sub(r"(?s)<(pre|code|script|style)\b.*?</\1>", "", path.read_text()))
        marked = re.search(r".{,40}`[^`]+`", text)
        assert marked is None, f"{path}: {marked[0]}"


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*"):
        if path.suffix == ".css":
            assert not EXTERNAL.search(path.read_text()), path
        if path.suffix == ".html":
            assert not STARTED.search(path.read_text()), path

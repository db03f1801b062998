"""Build the same pages with Zensical, the successor of Material for MkDocs, and say what differs from MkDocs's site.

    dlperf build-site && python tests/report/zensical_site.py

Compared are the pages, text and anchors of each article, the links inside the site, what each page loads, and every
file of data, byte for byte.
Exit code 1 where something differs that is not known (``KNOWN``).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from html_text import Document

ROOT = Path(__file__).resolve().parents[2]
ARTICLE = re.compile(r"<article.*?</article>", re.DOTALL)
LOADED = re.compile(r"<(?:script|link)\b[^>]*?(?:src|href)=[\"']?([^\"' >]+)")
KNOWN = frozenset({"404.html: links", "zh/404.html: not in MkDocs's site"})
"""The page for a missing address links from the root of the server, and dlperf removes that of the second language."""


def main() -> int:
    found, pages = unknown_differences(ROOT / "site")
    print("\n".join([*found, f"{pages} pages by Zensical, {len(found)} differences"]))
    return 1 if found or not pages else 0


def unknown_differences(site: Path) -> tuple[list[str], int]:
    """A line for each difference in the folder ``site`` of a workspace that was built, and the number of pages."""
    with tempfile.TemporaryDirectory() as folder:
        built = build(site / "build", Path(folder))
        # what dlperf puts beside the pages of either program
        shutil.copytree(site / "build/data", built / "data", dirs_exist_ok=True)
        expected = site / "html"
        found = [*differences(expected, built), *data_differences(expected / "data", built / "data")]
        return [line for line in found if line.partition(" (")[0] not in KNOWN], len(documents(built))


def build(sources: Path, folder: Path) -> Path:
    """All languages by Zensical, from a copy: it writes beside its configuration."""
    shutil.copytree(sources, folder, dirs_exist_ok=True, ignore=lambda path, _: ["data"] * (Path(path) == sources))
    zensical = [Path(sys.executable).with_name("zensical"), "build", "--strict", "--config-file"]
    for path in sorted(folder.glob("mkdocs*.yml")):
        done = subprocess.run([*zensical, path.name], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"zensical {path.name}: {done.stdout[-2000:]} {done.stderr[-2000:]}")
    return folder / "html"


def documents(site: Path) -> dict[str, str]:
    """The pages, without those that dlperf writes for old addresses."""
    pages = {path.relative_to(site).as_posix(): path.read_text("utf-8") for path in site.rglob("*.html")}
    return {name: page for name, page in pages.items() if 'http-equiv="refresh"' not in page}


def differences(expected: Path, built: Path) -> Iterator[str]:
    """A line for each."""
    ours, theirs = documents(expected), documents(built)
    yield from (f"{name}: missing" for name in sorted(ours.keys() - theirs.keys()))
    yield from (f"{name}: not in MkDocs's site" for name in sorted(theirs.keys() - ours.keys()))
    anchors = {name: Document(page).ids for name, page in theirs.items()}
    for name in sorted(ours.keys() & theirs.keys()):
        ours_article, their_article = article(ours[name]), article(theirs[name])
        if words(ours_article) != words(their_article):
            yield f"{name}: text ({first_difference(words(ours_article), words(their_article))})"
        if gone := sorted(ours_article.ids - their_article.ids):
            yield f"{name}: anchors ({', '.join(gone[:5])})"
        if broken := sorted(set(broken_links(built, name, theirs[name], anchors))):
            yield f"{name}: links ({', '.join(broken[:5])})"
        if unloaded := sorted(own_files(ours[name]) - own_files(theirs[name])):
            yield f"{name}: not loaded ({', '.join(unloaded)})"


def data_differences(expected: Path, built: Path) -> Iterator[str]:
    """A line for each file of data that only one site has, or that is not the same."""
    ours, theirs = files_in(expected), files_in(built)
    yield from (f"data/{name}: missing" for name in sorted(ours - theirs))
    yield from (f"data/{name}: not in MkDocs's site" for name in sorted(theirs - ours))
    for name in sorted(ours & theirs):
        if (expected / name).read_bytes() != (built / name).read_bytes():
            yield f"data/{name}: other bytes"


def files_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def article(page: str) -> Document:
    found = ARTICLE.search(page)
    return Document(found[0] if found else "")


def words(document: Document) -> list[str]:
    return document.text.split()


def first_difference(ours: list[str], theirs: list[str]) -> str:
    pairs = enumerate(zip(ours, theirs, strict=False))
    at = next((number for number, (one, other) in pairs if one != other), min(len(ours), len(theirs)))
    return f"{' '.join(ours[at : at + 6])!r} is {' '.join(theirs[at : at + 6])!r}"


def broken_links(site: Path, name: str, page: str, anchors: dict[str, set[str]]) -> Iterator[str]:
    folder = (site / name).parent
    for link in Document(page).links:
        if not link or re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (folder / unquote(path)).resolve() if path else site / name
        inside = target.is_relative_to(site.resolve()) or not path
        known = anchors.get(target.resolve().relative_to(site.resolve()).as_posix(), set()) if inside else set()
        kept = "=" in anchor  # by a script, of what a reader chose
        if not target.is_file() or (anchor and not kept and target.suffix == ".html" and unquote(anchor) not in known):
            yield link


def own_files(page: str) -> set[str]:
    """The scripts and styles of the site itself that a page loads; those of the theme have hashes in their names."""
    return {link.removeprefix("./") for link in LOADED.findall(page) if not re.search(r"\.[0-9a-f]{8}\.min\.", link)}


if __name__ == "__main__":
    sys.exit(main())

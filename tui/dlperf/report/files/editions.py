"""Named editions: copies of the site that later builds keep; and addresses of pages that moved."""

import os
import re
import tempfile
from pathlib import Path

from dlperf.errors import RequestError
from dlperf.messages import LANGUAGES, Language
from dlperf.opening import copy_tree, is_plain, is_regular, link_or_copy, linked, make_folder, read_bytes
from dlperf.report.site.locations import language_root
from dlperf.report.site.shipped import shipped_root
from dlperf.report.templating import render
from dlperf.runs.paths import WorkspacePaths

FOLDER = "editions"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}")
BODY = re.compile(rb"<body\b[^>]*>")
REDIRECTS = "redirects.txt"


def editions(workspace: WorkspacePaths) -> tuple[str, ...]:
    """Return the names of all editions, the last in name order first."""
    return tuple(sorted((path.name for path in _folder(workspace).glob("[!.]*") if path.is_dir()), reverse=True))


def refuse_edition(workspace: WorkspacePaths, name: str) -> None:
    """Raise unless an edition of that name can be made: editions do not change."""
    if not NAME.fullmatch(name):
        raise RequestError(f"--edition {name!r}: letters, digits, '.', '_' and '-', such as 2026-11")
    if not is_plain(_folder(workspace)):
        raise linked(_folder(workspace))
    if name in editions(workspace):
        raise RequestError(f"--edition {name}: exists in {_folder(workspace)} and does not change: choose another name")


def keep_edition(workspace: WorkspacePaths, site: Path, name: str) -> None:
    """Keep a copy of a built site, each page of which says what it is, and add the copy to the site."""
    folder = _folder(workspace)
    make_folder(folder)
    with tempfile.TemporaryDirectory(prefix=".new.", dir=folder) as temporary:
        copy = Path(temporary) / name
        copy.mkdir()
        for part in site.iterdir():
            if part.is_dir() and part.name != FOLDER:
                copy_tree(part, copy / part.name)
            elif part.is_file():
                link_or_copy(str(part), str(copy / part.name))
        for page in copy.rglob("*.html"):
            _mark(page, copy, name)
        for other in (*editions(workspace), name):  # its own list of editions links below its own root
            for root in map(language_root, LANGUAGES.values()):
                home = f"{FOLDER}/{other}/{root}index.html"
                write_redirect(copy / home, os.path.relpath(home, os.path.dirname(f"{FOLDER}/{name}/{home}")), home)
        copy.replace(folder / name)
    copy_tree(folder / name, site / FOLDER / name)


def _mark(page: Path, root: Path, name: str) -> None:
    """Write the name of the edition, and a link to the current page, at the top of a page."""
    path = page.relative_to(root).as_posix()
    language = _language_of(path)
    current = f"{'../' * (path.count('/') + 2)}{path}"
    notice = render("edition.html.j2", language, None, name=name, current=current).encode()
    content = page.read_bytes()
    page.unlink()  # it may be a link to the built page
    page.write_bytes(BODY.sub(lambda match: match[0] + notice, content, count=1))


def _language_of(path: str) -> Language:
    roots = {language_root(language): language for language in LANGUAGES.values()}
    return roots.get(f"{path.partition('/')[0]}/", roots[""])


def add_kept(workspace: WorkspacePaths, site: Path) -> list[str]:
    """Add editions and redirects to a new site, and return what is wrong with the list of redirects.

    A line of ``site/redirects.txt`` holds the old and the new address of a page, relative to the root of the site.
    """
    if editions(workspace):
        copy_tree(_folder(workspace), site / FOLDER)
    for _, words in _moved(shipped_root() / REDIRECTS):
        _redirect(site, words, "")  # a language that the site lacks has none
    listed, shipped = workspace.site / REDIRECTS, [words for _, words in _moved(shipped_root() / REDIRECTS)]
    own = [(number, words) for number, words in _moved(listed) if words not in shipped]
    return [problem for number, words in own if (problem := _redirect(site, words, f"{listed}:{number}"))]


def _moved(listed: Path) -> list[tuple[int, list[str]]]:
    """Return number and words of each line of a list of redirects."""
    lines = read_bytes(listed).decode("utf-8", "replace").splitlines() if is_regular(listed) else []
    return [(number, line.split()) for number, line in enumerate(lines, 1) if line.strip() and line[0] != "#"]


def _redirect(site: Path, words: list[str], place: str) -> str:
    """Write the page of an old address, and return what is wrong with it."""
    if len(words) != 2:
        return f"{place}: an old and a new address are needed, such as results/a.html results/b.html"
    old, new = words
    path, target = site / old, new.partition("#")[0]
    try:
        if not (site / target).is_file():
            return f"{place}: {new} is no page of the site"
        if path.exists() or ".." in Path(old).parts or Path(old).is_absolute():
            return f"{place}: {old} is a page of the site, or outside it"
        write_redirect(path, os.path.relpath(new, Path(old).parent), old)
    except (OSError, ValueError):  # a null character, a long name, or a page as a folder
        return f"{place}: {words} can be no addresses of pages"
    return ""


def write_redirect(path: Path, address: str, name: str) -> None:
    """Write a page that leads to another; ``name`` is its address, whose language it speaks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render("redirect.html.j2", _language_of(name), None, address=address), "utf-8")


def _folder(workspace: WorkspacePaths) -> Path:
    return workspace.site / FOLDER

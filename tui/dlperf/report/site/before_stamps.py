"""Convert a workspace that holds copies of theme, guide and settings, as dlperf wrote them before version 0.2."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dlperf.catalog.files.problem import CatalogError
from dlperf.catalog.files.yamlfile import read_document
from dlperf.messages.language import CODES
from dlperf.opening import folders_below, is_plain, is_regular, linked, make_folder, read_bytes
from dlperf.report.site.locations import root_of
from dlperf.report.site.settings import Settings, as_yaml, packaged_settings
from dlperf.report.site.shipped import GENERATED, files_below, shipped_root
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.store import write_atomic

ASIDE = "before-0.2"
"""Folder of ``site`` for the copies."""
BASE = "mkdocs.base.yml"
"""A file that only such workspaces have."""
COPIED = ("INHERIT", "docs_dir", "site_dir", "exclude_docs", "theme", "extra", "nav")
"""Settings that dlperf wrote."""
OF_THE_SITE = ("site_name", "copyright")
"""Settings for all languages that its owner may have changed."""
FORMER_PAGES = frozenset({"guide/reading.md"})
"""Pages of the guide that are gone."""


def is_unstamped_copy(workspace: WorkspacePaths) -> bool:
    """Tell whether a workspace holds such copies."""
    return (workspace.root / BASE).is_file() and not workspace.site_stamp.exists()


def convert(workspace: WorkspacePaths) -> list[str]:
    """Move the copies to ``site/before-0.2``, keep the owner's pages and settings, and say so.

    Raises:
        CatalogError: the settings cannot be read.
    """
    aside, made = workspace.site / ASIDE, {}
    for code in CODES:
        path = workspace.mkdocs_config if code == "en" else workspace.root / f"mkdocs.{code}.yml"
        if path.is_file():
            kept = aside / path.name
            if not kept.exists():
                write_atomic(kept, read_bytes(path))
            made[path] = _own_settings(kept, workspace.root / BASE, workspace.site_docs / root_of(code))
    for folder in ("theme", "templates"):
        _move(workspace.site / folder, aside / folder)
    _move_pages(workspace, aside)
    made.setdefault(workspace.mkdocs_config, {}).setdefault("site_name", "dlperf")
    for path, settings in made.items():
        if settings:
            write_atomic(path, as_yaml(settings).encode())
        else:
            path.unlink()
    _move(workspace.root / BASE, aside / BASE)
    return [
        f"{workspace.root}: theme, guide and settings of the site now come with dlperf; former copies are in {aside}: "
        "put back into site/theme and site/docs what you had changed"
    ]


def _own_settings(path: Path, base: Path, docs: Path) -> Settings:
    """Return the settings that dlperf did not write."""
    old = _read(path)
    found: Settings = {name: value for name, value in old.items() if name not in COPIED}
    if docs.name == "docs":
        found |= {name: value for name, value in _read(base).items() if name in OF_THE_SITE}
    else:
        found.pop("site_url", None)  # follows from that of the site
    known = [packaged_settings(name) for name in ("base", *CODES)]
    found = {name: value for name, value in found.items() if all(value != one.get(name) for one in known)}
    pages = list(_own_pages(old.get("nav", ()), docs))
    return found | ({"nav": pages} if pages else {})


def _read(path: Path) -> Settings:
    document = read_document(path)
    if path.name == BASE:  # has tags of Python, which nobody changes
        document.problems = []
        return document.data if isinstance(document.data, dict) else {}
    if document.problems:
        raise CatalogError(document.problems)
    return document.data if isinstance(document.data, dict) else {}


def _own_pages(nav: Any, docs: Path) -> Iterator[dict[str, str]]:
    for part in nav if isinstance(nav, list | tuple) else ():
        for title, target in part.items() if isinstance(part, dict) else ((part, part),):
            if isinstance(target, list | tuple):
                yield from _own_pages(target, docs)
            elif isinstance(target, str) and ("://" in target or _is_page(docs, target)):
                yield {title: target}


def _is_page(docs: Path, name: str) -> bool:
    return is_regular(docs / name) and not _is_of_dlperf(name)


def _is_of_dlperf(name: str) -> bool:
    shipped = files_below(shipped_root() / "docs")
    return name in shipped or name in FORMER_PAGES or name.startswith(GENERATED)


def _move_pages(workspace: WorkspacePaths, aside: Path) -> None:
    for folder in (workspace.site_docs, workspace.site_docs / "zh"):
        for name in GENERATED:
            _remove(folder / name)
    _remove(workspace.site / "data")
    for name, path in files_below(workspace.site_docs).items():
        if _is_of_dlperf(name.removeprefix("zh/")):
            _move(path, aside / "docs" / name)
    for below, _ in reversed(list(folders_below(workspace.site_docs))):
        if not os.listdir(below):
            os.rmdir(below)


def _remove(path: Path) -> None:
    _refuse_link(path)
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _move(source: Path, target: Path) -> None:
    _refuse_link(source)
    if source.exists():
        make_folder(target.parent)
        shutil.move(source, target)


def _refuse_link(path: Path) -> None:
    if not is_plain(path):
        raise linked(path)

"""Run MkDocs on the Markdown pages of both languages and add the data files."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType

from dlperf.errors import DlperfError, RequestError, StorageError
from dlperf.messages.language import CODES, Code
from dlperf.opening import copy_tree, link_or_copy
from dlperf.report.files.editions import add_kept, write_redirect
from dlperf.report.files.search import mend_search, segment_index
from dlperf.report.site.locations import root_of
from dlperf.report.site.staging import config_name
from dlperf.runs.paths import WorkspacePaths

WARNINGS = ("WARNING", "ERROR", "Error", "CRITICAL")
ROOT = "html"
"""Temporary folder of the language at the root of the site."""


def build_html(
    workspace: WorkspacePaths, out: Path, strict: bool = False, ranks: Mapping[str, float] = MappingProxyType({})
) -> str:
    """Build the languages in parallel, replace ``out`` when all are complete, and return MkDocs's warnings.

    The languages are two sites to MkDocs, so that each has its own search, menu and ``lang``.

    Args:
        ranks: ranks of pages in the search, by address.

    Raises:
        DlperfError: MkDocs failed, or ``out`` holds something that is not a site, or cannot be written.
    """
    refuse_foreign_folder(out)
    with _temporary_folder(out) as name:
        folder = Path(name)
        new, data = folder / ROOT, folder / "data"
        with _started(workspace, folder, strict) as builds:
            if workspace.site_data.is_dir():
                copy_tree(workspace.site_data, data)
            warnings = "".join(map(_warnings, builds))
        new.mkdir(exist_ok=True)
        for code, language in _built(folder).items():
            segment_index(language, ranks)
            mend_search(language)
            if language != new:
                language.replace(new / code)
        _fill_root(new)
        for part in sorted(data.glob("*")):
            _move(part, new / "data" / part.name)
        problems = add_kept(workspace, new)
        if problems and strict:
            raise DlperfError(problems[0])
        new.chmod(0o755)
        _replace(new, out)
    return warnings + "".join(f"{problem}\n" for problem in problems)


@contextmanager
def _started(workspace: WorkspacePaths, folder: Path, strict: bool) -> Iterator[list[subprocess.Popen[str]]]:
    """Start ``mkdocs build`` for each configured language; kill what still runs on leaving."""
    # without SOURCE_DATE_EPOCH two builds of the same pages differ in their date
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "SOURCE_DATE_EPOCH": "0", "PYTHONUTF8": "1"}
    # not --quiet: MkDocs would then count no warning, and --strict would pass
    command = [sys.executable, "-m", "mkdocs", "build", *["--strict"] * strict]
    with ExitStack() as running:
        builds = []
        for code in CODES:
            config, new = workspace.site_build / config_name(code), _folder_of(folder, code)
            if config.is_file():
                arguments = ["--config-file", str(config), "--site-dir", str(new)]
                build = subprocess.Popen(
                    [*command, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
                )
                builds.append(running.enter_context(build))
                running.callback(build.kill)
        yield builds


def _folder_of(folder: Path, code: Code) -> Path:
    return folder / (code if root_of(code) else ROOT)


def _built(folder: Path) -> dict[Code, Path]:
    found = {code: _folder_of(folder, code) for code in CODES}
    return {code: path for code, path in found.items() if path.is_dir()}


def _fill_root(site: Path) -> None:
    """Keep one page for missing addresses, and let the root of a site without English lead to its language."""
    for folder in (site / code for code in CODES if (site / code / "index.html").is_file()):
        if not (site / "index.html").exists():
            write_redirect(site / "index.html", f"{folder.name}/index.html", f"{folder.name}/")
            for name in ("404.html", "sitemap.xml"):
                link_or_copy(str(folder / name), str(site / name))
        (folder / "404.html").unlink()


def _temporary_folder(out: Path) -> tempfile.TemporaryDirectory[str]:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent)
    except OSError as error:
        raise StorageError(f"{out}: cannot be written ({error.strerror}): name another folder with --out") from error


def _move(made: Path, place: Path) -> None:
    if made.is_dir():
        place.parent.mkdir(exist_ok=True)
        made.replace(place)


def _warnings(build: subprocess.Popen[str]) -> str:
    """Wait for MkDocs and return its warnings."""
    output = build.communicate()[0]
    lines = [line.strip() for line in output.splitlines()]
    warnings = [line for line in lines if line.startswith(WARNINGS)]
    if build.returncode != 0:
        crashed = any(line.startswith("Traceback ") for line in lines)
        cause = lines[-1:] if crashed else (warnings[:3] or lines[-3:])
        raise DlperfError(f"MkDocs could not build the site: {' | '.join(cause)}")
    return "".join(f"{line}\n" for line in warnings)


def refuse_foreign_folder(out: Path) -> None:
    """Raise unless the folder, which is replaced as a whole, is a site, empty or missing."""
    if out.is_dir() and any(out.iterdir()) and not (out / "sitemap.xml").is_file():
        raise RequestError(f"{out}: holds files that are not a site: give an empty folder with --out")
    if out.exists() and not out.is_dir():
        raise RequestError(f"{out}: is not a folder: give another with --out")


def _replace(new: Path, out: Path) -> None:
    """Put ``new`` in place of ``out``."""
    if out.is_dir():
        old = new.with_name("old")
        out.replace(old)
        new.replace(out)
        shutil.rmtree(old, ignore_errors=True)
    else:
        new.replace(out)

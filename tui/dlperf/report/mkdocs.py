"""MkDocs, run as the separate program that it is: Markdown pages in, HTML out; data is put beside them as it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from dlperf.errors import DlperfError, StorageError
from dlperf.report.search import mend_index
from dlperf.runs.paths import Workspace

WORTH_SAYING = ("WARNING", "ERROR", "Error", "CRITICAL")
CHINESE_CONFIG = "mkdocs.zh.yml"
ENGLISH, CHINESE = "html", "zh"
"""Where each language is built."""
PROGRAM = """\
import sys
from mkdocs.__main__ import cli
import mkdocs.commands.build, mkdocs.config.defaults, markdown.extensions.tables, markdown.extensions.toc
import material.plugins.offline.plugin, material.plugins.search.plugin, pymdownx.superfences
if sys.stdin.readline():
    cli(prog_name="mkdocs")
"""
"""MkDocs's own command, which loads what it needs, and waits to be told to begin."""


def build_html(workspace: Workspace, out: Path, strict: bool = False) -> str:
    """Build both languages beside ``out`` and put them in its place when both are whole; MkDocs's warnings.

    The languages are two sites to MkDocs, so that each has its own search, menu and ``lang``; they are built side
    by side.

    Raises:
        DlperfError: MkDocs refused, or ``out`` holds something that is not a site, or cannot be written.
    """
    with ready_to_build(workspace, out, strict) as build:
        return build()


@contextmanager
def ready_to_build(workspace: Workspace, out: Path, strict: bool = False) -> Iterator[Callable[[], str]]:
    """As ``build_html``, in two steps: MkDocs is loaded while pages are still being written; what is given builds."""
    _refuse_foreign_folder(out)
    with _folder_beside(out) as folder, _loaded(workspace, Path(folder), strict) as processes:
        yield partial(_build, workspace, Path(folder), out, processes)


def _build(workspace: Workspace, folder: Path, out: Path, processes: Sequence[subprocess.Popen[str]]) -> str:
    for process in processes:
        _begin(process)
    new, data = folder / ENGLISH, folder / "data"
    if workspace.site_data.is_dir():
        shutil.copytree(workspace.site_data, data, copy_function=_link)
    warnings = [_warnings(process) for process in processes]
    for language in (new, folder / CHINESE):
        mend_index(language)
    _move(folder / CHINESE, new / "zh")
    for part in sorted(data.glob("*")):
        _move(part, new / "data" / part.name)
    new.chmod(0o755)
    _replace(new, out)
    return "".join(warnings)


def _folder_beside(out: Path) -> tempfile.TemporaryDirectory[str]:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent)
    except OSError as error:
        raise StorageError(f"{out}: cannot be written ({error.strerror}): name another folder with --out") from error


@contextmanager
def _loaded(workspace: Workspace, folder: Path, strict: bool) -> Iterator[list[subprocess.Popen[str]]]:
    """A process for each language, which waits to be told to begin; at the end none is left."""
    configs = {workspace.mkdocs_config: ENGLISH, workspace.root / CHINESE_CONFIG: CHINESE}
    with ExitStack() as running:
        processes = []
        for config, name in configs.items():
            if config.is_file():
                processes.append(running.enter_context(_start(config, folder / name, strict)))
                running.callback(processes[-1].kill)
        yield processes


def _begin(process: subprocess.Popen[str]) -> None:
    if process.stdin is not None:
        with suppress(BrokenPipeError):  # it ended: what it said tells why
            os.write(process.stdin.fileno(), b"begin\n")


def _link(source: str, target: str) -> None:
    """The same file at another place, where the disk can; ``Sources`` writes a file anew, never into it."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _move(made: Path, place: Path) -> None:
    if made.is_dir():
        place.parent.mkdir(exist_ok=True)
        made.replace(place)


def _start(config: Path, out: Path, strict: bool) -> subprocess.Popen[str]:
    # not --quiet: MkDocs would then count no warning, and --strict would pass
    command = [sys.executable, "-c", PROGRAM, "build", "--config-file", str(config), "--site-dir", str(out)]
    # the date of the build would be the only thing to differ between two builds of the same pages
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "SOURCE_DATE_EPOCH": "0", "PYTHONUTF8": "1"}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command + ["--strict"] * strict, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True
    )


def _warnings(process: subprocess.Popen[str]) -> str:
    """What MkDocs warned of, when it is done."""
    said, _ = process.communicate()
    worth_saying = [line.strip() for line in said.splitlines() if line.startswith(WORTH_SAYING)]
    if process.returncode != 0:
        reason = worth_saying or said.split("\n")[-2:]
        raise DlperfError(f"MkDocs could not build the site: {' | '.join(reason[:3])}")
    return "".join(f"{line}\n" for line in worth_saying)


def _refuse_foreign_folder(out: Path) -> None:
    """The folder is replaced as a whole: it must be a site, or empty, or not there."""
    if out.is_dir() and any(out.iterdir()) and not (out / "sitemap.xml").is_file():
        raise DlperfError(f"{out}: holds files that are not a site; give an empty folder with --out")
    if out.exists() and not out.is_dir():
        raise DlperfError(f"{out}: is not a folder; give another with --out")


def _replace(new: Path, out: Path) -> None:
    """``new`` in the place of ``out``; a reader finds one or the other."""
    if out.is_dir():
        old = new.with_name("old")
        out.replace(old)
        new.replace(out)
        shutil.rmtree(old, ignore_errors=True)
    else:
        new.replace(out)

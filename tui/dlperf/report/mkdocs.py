"""MkDocs, run as the separate program that it is: Markdown pages in, HTML out; data is put beside them as it is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from dlperf.errors import DlperfError, RequestError, StorageError
from dlperf.report import mkdocs_process
from dlperf.report.search import mend_index
from dlperf.runs.paths import Workspace

WORTH_SAYING = ("WARNING", "ERROR", "Error", "CRITICAL")
CHINESE_CONFIG = "mkdocs.zh.yml"
ENGLISH, CHINESE = "html", "zh"
"""Where each language is built."""


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
    with _folder_beside(out) as name, _loaded() as process:
        folder = Path(name)
        yield partial(_build, workspace, folder, out, process, _arguments(workspace, folder, strict))


def _arguments(workspace: Workspace, folder: Path, strict: bool) -> list[list[str]]:
    """Of ``mkdocs``, for each language."""
    configs = {workspace.mkdocs_config: ENGLISH, workspace.root / CHINESE_CONFIG: CHINESE}
    # not --quiet: MkDocs would then count no warning, and --strict would pass
    return [
        ["build", "--config-file", str(config), "--site-dir", str(folder / name), *["--strict"] * strict]
        for config, name in configs.items()
        if config.is_file()
    ]


def _build(
    workspace: Workspace, folder: Path, out: Path, process: subprocess.Popen[str], arguments: Sequence[Sequence[str]]
) -> str:
    _begin(process, arguments)
    new, data = folder / ENGLISH, folder / "data"
    if workspace.site_data.is_dir():
        shutil.copytree(workspace.site_data, data, copy_function=_link)
    warnings = _warnings(process)
    for language in (new, folder / CHINESE):
        mend_index(language)
    _move(folder / CHINESE, new / "zh")
    for part in sorted(data.glob("*")):
        _move(part, new / "data" / part.name)
    new.chmod(0o755)
    _replace(new, out)
    return warnings


def _folder_beside(out: Path) -> tempfile.TemporaryDirectory[str]:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent)
    except OSError as error:
        raise StorageError(f"{out}: cannot be written ({error.strerror}): name another folder with --out") from error


@contextmanager
def _loaded() -> Iterator[subprocess.Popen[str]]:
    """The process that loads MkDocs and waits to be told to begin; at the end neither it nor one of its own is left."""
    # the date of the build would be the only thing to differ between two builds of the same pages
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "SOURCE_DATE_EPOCH": "0", "PYTHONUTF8": "1"}
    command, pipe = [sys.executable, "-m", mkdocs_process.__name__], subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def _begin(process: subprocess.Popen[str], arguments: Sequence[Sequence[str]]) -> None:
    if process.stdin is not None:
        with suppress(BrokenPipeError):  # it ended: what it said tells why
            process.stdin.write(f"{json.dumps(arguments)}\n")
            process.stdin.flush()


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


def _warnings(process: subprocess.Popen[str]) -> str:
    """What MkDocs warned of, when it is done."""
    printed, said = process.communicate()
    if process.returncode != 0:
        raise _refused(said)
    return "".join(_warnings_of(*built) for built in json.loads(printed))


def _warnings_of(code: int, said: str) -> str:
    worth_saying = [line.strip() for line in said.splitlines() if line.startswith(WORTH_SAYING)]
    if code != 0:
        raise _refused("\n".join(worth_saying[:3]) or said)
    return "".join(f"{line}\n" for line in worth_saying)


def _refused(said: str) -> DlperfError:
    lines = said.strip().splitlines()
    told = lines[-1:] if any(line.startswith("Traceback ") for line in lines) else lines[-3:]
    return DlperfError(f"MkDocs could not build the site: {' | '.join(told)}")


def _refuse_foreign_folder(out: Path) -> None:
    """The folder is replaced as a whole: it must be a site, or empty, or not there."""
    if out.is_dir() and any(out.iterdir()) and not (out / "sitemap.xml").is_file():
        raise RequestError(f"{out}: holds files that are not a site: give an empty folder with --out")
    if out.exists() and not out.is_dir():
        raise RequestError(f"{out}: is not a folder: give another with --out")


def _replace(new: Path, out: Path) -> None:
    """``new`` in the place of ``out``; a reader finds one or the other."""
    if out.is_dir():
        old = new.with_name("old")
        out.replace(old)
        new.replace(out)
        shutil.rmtree(old, ignore_errors=True)
    else:
        new.replace(out)

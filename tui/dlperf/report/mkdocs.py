"""MkDocs, run as the separate program that it is: Markdown pages in, HTML out; data is put beside them as it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dlperf.errors import DlperfError, StorageError
from dlperf.report.search import mend_index
from dlperf.runs.paths import Workspace

WORTH_SAYING = ("WARNING", "ERROR", "Error", "CRITICAL")
CHINESE_CONFIG = "mkdocs.zh.yml"


def build_html(workspace: Workspace, out: Path, strict: bool = False) -> str:
    """Build both languages beside ``out`` and put them in its place when both are whole; MkDocs's warnings.

    The languages are two sites to MkDocs, so that each has its own search, menu and ``lang``; they are built side
    by side.

    Raises:
        DlperfError: MkDocs refused, or ``out`` holds something that is not a site, or cannot be written.
    """
    _refuse_foreign_folder(out)
    with _folder_beside(out) as folder:
        new, chinese, data = (Path(folder) / name for name in ("html", "zh", "data"))
        builds = {workspace.mkdocs_config: new, workspace.root / CHINESE_CONFIG: chinese}
        with _all_built({config: target for config, target in builds.items() if config.is_file()}, strict) as said:
            if workspace.site_data.is_dir():
                shutil.copytree(workspace.site_data, data, copy_function=_link)
        for language in (new, chinese):
            mend_index(language)
        _move(chinese, new / "zh")
        for part in sorted(data.glob("*")):
            _move(part, new / "data" / part.name)
        new.chmod(0o755)
        _replace(new, out)
    return "".join(said)


def _folder_beside(out: Path) -> tempfile.TemporaryDirectory[str]:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent)
    except OSError as error:
        raise StorageError(f"{out}: cannot be written ({error.strerror}): name another folder with --out") from error


@contextmanager
def _all_built(builds: dict[Path, Path], strict: bool) -> Iterator[list[str]]:
    """Run MkDocs for each configuration; at the end the list has what they warned of, and none is still writing."""
    said: list[str] = []
    running = [_start(config, target, strict) for config, target in builds.items()]
    try:
        yield said
        outputs = [process.communicate()[0] for process in running]
    finally:
        for process in running:
            process.kill()
            process.wait()
    said += [_warnings(process.returncode, output) for process, output in zip(running, outputs, strict=True)]


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
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", str(config), "--site-dir", str(out)]
    # the date of the build would be the only thing to differ between two builds of the same pages
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "SOURCE_DATE_EPOCH": "0", "PYTHONUTF8": "1"}
    return subprocess.Popen(
        command + ["--strict"] * strict, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def _warnings(code: int, said: str) -> str:
    worth_saying = [line.strip() for line in said.splitlines() if line.startswith(WORTH_SAYING)]
    if code != 0:
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

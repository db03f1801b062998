"""Theme, guide and redirects of every site, which come with dlperf."""

from pathlib import Path

from dlperf import opening
from dlperf.opening import read_bytes

PACKAGED = Path(__file__).with_name("shipped")
"""Folder of the files in a wheel."""
CHECKOUT = Path(__file__).resolve().parents[4] / "site"
"""Folder of the files in a checkout."""
GENERATED = ("index.md", "results/", "data/")
"""Names below ``docs``, and below the folder of a language there, that only ``dlperf build-site`` writes."""


def shipped_root() -> Path:
    """Return the folder that holds ``theme/``, ``docs/`` and ``redirects.txt``."""
    return PACKAGED if PACKAGED.is_dir() else CHECKOUT


def files_below(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by their names in it, without hidden ones; none if there is no such folder."""
    paths = sorted(opening.files_below(folder))
    named = {path.relative_to(folder).as_posix(): path for path in paths}
    return {name: path for name, path in named.items() if not any(part[0] == "." for part in name.split("/"))}


def own_files(folder: Path, shipped: dict[str, Path]) -> dict[str, Path]:
    """Return the files of a workspace's folder that are not copies of those that come with dlperf, by name."""
    return {name: path for name, path in files_below(folder).items() if not _is_copy(path, shipped.get(name))}


def _is_copy(path: Path, shipped: Path | None) -> bool:
    return shipped is not None and (path.samefile(shipped) or read_bytes(path) == read_bytes(shipped))

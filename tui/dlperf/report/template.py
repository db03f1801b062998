"""Files of a new workspace for its site: MkDocs settings, theme, hand-written pages."""

from __future__ import annotations

from pathlib import Path

from dlperf.report.writing import FOLDERS, PAGES
from dlperf.runs.store import write_atomic

PACKAGED = Path(__file__).parent / "template"
"""Folder of the files in a wheel."""
CHECKOUT = Path(__file__).parents[3]
"""Folder of the files in a checkout."""
PATTERNS = ("mkdocs*.yml", "site/theme/**/*", "site/docs/**/*")


def template_files() -> dict[str, bytes]:
    """Return the content of each file by its path in a workspace."""
    root = PACKAGED if PACKAGED.is_dir() else CHECKOUT
    files = sorted(path for pattern in PATTERNS for path in root.glob(pattern) if path.is_file())
    named = {path.relative_to(root).as_posix(): path for path in files}
    return {name: path.read_bytes() for name, path in named.items() if not _is_generated(name)}


def create_site(root: Path) -> list[str]:
    """Write the files that a workspace lacks and return their paths."""
    missing = {name: data for name, data in template_files().items() if not (root / name).exists()}
    for name, data in missing.items():
        write_atomic(root / name, data)
    return list(missing)


def _is_generated(name: str) -> bool:
    """Tell whether ``dlperf build-site`` made the file in a checkout."""
    return name in {f"site/{page}" for page in PAGES} or name.startswith(tuple(f"site/{folder}/" for folder in FOLDERS))

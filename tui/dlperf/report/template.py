"""The files that a new workspace needs for its site: MkDocs's settings, the theme, the hand-written pages."""

from __future__ import annotations

from pathlib import Path

from dlperf.runs.store import write_atomic

TEMPLATE = Path(__file__).parent / "template"


def template_files() -> dict[str, bytes]:
    """Path in a workspace → content."""
    files = sorted(path for path in TEMPLATE.rglob("*") if path.is_file())
    return {path.relative_to(TEMPLATE).as_posix(): path.read_bytes() for path in files}


def create_site(root: Path) -> list[str]:
    """Put the site's files into a workspace, where they are missing; the paths that were written."""
    missing = {name: data for name, data in template_files().items() if not (root / name).exists()}
    for name, data in missing.items():
        write_atomic(root / name, data)
    return list(missing)

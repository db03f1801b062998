"""The package ``supervisor`` as one file: a zip that Python runs as it is, named by its own hash.

Python takes a zip with a ``__main__.py`` for a program (PEP 441), since 2.6 and without unpacking it.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).with_name("supervisor")

_MAIN = "from supervisor.main import main\n\nmain()\n"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first time that a zip can tell."""


@cache
def supervisor_archive() -> bytes:
    """The file that is copied to nodes. The same modules give the same bytes, wherever and whenever they are packed.

    Nothing is compressed: reading 50 kB takes a node less time than loading zlib.
    """
    modules = {f"{PACKAGE.name}/{path.name}": path.read_text("utf-8") for path in sorted(PACKAGE.glob("*.py"))}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, text in {"__main__.py": _MAIN, **modules}.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), text)
    return buffer.getvalue()


def supervisor_name() -> str:
    """Its name on the node, below ``~/.dlperf/bin``: another version is another file."""
    return f"supervisor-{hashlib.sha256(supervisor_archive()).hexdigest()[:12]}.pyz"

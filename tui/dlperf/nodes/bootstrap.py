"""Starting the agent on a machine that has only a shell and Python.

The package ``supervisor`` and ``dlperf.substitution`` are packed into one zip with a ``__main__.py``, which Python runs
as a program (PEP 441).
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).with_name("supervisor")
SHARED = Path(__file__).parents[1] / "substitution.py"
"""The one module that nodes and the operator's machine share."""
ANSWER = "dlperf-agent:"
"""Begins the lines that the script prints; what a login shell prints before them is skipped."""
READY, SEND, NO_PYTHON, NO_HOME = "ready", "send", "no-python", "no-home"
"""The agent runs; the archive is awaited; there is no interpreter; ``~/.dlperf`` cannot be written."""
PYTHONS = ("python3", "python", "/usr/bin/python3", "/usr/local/bin/python3", "/usr/libexec/platform-python")
"""Where a Python that is new enough is searched, best first."""

_MAIN = "from supervisor.main import main\n\nmain()\n"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can hold."""
_SCRIPT = """
f="$HOME/.dlperf/bin/{name}"; t="$f.$(uname -n).$$";
whole() {{ if command -v sha256sum > /dev/null; then test "$(sha256sum 2> /dev/null < "$1" | head -c 64)" = {digest};
 else test "$(wc -c 2> /dev/null < "$1")" -eq {size}; fi 2> /dev/null; }};
if whole "$f"; then :; else
 (umask 077; mkdir -p "$HOME/.dlperf/bin" && : > "$t") 2> /dev/null || {{ echo "{answer} {no_home}"; exit 1; }};
 echo "{answer} {send}"; head -c {size} > "$t" 2> /dev/null || {{ rm -f "$t"; echo "{answer} {no_home}"; exit 1; }};
 whole "$t" && mv "$t" "$f" || {{ rm -f "$t"; exit 1; }};
fi;
for p in {pythons}; do
 if "$p" -I -S -c "import sys; sys.exit(sys.version_info < (3, 6))" 2> /dev/null;
 then echo "{answer} {ready}"; exec "$p" -I -S "$f" agent; fi;
done;
echo "{answer} {no_python}"
"""


@cache
def supervisor_archive() -> bytes:
    """Pack the package; equal modules give equal bytes, wherever and whenever they are packed.

    Nothing is compressed: reading 50 kB takes a node less time than loading zlib.
    """
    paths = sorted(PACKAGE.rglob("*.py"))
    modules = {path.relative_to(PACKAGE.parent).as_posix(): path.read_text("utf-8") for path in paths}
    modules |= {"dlperf/__init__.py": "", f"dlperf/{SHARED.name}": SHARED.read_text("utf-8")}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, text in {"__main__.py": _MAIN, **modules}.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), text)
    return buffer.getvalue()


def supervisor_name() -> str:
    """The name of the archive on the node, below ``~/.dlperf/bin``; it contains the hash of its content."""
    return f"supervisor-{hashlib.sha256(supervisor_archive()).hexdigest()[:12]}.pyz"


def agent_command(python: str | None = None) -> list[str]:
    """The command that starts the agent, after receiving the archive where the machine does not have it.

    It is one line without single quotes, backslashes or exclamation marks, so that every login shell, csh and fish
    included, passes it to ``sh`` unchanged once it is quoted.

    Args:
        python: the interpreter to use, in place of the first of PYTHONS that is new enough.
    """
    script = _SCRIPT.format(
        name=supervisor_name(),
        size=len(supervisor_archive()),
        digest=hashlib.sha256(supervisor_archive()).hexdigest(),
        pythons=" ".join((f'"{python}"',) if python else PYTHONS),
        answer=ANSWER,
        ready=READY,
        send=SEND,
        no_python=NO_PYTHON,
        no_home=NO_HOME,
    )
    return ["sh", "-c", " ".join(script.split("\n")).strip()]

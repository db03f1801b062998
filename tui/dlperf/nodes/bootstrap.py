"""Getting the agent to run on a machine that has a shell and Python, and nothing of ours."""

from __future__ import annotations

from dlperf.nodes.archive import supervisor_archive, supervisor_name

ANSWER = "dlperf-agent:"
"""Begins the lines that the script prints; what a login shell's start-up files print before it is passed over."""
READY, SEND, NO_PYTHON, NO_HOME = "ready", "send", "no-python", "no-home"
"""The agent runs; the file is awaited; there is no interpreter; ``~/.dlperf`` cannot be written."""

_SCRIPT = """
f="$HOME/.dlperf/bin/{name}"; t="$f.$(uname -n).$$";
if test -f "$f"; then :; else
 (umask 077; mkdir -p "$HOME/.dlperf/bin" && : > "$t") 2> /dev/null || {{ echo "{answer} {no_home}"; exit 1; }};
 echo "{answer} {send}"; head -c {size} > "$t";
 test "$(wc -c < "$t")" -eq {size} && mv "$t" "$f" || exit 1;
fi;
for p in {pythons}; do
 if "$p" -I -S -c "import sys; sys.exit(sys.version_info < (3, 6))" 2> /dev/null;
 then echo "{answer} {ready}"; exec "$p" -I -S "$f" agent; fi;
done;
echo "{answer} {no_python}"
"""
PYTHONS = ("python3", "python", "/usr/bin/python3", "/usr/local/bin/python3", "/usr/libexec/platform-python")
"""Where a Python that is new enough is looked for, best first."""


def agent_command(python: str | None = None) -> list[str]:
    """The command that starts the agent, after asking for the file where the machine does not have it.

    It is one line without single quotes, backslashes or exclamation marks, so that every login shell, csh and fish
    included, hands it to ``sh`` unchanged once it is quoted.

    Args:
        python: the interpreter to use, in place of the first one found that is new enough.
    """
    script = _SCRIPT.format(
        name=supervisor_name(),
        size=len(supervisor_archive()),
        pythons=" ".join((f'"{python}"',) if python else PYTHONS),
        answer=ANSWER,
        ready=READY,
        send=SEND,
        no_python=NO_PYTHON,
        no_home=NO_HOME,
    )
    return ["sh", "-c", " ".join(script.split("\n")).strip()]

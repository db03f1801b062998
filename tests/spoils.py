"""What may befall the files of a node while its trial runs, for the chaos benchmark."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

LINE_BYTES = 20_000_000
MOST_FILES = 3000

ANSWERS = r"""
import random, struct, sys, time
digits, words = b'{"id": ' + b"9" * 100000 + b"}", b'{"id": "1", "answer": 1}'
answer = random.choice([b"garbage", b"[]", b"[" * 60000, digits, words])
sys.stdout.buffer.write(random.choice([struct.pack(">I", len(answer)) + answer, b"\xff" * 100000, b""]))
sys.stdout.flush()
time.sleep(random.uniform(0, 5))
"""
"""An agent that answers nothing that is an answer."""


def _replaced(name: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
    """Return a function that makes something else of a file in a trial's folder, in one step."""

    def replace(folder: Path) -> None:
        made = folder / f".{name}.spoiled"
        make(made)
        made.replace(folder / name)

    return replace


def _append_endless_line(folder: Path) -> None:
    with (folder / "out.log").open("ab") as log:
        for _ in range(LINE_BYTES // 1_000_000):
            log.write(b"x" * 1_000_000)


NULLS = '{"schema": null, "state": null, "cause": null, "code": null, "duration_seconds": null, "libraries": null}'
OVERLONG = json.dumps({"state": "succeeded", "cause": {"code": "x" * 300, "code_value": "9" * 400}, "code": 10**30})

SPOILS: dict[str, Callable[[Path], object]] = {
    "garbage": _replaced("exit.json", lambda path: path.write_bytes(b"\xff\x00garbage")),
    "list": _replaced("supervisor.json", lambda path: path.write_text("[]")),
    "state": _replaced("exit.json", lambda path: path.write_text('{"state": "odd", "pid": "1"}')),
    "fifo": _replaced("exit.json", os.mkfifo),
    "link": _replaced("out.log", lambda path: path.symlink_to("/etc/passwd")),
    "null": _replaced("exit.json", lambda path: path.write_text(NULLS)),
    "overlong": _replaced("exit.json", lambda path: path.write_text(OVERLONG)),
    "closed": lambda folder: folder.chmod(0),
    "forbidden": lambda folder: (folder / "out.log").chmod(0),
    "endless_line": _append_endless_line,
}
"""Done to the folder of a running trial."""


def running_trial(home: Path) -> Path | None:
    """Return the folder of a trial that has begun to write its log and has not ended."""
    for log in home.glob(".dlperf/*/*/out.log"):
        if not os.path.lexists(log.parent / "exit.json") and (log.parent / "supervisor.json").is_file():
            return log.parent
    return None


def trials_of(home: Path) -> set[str]:
    """Return the trials that have a folder on a node."""
    return {path.parent.parent.name for path in home.glob(".dlperf/*/*/job.json")}


def take_every_file(home: Path) -> Callable[[], None]:
    """Make files in a home until its disk takes no more; return what removes them."""
    folder = home / "junk"
    folder.mkdir(exist_ok=True)
    with contextlib.suppress(OSError):
        for number in range(MOST_FILES):
            (folder / str(number)).touch()
    return lambda: shutil.rmtree(folder, ignore_errors=True)


def remove_everything(home: Path) -> None:
    shutil.rmtree(home / ".dlperf", ignore_errors=True)


def replace_agent(home: Path) -> Callable[[], None] | None:
    """Put ANSWERS in the place of a node's agent; return what puts it back, None where none is to replace."""
    agent = next(iter(home.glob(".dlperf/bin/supervisor-*.pyz")), None)
    if agent is None or agent.with_suffix(".kept").exists():
        return None
    kept, made = agent.with_suffix(".kept"), agent.with_suffix(".made")
    try:
        shutil.copy2(agent, kept)
        made.write_text(ANSWERS)
        made.replace(agent)
    except OSError:  # another fault took all files of the disk
        kept.unlink(missing_ok=True)
        return None

    def put_back() -> None:
        if kept.exists():
            kept.replace(agent)

    return put_back

"""The script of a build, run by bash."""

from __future__ import annotations

import fcntl
import subprocess
from pathlib import Path

from dlperf.render.trial import Build, build_script
from waiting import until


def is_waited_for(lock: Path) -> bool:
    """Return whether a process waits for a lock that another holds."""
    waiting = [line for line in Path("/proc/locks").read_text().splitlines() if "->" in line]
    return any(f":{lock.stat().st_ino} " in line for line in waiting)


def test_a_build_that_waits_for_another_leaves_its_folder_alone(tmp_path: Path):
    build = Build(prepared=(), lines=("touch made",), files={})
    trial = tmp_path / "campaign" / "trial"
    folder = Path(build.folder(str(trial)))
    folder.parent.mkdir()
    lock = folder.with_name(f"{folder.name}.lock")
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        second = subprocess.Popen(["bash", "-c", build_script(build, str(trial), "test")])
        until(lambda: is_waited_for(lock), lambda: "it does not wait")
        assert not folder.exists()
    assert second.wait() == 0
    assert (folder / "made").exists()

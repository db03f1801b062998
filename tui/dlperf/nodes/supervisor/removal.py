"""Removing what trials that are over left on this machine."""

import os
import shutil
from typing import List

from .files import Json, read_json, regular_size
from .processes import is_alive, marked_pids


def remove_trial(directory: str) -> Json:
    """Remove the folder of a trial unless something speaks against it: how many bytes it held, or why it stays."""
    shares = shares_in(directory)
    problem = "" if shares else "nothing of it is here"
    problem = next((said for said in map(why_kept, shares) if said), problem)
    size = size_below(directory)
    try:
        if not problem:
            shutil.rmtree(directory)
    except OSError as error:
        problem = f"{error.filename}: {error.strerror}"
    return {"bytes": size, "problem": problem}


def shares_in(directory: str) -> List[str]:
    """The folders of the trial's nodes that are on this machine."""
    names = os.listdir(directory) if os.path.isdir(directory) else []
    folders = [os.path.join(directory, name) for name in names]
    return [folder for folder in folders if os.path.exists(os.path.join(folder, "job.json"))]


def size_below(directory: str) -> int:
    """Bytes in the regular files below a folder."""
    paths = [os.path.join(folder, name) for folder, _, files in os.walk(directory) for name in files]
    return sum(regular_size(path) or 0 for path in paths)


def why_kept(share: str) -> str:
    """What speaks against removing one node's share of a trial; a share that never started holds nothing."""
    supervisor, ended = (read_json(os.path.join(share, name)) for name in ("supervisor.json", "exit.json"))
    if supervisor and not ended:
        return "it left no exit file: its processes may still run"
    mark = (read_json(os.path.join(share, "job.json")) or {}).get("mark", "")
    return "processes of it still run" if is_alive(supervisor) or marked_pids(mark) else ""

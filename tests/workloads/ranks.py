"""A PyTorch program in several processes, as torchrun starts them: ``python ranks.py PROCESSES PROGRAM OPTIONS…``.

PyTorch and what the programs share are imported once, before the processes part; launchers of trials are tried in
``test_parallel.py``.
"""

import os
import runpy
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytorch_trainer  # noqa: F401


def wait_for(children: set[int]) -> bool:
    """Whether all end well; when one does not, the others are ended, as they would wait for it."""
    well = True
    while children:
        pid, status = os.wait()
        children.remove(pid)
        if status and well:
            well = False
            for each in children:
                with suppress(ProcessLookupError):
                    os.kill(each, signal.SIGTERM)
    return well


count = int(sys.argv.pop(1))
del sys.argv[0]
children: set[int] = set()
for rank in range(count):
    child = os.fork()
    if child == 0:
        here = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count}
        os.environ.update({name: str(value) for name, value in here.items()})
        sys.path[0] = str(Path(sys.argv[0]).parent)
        runpy.run_path(sys.argv[0], run_name="__main__")
        break
    children.add(child)
else:
    sys.exit(not wait_for(children))

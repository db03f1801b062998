"""Map a function over independent items in one forked process per core."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from dlperf.errors import DlperfError

Item = TypeVar("Item")
Result = TypeVar("Result")

PORTIONS = 64
"""Of the items that a process gets, so that one with slow items does not work alone at the end."""
_inherited: dict[str, Any] = {}
"""The function and its items in a worker, inherited by the fork so that only results are pickled."""


def parallel_map(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Return ``work(item)`` for each item, in order, and end all worker processes.

    On one core, and where a fork could inherit the lock of another thread, this process does all the work.

    Raises:
        Exception: the first one that ``work`` raised.
        DlperfError: a worker was killed.
    """
    processes = min(os.cpu_count() or 1, len(items))
    if processes < 2 or _other_threads() or "fork" not in multiprocessing.get_all_start_methods():
        return [work(item) for item in items]
    context = multiprocessing.get_context("fork")
    executor = ProcessPoolExecutor(processes, context, _start_worker, (work, items))
    try:
        few = len(items) // (processes * PORTIONS)
        return list(executor.map(_run, range(len(items)), chunksize=max(1, few)))
    except BrokenProcessPool as error:
        raise DlperfError("a worker process was killed: try again") from error
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def _other_threads() -> bool:
    """Return whether other threads run Python code; ``threading`` counts those alone that it started itself."""
    return len(sys._current_frames()) > 1


def _start_worker(work: Callable[[Any], Any], items: Sequence[Any]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    _inherited.update(work=work, items=items)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run(number: int) -> Any:
    return _inherited["work"](_inherited["items"][number])

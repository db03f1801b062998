"""Work that falls into parts, done by as many processes as the machine has cores."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from typing import Any, TypeVar, cast

from dlperf.errors import DlperfError

Item = TypeVar("Item")
Result = TypeVar("Result")

ENDING = (signal.SIGINT, signal.SIGTERM)
"""Signals that end a process. While others are started they wait: a process that nobody knows yet would be left."""


def side_by_side(work: Callable[[Iterable[Item]], Result], items: Sequence[Item]) -> Iterator[Result]:
    """``work`` on a share of the items in each process, each of which takes the next item when it is done with one;
    what each share came to, which must be picklable.

    One process does it all where there is one core, or where a process cannot be forked.

    Raises:
        Exception: what ``work`` raised in one of them.
    """
    processes = min(os.cpu_count() or 1, len(items))
    if processes < 2 or not _can_fork():
        yield work(items)
        return
    taken = multiprocessing.get_context("fork").Value("q", 0)
    yield from _results_of(work, [_next_of(items, taken) for _ in range(processes)])


def apart(work: Callable[[], Result]) -> Result:
    """What ``work`` comes to in a process of its own, where one can be forked: the memory that it needs on the way,
    often a multiple of the result, goes back to the system. The result must be picklable.

    Raises:
        Exception: what ``work`` raised.
    """
    if not _can_fork():
        return work()
    [result] = _results_of(lambda _: work(), [()])
    return cast(Result, result)


def _can_fork() -> bool:
    """Not every system can; and among threads, the new process may find a lock taken that nobody will release."""
    return threading.active_count() == 1 and "fork" in multiprocessing.get_all_start_methods()


def _results_of(work: Callable[[Iterable[Item]], Result], shares: Iterable[Iterable[Item]]) -> Iterator[Any]:
    """What each process came to; none is left when this returns or raises."""
    running: list[tuple[multiprocessing.process.BaseProcess, Connection]] = []
    try:
        with _held(ENDING):
            running += [_start(work, share) for share in shares]
        for process, results in running:
            result, error = _received(process, results)
            if error is not None:
                raise error
            yield result
    finally:
        for process, _ in running:
            process.terminate()
            process.join()


@contextmanager
def _held(signals: Iterable[signal.Signals]) -> Iterator[None]:
    """Let signals wait until the end of the block, here and in the processes that it starts."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _next_of(items: Sequence[Item], taken: Synchronized[int]) -> Iterator[Item]:
    """The items that nobody has taken yet."""
    while True:
        with taken.get_lock():
            number = taken.value
            taken.value += 1
        if number >= len(items):
            return
        yield items[number]


@contextmanager
def beside(work: Callable[[], object]) -> Iterator[None]:
    """``work`` in a process of its own, which ends with the block, and with this process however that ends; Ctrl-C is
    for this process alone."""
    process = multiprocessing.get_context("fork").Process(target=_undisturbed, args=(work,), daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


@contextmanager
def without_collector() -> Iterator[None]:
    """Without Python's search for cycles: it walks through all results again and again, and finds nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _undisturbed(work: Callable[[], object]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    work()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)


def _start(
    work: Callable[[Iterable[Item]], Result], share: Iterable[Item]
) -> tuple[multiprocessing.process.BaseProcess, Connection]:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sender, work, share))
    process.start()
    sender.close()
    return process, receiver


def _work(sender: Connection, work: Callable[[Iterable[Item]], Result], share: Iterable[Item]) -> None:
    """Ctrl-C is for the process that waits; when that ends this one, the processes that this one started end too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    try:
        sender.send((work(share), None))
    except Exception as error:  # raised again where the result is waited for
        sender.send((None, error))


def _received(process: multiprocessing.process.BaseProcess, results: Connection) -> Any:
    try:
        return results.recv()
    except EOFError:
        process.join()
        raise DlperfError(f"a process that wrote pages was ended (exit code {process.exitcode}): try again") from None

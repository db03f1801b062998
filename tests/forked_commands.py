"""Commands of dlperf as processes of their own, forked from one that has imported it.

Python reads most of dlperf's modules anew for each ``python -m dlperf``, which takes longer than what a test lets most
commands do. What a test starts and does not wait for, and the engines that commands start, are started as users start
them; ``tests/cli/test_root.py`` does so with commands, too.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from threading import Thread

MOST_BYTES = 1 << 18
NOT_IMPORTED = ("dlperf.__main__", "dlperf.app", "dlperf.workloads", "dlperf.nodes.supervisor")
"""What no command needs, or runs elsewhere."""


def run_command(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run ``dlperf`` with these words to its end, as ``subprocess.run`` does where text is captured."""
    server, ends = _server(), [os.pipe() for _ in range(2)]
    request = json.dumps([list(words), str(folder), dict(environment)]).encode()
    socket.send_fds(server, [request], [write for _, write in ends])
    texts = ["", ""]
    readers = [Thread(target=_read, args=(texts, number, read)) for number, (read, _) in enumerate(ends)]
    for (_, write), reader in zip(ends, readers, strict=True):
        os.close(write)
        reader.start()
    try:
        code = int(server.recv(MOST_BYTES) or b"-9")
    except BaseException:  # the next command must not get this one's answer
        _server.cache_clear()
        server.close()
        raise
    for reader in readers:
        reader.join()
    return subprocess.CompletedProcess(["dlperf", *words], code, *texts)


def _read(texts: list[str], number: int, descriptor: int) -> None:
    with open(descriptor, encoding="utf-8") as stream:
        texts[number] = stream.read()


@cache
def _server() -> socket.socket:
    """Start the process that commands are forked from; it ends with this one."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        subprocess.Popen(
            [sys.executable, __file__, str(its.fileno())], pass_fds=[its.fileno()], stdin=subprocess.DEVNULL
        )
    return ours


def _serve(connection: socket.socket) -> None:
    _import_all()
    gc.freeze()
    while True:
        request, descriptors, _, _ = socket.recv_fds(connection, MOST_BYTES, 2)
        if not request:
            return
        if (child := os.fork()) == 0:
            connection.close()
            _become(*json.loads(request), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        connection.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def _import_all() -> None:
    import dlperf
    from dlperf.catalog.files.load import load_catalog

    for module in walk_packages(dlperf.__path__, "dlperf."):
        if not module.name.startswith(NOT_IMPORTED):
            import_module(module.name)
    load_catalog()


def _become(words: list[str], folder: str, environment: dict[str, str], outputs: Sequence[int]) -> None:
    from dlperf.cli import main

    for number, descriptor in enumerate(outputs, start=1):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdout, sys.stderr = open(1, "w"), open(2, "w", 1, errors="backslashreplace")  # noqa: SIM115 - to the end
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    time.tzset()
    main(words)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))

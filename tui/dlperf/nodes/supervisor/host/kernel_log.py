"""The kernel's log, in which drivers report failing hardware."""

import os
from typing import Iterator, List, Optional, Tuple

KMSG = "/dev/kmsg"
RECORD_BYTES = 8192
"""The longest record; a shorter buffer makes the read fail."""


def kernel_lines(since: float = 0.0, path: str = KMSG) -> Optional[List[str]]:
    """Messages from a time on, in seconds since the boot; None where this user may not read them.

    That is usual: it needs root, or ``kernel.dmesg_restrict=0``, and a container has no log.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        found = list(records(descriptor))
        return [text for moment, text in found if moment >= since] if found else None
    except OSError:  # as of a container whose /dev/kmsg is another file
        return None
    finally:
        os.close(descriptor)


def records(descriptor: int) -> Iterator[Tuple[float, str]]:
    """Time and text of every record: ``priority,number,microseconds,flags;text`` (dev-kmsg in the kernel's ABI)."""
    while True:
        try:
            data = os.read(descriptor, RECORD_BYTES)
        except BlockingIOError:
            return
        except BrokenPipeError:  # overwritten while we read: the next one follows
            continue
        if not data:
            return
        head, _, text = data.partition(b";")
        microseconds = head.split(b",")[2:3]
        if microseconds and microseconds[0].isdigit():
            yield int(microseconds[0]) / 1e6, text.split(b"\n", 1)[0].decode("utf-8", "replace")

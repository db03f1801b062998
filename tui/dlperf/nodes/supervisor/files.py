"""The node's files below ``~/.dlperf``."""

import contextlib
import errno
import json
import os
import re
import stat
from typing import Any, Dict, List, Optional

SCHEMA = 1

ROOT = os.path.join(os.path.expanduser("~"), ".dlperf")

RECORD_BYTES = 1 << 16
"""Maximum size of a record that is read."""
RESERVED_BYTES = 16384
"""Room for a last record."""
ROOM, ROOM_BYTES = "room.reserved", 1 << 18
"""What is removed before the last record is written: a file system that never writes in place asks for more."""
STREAMS, DEPTH, NAME_BYTES = 1024, 8, 512
"""Maximum number of logs below ``ranks/``, of folders inside each other, and of bytes in a log's path."""

Json = Dict[str, Any]


def write_atomic(path: str, data: bytes, mode: int = 0o600, durable: bool = True) -> None:
    """Write a file completely or not at all; where it is durable, also across a crash of the machine."""
    temporary = f"{path}.{os.getpid()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        os.rename(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def make_once(path: str, data: bytes) -> None:
    """Make a file that appears with its content, by a hard link; where the file system has none, in two steps.

    Raises:
        FileExistsError: it is there.
    """
    temporary = f"{path}.{os.getpid()}"
    write_atomic(temporary, data, durable=False)
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(data)
    finally:
        os.unlink(temporary)


def write_json(path: str, value: Json, durable: bool = True) -> None:
    write_atomic(path, json_bytes(value), durable=durable)


def json_bytes(value: Json) -> bytes:
    return json.dumps(value, indent=1).encode("ascii") + b"\n"


def reserved(path: str) -> str:
    """The file that becomes a record at the end."""
    return path + ".reserved"


def reserve(path: str, size: int = RESERVED_BYTES) -> None:
    """Make a file with some room, for a disk or quota that has neither file nor byte left when it is needed."""
    with contextlib.suppress(OSError), open(path, "wb") as stream:
        stream.write(bytes(size))


def write_reserved(path: str, value: Json) -> None:
    """Write a record as ``write_json`` does, into the file that was reserved for it, as far as it is still there."""
    try:
        descriptor = os.open(reserved(path), os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            os.close(descriptor)
            raise irregular(path)
    except OSError:
        write_json(path, value)
        return
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(json_bytes(value))
        stream.truncate()
        stream.flush()
        os.fsync(stream.fileno())
    os.rename(reserved(path), path)


def flush(path: str) -> None:
    """Wait until a file is on the disk. Raises OSError for anything but a regular file."""
    with open(open_regular(path), "rb") as stream:
        os.fsync(stream.fileno())


def open_regular(path: str) -> int:
    """Open a regular file to read. A link in its place, or in that of a folder below ``~/.dlperf``, is not followed.

    What a payload left may be anything: opening a FIFO does not block.

    Raises:
        OSError: the file is absent, cannot be read, or is not a regular file.
    """
    inside = path.startswith(ROOT + os.sep)
    *folders, name = path[len(ROOT) + 1 :].split(os.sep) if inside else [path]
    folder = os.open(ROOT, os.O_PATH) if inside else None
    try:
        for part in folders:
            folder, above = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder), folder
            os.close(above)
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError as error:
        raise (irregular(path) if error.errno in (errno.ELOOP, errno.ENXIO) else error) from None
    finally:
        if folder is not None:
            os.close(folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise irregular(path)
    return descriptor


def read_json(path: str) -> Optional[Json]:
    """The mapping in a JSON file; None for an absent file.

    Raises:
        OSError: the file cannot be read, or holds something else.
    """
    try:
        with open(open_regular(path), "rb") as stream:
            value = json.loads(stream.read(RECORD_BYTES + 1)[:RECORD_BYTES].decode("utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise OSError(errno.EINVAL, "not a JSON record", path)
    return value


def readable_json(path: str) -> Json:
    """The mapping in a JSON file; an empty one where there is none: what else is in its place must not end us."""
    try:
        return read_json(path) or {}
    except OSError:
        return {}


def read_text(path: str) -> str:
    """The text of a small file; empty where it cannot be read. Opening a FIFO does not block."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                return ""
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""


def confined(path: str) -> str:
    """The absolute path of one below ``~/.dlperf``. Raises ValueError for a path that leads out of it."""
    parts = path.split("/")
    if not path or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"path {path!r} does not stay below ~/.dlperf")
    return os.path.join(ROOT, *parts)


def log_streams(directory: str, problems: Optional[List[Json]] = None) -> Dict[str, int]:
    """Size in bytes of ``out.log``, of what it was renamed to (``out.log.1``) and of every file below ``ranks/``.

    By path relative to the trial's folder. Bytes of a path that are not UTF-8 are escaped, see ``stream_path``. Links
    below ``ranks/`` are left out.

    Args:
        problems: gets what is there and cannot be listed.
    """
    problems = [] if problems is None else problems
    present: List[str] = []
    try:
        present = os.listdir(directory) if os.path.isdir(directory) else []
    except OSError as error:
        problems.append(problem(".", error))
    names = ["out.log", *sorted(name for name in present if name.startswith("out.log."))[:STREAMS]]
    try:
        names += sorted(rank_files(directory))
    except OSError as error:
        problems.append(problem("ranks", error))
    sizes = {name: regular_size(os.path.join(directory, name)) for name in names}
    if sizes["out.log"] is None and is_irregular(os.path.join(directory, "out.log")):
        problems.append(problem("out.log", irregular("out.log")))
    return {escaped(name): size for name, size in sizes.items() if size is not None}


def rank_files(directory: str) -> List[str]:
    """What is below ``ranks/``, relative to the trial's folder.

    Raises:
        OSError: ``ranks`` is not a folder, or more is in it than is archived.
    """
    top = os.path.join(directory, "ranks")
    found: List[str] = []
    if not os.path.lexists(top):
        return found
    if not stat.S_ISDIR(os.lstat(top).st_mode):
        raise OSError(errno.ENOTDIR, "not a folder", top)
    for folder, _, files, _ in os.fwalk(top):
        relative = os.path.relpath(folder, directory)
        found += [os.path.join(relative, name) for name in files]
        longest = max((len(os.fsencode(name)) for name in files), default=0) + len(os.fsencode(relative))
        if len(found) > STREAMS or relative.count(os.sep) > DEPTH or longest >= NAME_BYTES:
            limits = f"{STREAMS} files, {DEPTH} folders inside each other, {NAME_BYTES} bytes of a path"
            raise OSError(errno.EFBIG, f"more than {limits}", top)
    return found


def is_irregular(path: str) -> bool:
    """Whether something else than a file has this name; a file may have appeared since it was missed."""
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def irregular(path: str) -> OSError:
    return OSError(errno.EINVAL, "not a regular file", path)


def problem(file: str, error: OSError) -> Json:
    """A file of a trial that cannot be read, as the agent reports it."""
    return {"file": file, "reason": error.strerror or str(error)}


def escaped(name: str) -> str:
    return os.fsencode(name).replace(b"\\", rb"\x5c").decode("utf-8", "backslashreplace")


def stream_path(name: str) -> str:
    """The path of a name that ``log_streams`` gave."""
    encoded = re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes([int(found.group(1), 16)]), name.encode("utf-8"))
    return os.fsdecode(encoded)


def regular_size(path: str) -> Optional[int]:
    """The size of a regular file; None for anything else, and for a link."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def modified(path: str) -> Optional[float]:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return None

"""The archive of a bundle: a gzipped tar of regular files under known names, read within bounds.

Headers are read here: the ``tarfile`` of Python 3.11.2 has no filters, and reads extended headers of any size.
"""

import gzip
import re
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO

from dlperf.errors import DlperfError, RequestError
from dlperf.opening import files_below, private_writer, read_bytes, writer
from dlperf.runs.paths import PLAN

_PART = r"(?!\.)[^/\\\x00-\x1f\x7f]{1,255}"
INSIDE_TRIAL = re.compile(rf"{_PART}(?:/{_PART}){{0,11}}")
"""Names of archived files, relative to the trial's folder."""
_NAME = re.compile(
    rf"campaign\.json|journal\.jsonl|objects/[0-9a-f]{{64}}|"
    rf"{_PART}/[1-9][0-9]{{0,6}}/(?:archive\.json|result\.json|job\.log|nodes(?:/{_PART}){{2,10}})"
)
"""Names of members: data of a campaign, and nothing that an engine or a catalogue reads."""
MOST_FILES, MOST_BYTES, MOST_TOTAL = 20_000, 256 << 20, 1 << 30
"""Members, bytes of one, and bytes of all, unpacked."""
MOST_RECORD, MOST_NAME = 16 << 20, 4 << 10
"""Bytes of a record in JSON, and of a long name."""
_BLOCK = 512
_PART_BYTES = 1 << 16
_RECORDS = (".json", ".jsonl")


def write_bundle(folder: Path, target: Path) -> None:
    """Pack the files of a campaign's folder, the plan first.

    Raises:
        DlperfError: a file cannot be in a bundle, or the bundle cannot be written.
    """
    names = sorted(
        (path.relative_to(folder).as_posix() for path in files_below(folder)), key=lambda it: (it != PLAN, it)
    )
    try:
        with (
            # where the operator says, but not behind a link with the name that a bundle has by default
            open(target.parent.resolve() / target.name, "wb", opener=writer) as stream,
            gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive,
        ):
            for name in names:
                data = read_bytes(folder / name)
                _check(name, len(data))
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, BytesIO(data))
    except OSError as error:
        raise DlperfError(f"{target}: {error.strerror}: nothing was shared") from error


def plan_in_bundle(file: Path) -> bytes:
    """Return the plan of a bundle, which is its first file. Raises RequestError: as ``unpack``."""
    with _members(file) as members:
        for name, content in members:
            if name == PLAN:
                return b"".join(content)
            break
    raise RequestError(f"{file}: no bundle: its first file is not {PLAN}")


def unpack(file: Path, folder: Path) -> None:
    """Write the files of a bundle into an empty folder.

    Raises:
        RequestError: it is no bundle, or holds what no bundle does; the message names it.
    """
    seen: set[str] = set()
    with _members(file) as members:
        for name, content in members:
            if name.casefold() in seen or len(seen) >= MOST_FILES:
                raise RequestError(f"{name!r} is in it twice, or it holds more than {MOST_FILES} files")
            seen.add(name.casefold())
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(target, "xb", opener=private_writer) as stream:
                for part in content:
                    stream.write(part)


def _check(name: str, size: int) -> None:
    if not _NAME.fullmatch(name):
        raise RequestError(f"{name!r} is no file of a bundle")
    most = MOST_RECORD if name.endswith(_RECORDS) else MOST_BYTES
    if not 0 <= size <= most:
        raise RequestError(f"{name!r} is larger than {most >> 20} MiB")


class _Reader:
    """Reads the members of a bundle, one after the other."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._total = stream, 0

    def members(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Yield the name and the parts of each member, which must be read before the next one."""
        while (header := self._read(_BLOCK)).strip(b"\0"):
            info = tarfile.TarInfo.frombuf(header, "utf-8", "strict")
            name = info.name
            if info.type == tarfile.GNUTYPE_LONGNAME and info.size <= MOST_NAME:
                name = b"".join(self._content(info.size)).rstrip(b"\0").decode()
                info = tarfile.TarInfo.frombuf(self._read(_BLOCK), "utf-8", "strict")
            if info.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
                raise RequestError(f"{name!r} is no regular file")
            _check(name, info.size)
            yield name, self._content(info.size)

    def _content(self, size: int) -> Iterator[bytes]:
        left = size
        while left:
            part = self._read(min(left, _PART_BYTES))
            left -= len(part)
            yield part
        self._read(-size % _BLOCK)

    def _read(self, size: int) -> bytes:
        self._total += size
        if self._total > MOST_TOTAL:
            raise RequestError(f"more than {MOST_TOTAL >> 20} MiB when unpacked")
        data = self._stream.read(size)
        if len(data) != size:
            raise EOFError("cut off")
        return data


@contextmanager
def _members(file: Path) -> Iterator[Iterator[tuple[str, Iterator[bytes]]]]:
    try:
        with open(file, "rb") as stream, gzip.GzipFile(fileobj=stream) as unpacked:
            yield _Reader(unpacked).members()  # type: ignore[arg-type]
    except RequestError as error:
        raise RequestError(f"{file}: {error}: nothing was accepted") from None
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise RequestError(f"{file}: {error.strerror}") from error
    except (EOFError, gzip.BadGzipFile, zlib.error, tarfile.TarError, ValueError) as error:
        raise RequestError(f"{file}: no bundle, or a damaged one ({error}): nothing was accepted") from error

"""Open files that are packed, written in UTF-16 or kept by Docker as JSON, as plain UTF-8."""

import bz2
import codecs
import gzip
import json
import lzma
import os
import sys
import zlib
from collections.abc import Callable
from functools import partial
from io import BufferedIOBase, BufferedReader
from itertools import islice
from typing import Any

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GZIP = b"\x1f\x8b"
DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, zstd.ZstdError)
"""Raised where a packed file is cut or damaged."""
_PACKERS: dict[bytes, Callable[[BufferedReader], Any]] = {
    GZIP: lambda stream: gzip.GzipFile(fileobj=stream),
    b"\xfd7zXZ\0": lzma.LZMAFile,
    b"BZh": bz2.BZ2File,
    b"\x28\xb5\x2f\xfd": zstd.ZstdFile,
}
"""First bytes → what unpacks them."""
_DOCKER = b'{"log":"', b'","stream":"std'
"""Begins a line of Docker's json-file driver, and is in it."""
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_MANY, _FEW = 0.5, 0.05
"""Shares of zeros among the first and the second bytes of pairs, or the other way round, in a text in UTF-16."""
START = 6
"""Bytes that say how a file is packed."""
LINES, LONGEST = 1 << 10, 1 << 20
"""Lines that are converted at a time, and bytes of one."""
MOST_BYTES, MOST_RATIO = 1 << 30, 200
"""Unpacked, all of which every file may hold, and in how many times its own size more: what holds yet more is cut."""


def opened(stream: BufferedReader) -> BufferedIOBase:
    """Return what a file holds: itself, unpacked, or from UTF-16 to UTF-8; closing it closes the file, too."""
    peeked = stream.peek(START)
    start = peeked[:START]
    packer = next((packer for first, packer in _PACKERS.items() if start.startswith(first)), None)
    if packer is not None:
        most = max(MOST_BYTES, MOST_RATIO * os.fstat(stream.fileno()).st_size)
        return Converted(packer(stream), stream, most=most)
    if peeked.startswith(_DOCKER[0]) and _DOCKER[1] in peeked:
        return DockerLog(stream, stream)
    return Converted(stream, stream) if _utf16_of(peeked) else stream


def _utf16_of(start: bytes) -> str | None:
    """Return which UTF-16 a file is written in by its first bytes, which may lack the mark; None for any other."""
    if start[:2] in _UTF16 or b"\0" not in start[1:]:
        return _UTF16.get(start[:2])
    first, second = (half.count(0) / len(half) for half in (start[::2], start[1::2]))
    if max(first, second) < _MANY or min(first, second) > _FEW:
        return None
    return "utf-16-be" if first > second else "utf-16-le"


class Converted(BufferedIOBase):
    """A file whose contents are converted while they are read, forwards only."""

    _decoder: codecs.IncrementalDecoder | None = None
    _has_begun = False

    def __init__(self, stream: Any, file: BufferedReader, most: int = sys.maxsize) -> None:
        self._stream, self._file, self._left = stream, file, most

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1, /) -> bytes:
        """Return at most about ``size`` bytes, none at the end. Raises EOFError: it holds more than a log does."""
        while True:
            data: bytes = self._stream.read1(size)
            self._left -= len(data)
            if self._left < 0:
                raise EOFError("unpacked it is far larger than a log")
            if not self._has_begun and (encoding := _utf16_of(data)):
                self._decoder = codecs.getincrementaldecoder(encoding)("replace")
            self._has_begun = True
            if self._decoder is None:
                return data
            text = self._decoder.decode(data, not data).replace("\ufeff", "")
            if text or not data:
                return text.encode("utf-8", "replace")

    def read(self, size: int | None = -1, /) -> bytes:
        """Return so many bytes, or all, fewer at the end."""
        parts, left = [], -1 if size is None else size
        while left and (part := self.read1(left)):
            parts.append(part)
            left -= min(len(part), left) if left > 0 else 0
        return b"".join(parts)

    def close(self) -> None:
        self._stream.close()
        self._file.close()
        super().close()


class DockerLog(Converted):
    """The lines of a container that Docker's json-file driver keeps, each behind its time as kubectl prints it."""

    _begins = True

    def read1(self, size: int = -1, /) -> bytes:
        """Return some whole lines of the file, none at the end."""
        lines = iter(partial(self._stream.readline, LONGEST), b"")
        return b"".join(map(self._text_of, islice(lines, LINES)))

    def _text_of(self, line: bytes) -> bytes:
        try:
            entry = json.loads(line)
            second, _, fraction = entry["time"].removesuffix("Z").partition(".")  # without zeros at its end
            text = f"{second}.{fraction:0<9}Z {entry['log']}" if self._begins else str(entry["log"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return line
        self._begins = text.endswith("\n")  # longer lines are kept in parts
        return text.encode("utf-8", "replace")

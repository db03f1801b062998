"""Every single change of every field of a record: null, another type, overlong, huge, nested or missing."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

HOLE = "<hole>"
MISSING = "<missing>"
VALUES = {
    "null": "null",
    "true": "true",
    "number": "-1",
    "text": '"x"',
    "control": r'"\u001b]0;x\u0007\u0000\n<script>"',
    "overlong": json.dumps("x" * 300),
    "huge": "1" + "0" * 308,
    "nested": '[[["x"]], {"x": {}}]',
    "mapping": '{"x": [1]}',
}
"""What stands in place of a value, in JSON."""
CELLS = ("", "x", "-1", "1e999", "nan", "x" * 300, "9" * 400, '"', "\x1b]0;x\x07", "=1+1")
"""What stands in place of a cell of a table."""


def changes(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the place of each single change of a file's content, and the content that has it."""
    data = path.read_bytes()
    if path.suffix in (".csv", ".times"):
        yield from _of_table(data.decode())
    elif path.suffix == ".jsonl":
        yield from _of_lines(data.decode().splitlines())
    elif path.suffix == ".yaml" or path.suffix == ".yml":
        yield from _of_text(yaml.safe_load(data))
    else:
        read = json.loads(data)
        yield from _of_text(read)
        if path.name == "archive.json":
            yield from _of_archived_texts(read)


def _of_text(read: Any) -> Iterator[tuple[str, bytes]]:
    for place, copy in holes(read):
        text = json.dumps(copy)
        if isinstance(copy, str):
            yield from ((f"{place} {kind}", value.encode()) for kind, value in VALUES.items())
        else:
            yield from (
                (f"{place} {kind}", text.replace(json.dumps(HOLE), value, 1).encode()) for kind, value in VALUES.items()
            )
    yield from ((f"{place} missing", json.dumps(copy).encode()) for place, copy in _shortened(read))


def holes(data: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield copies of a value, each with another of its parts replaced by the hole."""
    yield place, HOLE
    if isinstance(data, dict):
        for key, value in data.items():
            yield from ((name, {**data, key: copy}) for name, copy in holes(value, f"{place}.{key}"))
    elif isinstance(data, list):
        for at, value in enumerate(data[:2]):
            yield from ((name, [*data[:at], copy, *data[at + 1 :]]) for name, copy in holes(value, f"{place}[{at}]"))


def _shortened(data: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield copies of a value, each without another of its parts."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield f"{place}.{key}", {name: kept for name, kept in data.items() if name != key}
            yield from ((name, {**data, key: copy}) for name, copy in _shortened(value, f"{place}.{key}"))
    elif isinstance(data, list):
        for at, value in enumerate(data[:2]):
            yield f"{place}[{at}]", [*data[:at], *data[at + 1 :]]
            yield from (
                (name, [*data[:at], copy, *data[at + 1 :]]) for name, copy in _shortened(value, f"{place}[{at}]")
            )


def _of_lines(lines: list[str]) -> Iterator[tuple[str, bytes]]:
    for at, line in enumerate(lines):
        for place, changed in _of_text(json.loads(line)):
            yield f"line {at + 1}{place}", "\n".join([*lines[:at], changed.decode(), *lines[at + 1 :], ""]).encode()


def _of_archived_texts(archive: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Change records inside of an archive, with the hash that the changed record has."""
    for file in archive["files"]:
        text = archive["texts"].get(file["sha256"])
        if text is None or not file["path"].endswith(".json"):
            continue
        for place, changed in _of_text(json.loads(text)):
            digest = hashlib.sha256(changed).hexdigest()
            files = [
                {**item, "sha256": digest, "size": len(changed)} if item is file else item for item in archive["files"]
            ]
            copy = {**archive, "files": files, "texts": {**archive["texts"], digest: changed.decode()}}
            yield f"{file['path']}{place}", json.dumps(copy).encode()


def _of_table(text: str) -> Iterator[tuple[str, bytes]]:
    rows = list(csv.reader(io.StringIO(text)))
    for at, row in enumerate(rows[:4]):
        for column in range(len(row)):
            for cell in CELLS:
                changed = [*row[:column], cell, *row[column + 1 :]]
                yield f"row {at + 1}.{column} {cell[:9]!r}", _as_csv([*rows[:at], changed, *rows[at + 1 :]])
            yield f"row {at + 1}.{column} missing", _as_csv([*rows[:at], row[:column], *rows[at + 1 :]])


def _as_csv(rows: list[list[str]]) -> bytes:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode("utf-8", "surrogatepass")

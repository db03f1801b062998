"""Read a table of logs: what somebody knows about each of them, as the columns of a CSV file."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date as Date
from pathlib import Path
from typing import TextIO

from dlperf.catalog.axes import parse_scale
from dlperf.errors import RequestError
from dlperf.evidence.names import NameFacts

COLUMNS = ("log", "hardware", "model", "framework", "precision", "batch_size", "gpus", "source", "date")
"""Known columns; any other is an axis of the case. ``gpus``: 8, or 2n8g; ``batch_size``: per GPU."""
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


@dataclass(frozen=True)
class LogRow:
    """What a table says of one log."""

    facts: NameFacts = field(default_factory=NameFacts)
    source: str = ""
    """Where the log was published."""
    date: str = ""
    """When: a year, a month or a day."""
    hardware: str = ""
    path: str = ""
    """Of the log in the publisher's repository, where its layout tells."""
    protocol: str = ""
    """Id of the protocol in the catalogue by which the publisher makes one value of several logs."""
    conditions: Mapping[str, str] = field(default_factory=dict)
    """Further facts of the machine and its software, by name."""
    axes: Mapping[str, str] = field(default_factory=dict)


def read_log_table(path: Path) -> dict[Path, LogRow]:
    """Return the rows of a table by the file of each log, which is found from the table's folder.

    Raises:
        RequestError: the table cannot be read, or a row is wrong; the message has its line.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            return _each_once(_rows(path, _reader(stream)))
    except UnicodeDecodeError as error:
        raise RequestError(f"--table {path}: not UTF-8: save it as a CSV file in UTF-8") from error
    except (OSError, csv.Error) as error:
        raise RequestError(f"--table {path}: {error}") from error


def _reader(stream: TextIO) -> csv.DictReader[str]:
    """Return a reader of cells between commas, or the semicolons of spreadsheets in countries with decimal commas."""
    header = stream.readline()
    stream.seek(0)
    return csv.DictReader(stream, delimiter=";" if ";" in header and "," not in header else ",")


def _each_once(rows: Iterable[tuple[str, Path, LogRow]]) -> dict[Path, LogRow]:
    found: dict[Path, LogRow] = {}
    for where, log, row in rows:
        if log in found:
            raise RequestError(f"{where}: {log} has a row already: keep one of them")
        found[log] = row
    return found


def _rows(path: Path, reader: csv.DictReader[str]) -> Iterator[tuple[str, Path, LogRow]]:
    if "log" not in (reader.fieldnames or ()):
        raise RequestError(f"--table {path}: it needs the column log; known columns: {', '.join(COLUMNS)}")
    for cells in reader:
        where = f"--table {path}:{reader.line_num}"
        texts = {name: text.strip() for name, text in cells.items() if name and text and text.strip()}
        if None in cells or "log" not in texts:
            raise RequestError(f"{where}: a row needs a log, and no more cells than there are columns")
        log = path.parent / texts.pop("log")
        if not log.exists():
            raise RequestError(f"{where}: there is no file {log}")
        yield where, log.resolve(), _row(where, texts)


def check_date(text: str, where: str) -> None:
    """Raise RequestError unless a text is empty or a year, a month or a day."""
    if text and not (_DATE.fullmatch(text) and _is_day(text)):
        raise RequestError(f"{where}: date {text!r}: write 2026, 2026-01 or 2026-01-31")


def _is_day(text: str) -> bool:
    try:
        Date.fromisoformat(text + "-01-01"[len(text) - 4 :])
    except ValueError:
        return False
    return True


def _row(where: str, texts: dict[str, str]) -> LogRow:
    source, date = texts.pop("source", ""), texts.pop("date", "")
    check_date(date, where)
    batch, scale = texts.pop("batch_size", ""), texts.pop("gpus", "")
    if batch and not (batch.isdecimal() and int(batch)):
        raise RequestError(f"{where}: batch_size {batch!r}: write a whole number")
    try:
        nodes, per_node = parse_scale(scale) if scale else (None, None)
    except ValueError as error:
        raise RequestError(f"{where}: gpus: {error}") from error
    facts = NameFacts(
        model=texts.pop("model", None),
        framework=texts.pop("framework", None),
        precision=texts.pop("precision", None),
        batch_size=int(batch) if batch else None,
        gpus=nodes * per_node if nodes and per_node else None,
        nodes=nodes,
    )
    return LogRow(facts, source, date, texts.pop("hardware", ""), axes=texts)

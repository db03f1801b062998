"""All results of a workspace as an SQLite database, and queries that only read it."""

import json
import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from dlperf.errors import DlperfError, RequestError
from dlperf.measured.model import TrialResult
from dlperf.messages import Message
from dlperf.messages.finding import Finding
from dlperf.runs.lookup import tags_of
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.published import load_reports
from dlperf.runs.store import each_readable, write_atomic
from dlperf.table.audited import read_verdicts
from dlperf.table.columns import DATA_SCHEMA
from dlperf.table.load import campaigns_of_results, load_campaign, reader_of_formats
from dlperf.table.model import ConfigurationResult
from dlperf.table.published import campaign_of, rows_of_report

SCHEMA = Path(__file__).with_name("database.sql")
APPLICATION_ID = 0x646C7066
"""In the header of files of ``dlperf export``: ``dlpf``."""
_AT = slice(68, 72)
"""Where SQLite keeps it."""
QUERY_SECONDS = 30.0
MOST_ROWS = 1_000_000
MOST_BYTES = 100_000_000
"""Of one value."""
_READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)


@dataclass(frozen=True)
class QueryResult:
    """What a query gives."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def results_database(workspace: WorkspacePaths, complain: Callable[[DlperfError], object] | None) -> sqlite3.Connection:
    """Return a database in memory, with the tables of ``database.sql``.

    Args:
        complain: called for each campaign or report that cannot be read, which is left out.
    """
    connection = sqlite3.connect(":memory:")
    connection.executescript(SCHEMA.read_text("utf-8"))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {DATA_SCHEMA}")
    tables = _Tables(connection)
    open_reader = reader_of_formats(workspace, complain)

    def insert_campaign(paths: CampaignPaths) -> None:
        record, rows = load_campaign(paths, open_reader)
        origin = "imported" if record.imported else "measured"
        tables.insert("campaigns", record, origin=origin, date=record.created, tags=" ".join(tags_of(paths)))
        tables.insert_results(rows)

    list(each_readable(campaigns_of_results(workspace), insert_campaign, complain))
    verdicts = read_verdicts(workspace)
    for report in load_reports(workspace, complain):
        unknown = {"dlperf_version": None, "tags": ""}
        tables.insert("campaigns", report, name=campaign_of(report), origin="published", **unknown)
        tables.insert_results(rows_of_report(report, verdicts))
    connection.commit()
    return connection


class _Tables:
    """Writes dataclasses into the tables whose columns have the names of their fields."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        self._columns = {name: _columns(connection, name) for name in names}

    def insert(self, table: str, record: object, **others: Any) -> int:
        """Insert a row of the fields of a record, or in place of them of ``others``; return its id."""
        columns = self._columns[table]
        cells = [_cell(others[name] if name in others else getattr(record, name)) for name in columns]
        text = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        return int(self._connection.execute(text, cells).lastrowid or 0)

    def insert_results(self, rows: list[ConfigurationResult]) -> None:
        for row in rows:
            status = {"status": row.status.code, "cause": row.status.cause}
            others = {"configuration": row.id, "case_id": row.case, "axes": dict(row.axes)}
            result = self.insert("results", row, id=None, **others, **status)
            for metric in row.metrics:
                self.insert("metrics", metric, result=result, trial=None, metric=metric.id)
            self._insert_caveats(row.findings, result, None)
            for trial in row.trials:
                self._insert_trial(trial, result)

    def _insert_trial(self, item: TrialResult, result: int) -> None:
        trial = self.insert("trials", item, id=None, result=result)
        for metric in item.metrics:
            alone = {"spread": None, "n": None}
            self.insert("metrics", metric, result=result, trial=trial, metric=metric.id, **alone)
        for name, value in item.conditions.items():
            self.insert("environment", None, trial=trial, name=name, value=value)
        for step, loss in item.losses:
            self.insert("losses", None, trial=trial, step=step, loss=loss)
        self._insert_caveats(item.findings, result, trial)

    def _insert_caveats(self, findings: tuple[Finding, ...], result: int, trial: int | None) -> None:
        for finding in findings:
            self.insert("caveats", finding, result=result, trial=trial, parameters=finding.as_data()["parameters"])


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]


def _cell(value: Any) -> Any:
    """Return a value that SQLite can hold: text for a message, JSON for a mapping."""
    if isinstance(value, Mapping):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, (str, Message)):
        return str(value).encode("utf-8", "replace").decode()
    return float(value) if isinstance(value, int) and value.bit_length() > 63 else value


def write_database(connection: sqlite3.Connection, path: Path) -> None:
    """Write a database into a file; one that an earlier call wrote is replaced.

    Raises:
        RequestError: something else is there.
        StorageError: it cannot be written.
    """
    refuse_other_file(path)
    write_atomic(path, connection.serialize())


def refuse_other_file(path: Path) -> None:
    """Raise RequestError where something is at a path that an export would replace and did not write."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_AT.stop)
    except FileNotFoundError:
        return
    except IsADirectoryError as error:
        raise RequestError(f"{path}: is a folder: name a file in it, such as {path / 'results.sqlite'}") from error
    if head and head[_AT] != APPLICATION_ID.to_bytes(4, "big"):
        raise RequestError(f"{path}: exists and is no export of dlperf: choose another name")


def query_database(connection: sqlite3.Connection, sql: str, seconds: float = QUERY_SECONDS) -> QueryResult:
    """Return what a query that only reads gives. Numbers that are not finite and binary values become text.

    Raises:
        RequestError: it is no query, would change something, or takes longer or gives more than allowed.
    """
    deadline = time.monotonic() + seconds
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
    try:
        cursor = connection.execute(sql)
        rows = cursor.fetchmany(MOST_ROWS + 1)
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        raise RequestError(f"query: {_reason(error, seconds)}") from error
    if cursor.description is None:
        raise RequestError("query: nothing to select: write SELECT … (tables: `dlperf query --schema`)")
    if len(rows) > MOST_ROWS:
        raise RequestError(f"query: more than {MOST_ROWS:,} rows: add a condition or LIMIT")
    return QueryResult(tuple(name for name, *_ in cursor.description), tuple(tuple(map(_plain, row)) for row in rows))


def _reason(error: Exception, seconds: float) -> str:
    text = str(error)
    if text == "interrupted":
        return f"stopped after {seconds:g} s: select fewer rows, or query a file of `dlperf export`"
    if "not authorized" in text or "prohibited" in text:
        return f"{text}: results are only read: write SELECT …"
    return f"{text} (tables and columns: `dlperf query --schema`)"


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if isinstance(value, float) and not isfinite(value) else value

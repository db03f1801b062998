"""Read and write the records under ``runs/``: whole files by rename, journals by appended lines."""

from __future__ import annotations

import errno
import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from dlperf.catalog.patterns import EXPECTATION, expected_line, line_problem
from dlperf.errors import DlperfError, StorageError
from dlperf.opening import make_folder, private_writer, read_bytes, writer
from dlperf.plan.model import interleaved
from dlperf.runs.bounded import load_json
from dlperf.runs.lock import held_folder
from dlperf.runs.names import file_name, is_folder_name
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import CampaignRecord
from dlperf.runs.schema import NewerError, check_schema
from dlperf.runs.secrets import IGNORED, SECRETS, redact_for_runs

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Item = TypeVar("Item")
Record = TypeVar("Record")
Complain = Callable[[str], object]
"""Takes a problem, in one line that begins with a path."""

MOST = 1_000_000
"""Of repeats, nodes, GPUs, samples of a batch, trials of a configuration, and trials of a plan."""
LONGEST_NAME = 255
"""Bytes of a file's name."""
_ADAPTERS: dict[Any, Any] = {}
_READERS: dict[Any, Any] = {}


def each_readable(
    items: Iterable[Item], read: Callable[[Item], Record], complain: Callable[[DlperfError], object] | None
) -> Iterator[Record]:
    """Yield what ``read`` returns for each item; one that cannot be read is reported and skipped.

    Raises:
        DlperfError: an item cannot be read, and ``complain`` is None.
    """
    for item in items:
        try:
            found = read(item)
        except DlperfError as error:
            if complain is None:
                raise
            complain(error)
        else:
            yield found


def write_atomic(path: Path, data: bytes, durable: bool = True, private: bool = False) -> None:
    """Write a file so that readers, also after a crash, see all of it or nothing.

    Args:
        durable: wait for the disk; otherwise a crash of the machine may leave an empty file.
        private: only the owner may read it.
    """
    campaign = held_folder(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        make_folder(path.parent, within=campaign)
        with open(temporary, "wb", opener=private_writer if private else writer) as stream:
            stream.write(data)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise StorageError(f"{path}: cannot be written ({error.strerror}): free space or fix permissions") from error


def write_record(path: Path, record: Any, durable: bool = True) -> None:
    """Write a dataclass as JSON without secrets; arguments as for ``write_atomic``."""
    write_atomic(path, redact_for_runs(path, record_bytes(record)), durable)


def record_bytes(record: Any) -> bytes:
    """Return the bytes that ``write_record`` writes."""
    return (json.dumps(_plain(record), indent=1, ensure_ascii=False) + "\n").encode()


def _plain(record: Any) -> Any:
    return type_adapter(type(record)).dump_python(record, mode="json")


def dump_record(record: Any) -> bytes:
    """Return compact JSON of a dataclass or of plain values, faster than ``record_bytes``."""
    return type_adapter(type(record)).dump_json(record)


def redacted_record(path: Path, record: Record) -> Record:
    """Return a record as ``write_record`` would write it at this path and ``parse_record`` would read it."""
    data = dump_record(record)
    redacted = redact_for_runs(path, data)
    return record if redacted == data else parse_record(path, redacted, type(record))


def parse_record(path: Path, data: bytes, kind: type[Record]) -> Record:
    """Return the record of a file's bytes, of this schema.

    Raises:
        DlperfError: it is no such record; the message begins with the path.
    """
    try:
        return _validated(load_json(data), kind)
    except (ValueError, DlperfError) as error:
        raise DlperfError(f"{path}: not a {kind.__name__} ({one_line(error)})") from error


def read_record_if_whole(
    path: Path, kind: type[Record], complain: Complain | None = None, read: Callable[[Path], bytes] = read_bytes
) -> Record | None:
    """Read the record of a file that can be derived again: None where it is missing or damaged.

    Args:
        complain: called for a damaged file.
        read: reads the bytes of the file.
    """
    try:
        return parse_record(path, read(path), kind)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, DlperfError) as error:
        if complain is not None:
            complain(f"{path}: {error.strerror}" if isinstance(error, OSError) else str(error))
        return None


def _validated(data: Any, kind: type[Record]) -> Record:
    if not isinstance(data, dict):
        raise ValueError(f"a {type(data).__name__} and no mapping")
    return _reader(kind).validate_python((check_schema(data),))[0]


def write_campaign(paths: CampaignPaths, record: CampaignRecord) -> None:
    """Write a plan, without the usual order of trials: there may be 100 000 of them."""
    usual = record.trials == interleaved(record.configurations, record.seed)
    data = type_adapter(CampaignRecord).dump_python(record, mode="json", exclude={"trials"} if usual else None)
    write_atomic(paths.plan, (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode())


def write_secrets(folder: Path, secrets: Mapping[str, str]) -> None:
    """Write the secrets of a campaign, by placeholder, into its folder; only the owner may read them, and not git."""
    if secrets:
        write_atomic(folder / IGNORED, f"{SECRETS}\n".encode())
        write_atomic(folder / SECRETS, record_bytes(dict(secrets)), private=True)


def read_campaign(paths: CampaignPaths) -> CampaignRecord:
    """Read the plan of a campaign. Raises DlperfError: there is none, or it cannot be read."""
    plan = paths.plan
    if not is_folder_name(paths.directory.name):
        raise DlperfError(f"{paths.directory}: no campaign's folder has this name: rename it")
    try:
        data = load_json(read_bytes(plan))
        if isinstance(data, dict) and "trials" not in data:
            record = _planned(data | {"trials": []})
            return replace(record, trials=interleaved(record.configurations, record.seed))
        return _planned(data)
    except OSError as error:
        raise DlperfError(f"{plan}: {error.strerror}: is the campaign's name right?") from error
    except NewerError as error:
        raise DlperfError(f"{plan}: {error}") from error
    except (ValueError, DlperfError) as error:
        advice = "put it back from a copy, or move the campaign's folder away"
        raise DlperfError(f"{plan}: not a campaign ({one_line(error)}): {advice}") from error


def _planned(data: Any) -> CampaignRecord:
    record = _validated(data, CampaignRecord)
    _check_plan(record)
    return record


def _check_plan(record: CampaignRecord) -> None:
    """Raise ValueError for values that no plan has and that would fail later, beyond the types of its fields."""
    names = [key.configuration for key in record.trials]
    points = [item.configuration for item in record.configurations] + [item.configuration for item in record.impossible]
    counts = [key.number for key in record.trials]
    counts += [count for point in points for count in (point.batch_size or 1, point.nodes, point.gpus)]
    for item in record.configurations:
        point = item.configuration
        names += [point.id, *(node.name for node in item.launch.nodes)]
        counts += [item.repeats, item.uncounted + 1]
        if any(not re.fullmatch(EXPECTATION, text) or line_problem(expected_line(text) or "") for text in item.expect):
            raise ValueError(f"{point.id}: expect is not what it must be")
    if any(not name or len(file_name(name)) > LONGEST_NAME for name in names):
        raise ValueError("an empty or too long name")
    counts.append(1 + sum(item.rounds for item in record.configurations))
    if not all(0 < count <= MOST for count in counts):
        raise ValueError(f"a number that is not from 1 to {MOST}")


def append_records(path: Path, records: Iterable[Any], durable: bool = True) -> None:
    """Append lines without secrets to a journal in a single write, so that the lines of two writers do not mix.

    A line that an earlier crash or a full disk cut is ended by a line break first. ``durable`` waits for the disk.

    Raises:
        StorageError: the lines could not all be written.
    """
    append_lines(path, map(_plain, records), durable)


def append_lines(path: Path, values: Iterable[Any], durable: bool = True) -> None:
    """Append plain values as ``append_records`` does."""
    lines = [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values]
    if lines:
        _append(path, redact_for_runs(path, ("\n".join(lines) + "\n").encode()), durable)


def _append(path: Path, data: bytes, durable: bool) -> None:
    campaign = held_folder(path)
    try:
        make_folder(path.parent, within=campaign)
        descriptor = writer(str(path), os.O_RDWR | os.O_APPEND | os.O_CREAT)
        with os.fdopen(descriptor, "r+b", buffering=0) as stream:
            size = os.fstat(stream.fileno()).st_size
            torn = size > 0 and os.pread(stream.fileno(), 1, size - 1) != b"\n"
            data = b"\n" + data if torn else data
            if stream.write(data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if durable:
                os.fsync(stream.fileno())
    except OSError as error:
        raise StorageError(f"{path}: cannot be written ({error.strerror}): free space or fix permissions") from error


def read_records(path: Path, kind: type[Record], offset: int = 0) -> tuple[list[Record], int]:
    """Return the records from a byte offset on, and the offset to continue from; a damaged line is skipped.

    Raises:
        DlperfError: the file cannot be read.
    """
    lines, offset = read_lines(path, offset)
    return records_of(lines, kind), offset


def records_of(lines: Iterable[bytes], kind: type[Record]) -> list[Record]:
    """Return the records of these lines, without damaged ones."""
    return [record for line in lines for record in _record(line, kind)]


def read_lines(path: Path, offset: int = 0) -> tuple[list[bytes], int]:
    """Return the lines from a byte offset on, and the offset to continue from.

    A last line without a line break is left for the next call.

    Raises:
        DlperfError: the file cannot be read.
    """
    try:
        data = read_bytes(path, offset)
    except FileNotFoundError:
        return [], offset
    except OSError as error:
        raise DlperfError(f"{path}: {error.strerror}") from error
    end = data.rfind(b"\n") + 1
    return data[:end].split(b"\n"), offset + end


def _record(line: bytes, kind: type[Record]) -> Iterator[Record]:
    with suppress(ValueError):
        yield _reader(kind).validate_json(b"[" + line + b"]")[0]


def type_adapter(kind: type[Record]) -> TypeAdapter[Record]:
    """Return pydantic's reader and writer of a dataclass, built once because that takes milliseconds."""
    if kind not in _ADAPTERS:
        from pydantic import TypeAdapter

        _ADAPTERS[kind] = TypeAdapter(kind)
    return cast("TypeAdapter[Record]", _ADAPTERS[kind])


def _reader(kind: type[Record]) -> TypeAdapter[tuple[Record]]:
    """Return a strict reader: pydantic takes settings for a tuple of a dataclass, not for a dataclass."""
    if kind not in _READERS:
        from pydantic import TypeAdapter

        _READERS[kind] = TypeAdapter(tuple[kind], config={"allow_inf_nan": False})  # type: ignore[valid-type]
    return cast("TypeAdapter[tuple[Record]]", _READERS[kind])


def one_line(error: Exception) -> str:
    """Return the beginning of an error's text in one line."""
    return " ".join(str(error).split())[:200]

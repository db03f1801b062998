"""Reading and writing the records under ``runs/``: whole files by rename, journals by appended lines."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

import yaml

from dlperf.errors import DlperfError, StorageError
from dlperf.plan.model import interleaved
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import CampaignRecord
from dlperf.runs.upgrades import upgrade

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Record = TypeVar("Record")
Complain = Callable[[str], object]

_ADAPTERS: dict[type, Any] = {}
"""Building a validator costs milliseconds: once for each kind."""


def write_atomic(path: Path, data: bytes, durable: bool = True) -> None:
    """Write a whole file or nothing: a reader, or a crash, never sees a half of it.

    Args:
        durable: wait for the disk; without, a crash of the machine may leave an empty file.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as stream:
            stream.write(data)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StorageError(f"{path}: cannot be written ({error.strerror}): free space or mend permissions") from error


def write_record(path: Path, record: Any) -> None:
    """A dataclass as a JSON file."""
    write_atomic(path, (json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n").encode())


def dump_record(record: Any) -> bytes:
    """A dataclass, or a dict of plain values, as compact JSON, fast: for derived files with tens of thousands of entries."""
    return _adapter(type(record)).dump_json(record)


def read_record(path: Path, kind: type[Record]) -> Record:
    """The dataclass that ``write_record`` wrote, of this or an older schema.

    Raises:
        DlperfError: the file is missing, or is no such record.
    """
    try:
        return _validated(json.loads(path.read_bytes()), kind)
    except OSError as error:
        raise DlperfError(f"{path}: {error.strerror}") from error
    except (ValueError, DlperfError) as error:
        raise DlperfError(f"{path}: not a {kind.__name__} ({_first_line(error)})") from error


def read_record_if_whole(path: Path, kind: type[Record], complain: Complain | None = None) -> Record | None:
    """The record of a file that can be done without, or made again: None where it is missing or damaged.

    Args:
        complain: is told of a file that is there and damaged, in one line that begins with its path.
    """
    try:
        return read_record(path, kind)
    except DlperfError as error:
        if complain is not None and path.exists():
            complain(str(error))
        return None


def _validated(data: Any, kind: type[Record]) -> Record:
    if not isinstance(data, dict):
        raise ValueError(f"a {type(data).__name__} and no mapping")
    return _adapter(kind).validate_python(upgrade(kind.__name__, data))


def write_campaign(paths: CampaignPaths, record: CampaignRecord) -> None:
    """Freeze a plan as ``campaign.yaml``. The usual order of trials is not written out: there may be 100 000 of them."""
    usual = record.trials == interleaved(record.configurations)
    data = _adapter(CampaignRecord).dump_python(record, mode="json", exclude={"trials"} if usual else None)
    text = yaml.dump(data, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=120)
    write_atomic(paths.plan, text.encode())


def read_campaign(paths: CampaignPaths) -> CampaignRecord:
    """The frozen plan.

    Raises:
        DlperfError: there is none, or it cannot be read.
    """
    try:
        data = yaml.load(paths.plan.read_bytes(), Loader=yaml_loader())
        if not isinstance(data, dict) or "trials" in data:
            return _validated(data, CampaignRecord)
        record = _validated(data | {"trials": []}, CampaignRecord)
        return replace(record, trials=interleaved(record.configurations))
    except OSError as error:
        raise DlperfError(f"{paths.plan}: {error.strerror}: is the campaign's name right?") from error
    except (ValueError, DlperfError, yaml.YAMLError) as error:
        raise DlperfError(f"{paths.plan}: not a campaign ({_first_line(error)})") from error


def append_records(path: Path, records: Iterable[Any]) -> None:
    """Append lines to a journal in a single write, so that two writers do not mix their lines.

    A line that an earlier crash or a full disk cut short is fenced off by a line break, so that nothing is glued to it.

    Raises:
        StorageError: the lines could not be written whole.
    """
    lines = [json.dumps(asdict(record), ensure_ascii=False, separators=(",", ":")) for record in records]
    if lines:
        _append(path, ("\n".join(lines) + "\n").encode())


def _append(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644), "r+b", buffering=0) as stream:
            size = os.fstat(stream.fileno()).st_size
            torn = size > 0 and os.pread(stream.fileno(), 1, size - 1) != b"\n"
            data = b"\n" + data if torn else data
            if stream.write(data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(stream.fileno())
    except OSError as error:
        raise StorageError(f"{path}: cannot be written ({error.strerror}): free space or mend permissions") from error


def read_records(path: Path, kind: type[Record], offset: int = 0) -> tuple[list[Record], int]:
    """The records from a byte offset on, and the offset to continue from.

    A last line that is still being written is left for the next call; a line that a crash cut is passed over.
    """
    try:
        with path.open("rb") as stream:
            stream.seek(offset)
            return _whole_lines(stream, kind, offset)
    except FileNotFoundError:
        return [], offset


def _whole_lines(stream: IO[bytes], kind: type[Record], offset: int) -> tuple[list[Record], int]:
    records = []
    for line in stream:
        if not line.endswith(b"\n"):
            break
        offset += len(line)
        try:
            records.append(_adapter(kind).validate_json(line))
        except ValueError:
            continue
    return records, offset


def _adapter(kind: type[Record]) -> TypeAdapter[Record]:
    if kind not in _ADAPTERS:
        from pydantic import TypeAdapter

        _ADAPTERS[kind] = TypeAdapter(kind)
    return cast("TypeAdapter[Record]", _ADAPTERS[kind])


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def yaml_loader() -> Any:
    """The safe loader, in C where it is there."""
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _dumper() -> Any:
    return getattr(yaml, "CSafeDumper", yaml.SafeDumper)

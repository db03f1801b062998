"""Write a campaign as a bundle: results, logs, environments and programs, without secrets and names of people."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from dlperf.bundles.pack import write_bundle
from dlperf.bundles.plan import ended_events, inert
from dlperf.derived.timeline import derive
from dlperf.errors import DlperfError, RequestError
from dlperf.evidence.logs import LogReader
from dlperf.measured.model import TrialResult
from dlperf.opening import read_bytes
from dlperf.plan import Selection, TrialKey
from dlperf.redaction import Found, Redactor
from dlperf.report.redaction import campaign_redactor
from dlperf.runs.archive import TrialFiles, seal
from dlperf.runs.journal import CampaignReader
from dlperf.runs.paths import ARRIVALS, CampaignPaths, TrialPaths
from dlperf.runs.records import CampaignRecord, CampaignStatus
from dlperf.runs.store import append_records, write_atomic, write_campaign, write_record
from dlperf.verification.verify import Recomputed, verify_campaign

FoundIn = Mapping[Found, set[str]]
_LEFT_OUT = re.compile(r"ref\.json|.*\.trace\.json\.gz")
"""Files of a trial that only its sender needs, or that are packed."""


def share_campaign(paths: CampaignPaths, target: Path, logs: LogReader) -> FoundIn:
    """Write a bundle, and return what was redacted in which files.

    Raises:
        RequestError: the campaign was imported, has not ended, or does not verify.
        DlperfError: a file cannot be in a bundle, or cannot be read or written.
    """
    reader = CampaignReader(paths)
    record, status = reader.record, reader.refresh()
    values = _values(paths, record, status, logs)
    sent = {
        item.configuration.id: replace(item, launch=inert(item.launch), version=None) for item in record.configurations
    }
    redactor, found = campaign_redactor(paths, record), defaultdict[Found, set[str]](set)
    with TemporaryDirectory(prefix="dlperf-share-") as folder:
        staged = CampaignPaths(Path(folder).resolve())
        results = {}
        for key, trial in status.trials.items():
            if paths.trial(key).directory.is_dir():
                _copy_trial(paths.trial(key), staged.trial(key), redactor, found)
                results[key] = derive(staged.trial(key), sent[key.configuration], trial, logs).result
                write_record(staged.trial(key).result, results[key])
        _refuse_other_values(values, results)
        write_campaign(
            staged, replace(record, selection=Selection(), configurations=tuple(sent.values()), impossible=())
        )
        append_records(staged.journal, ended_events(record.created, status.trials.values(), results))
        for path in (staged.plan, staged.journal):
            write_atomic(path, redactor.redact(read_bytes(path))[0])
        write_bundle(staged.directory, target)
    return found


def _values(
    paths: CampaignPaths, record: CampaignRecord, status: CampaignStatus, logs: LogReader
) -> tuple[Recomputed, ...]:
    """Return the values of a campaign that can be shared."""
    if record.imported:
        raise RequestError(f"{paths.name}: imported: share what you measured")
    if any(not trial.state.finished for trial in status.trials.values()):
        raise RequestError(f"{paths.name}: not all of its trials have ended: wait, or cancel the rest")
    verified = verify_campaign(paths, logs)
    if verified.differences:
        first = verified.differences[0]
        raise RequestError(f"{paths.name}: {first.trial}: {first.what} {first.problem}: see `dlperf verify`")
    if not verified.values:
        raise RequestError(f"{paths.name}: has no value to share")
    return verified.values


def _copy_trial(paths: TrialPaths, target: TrialPaths, redactor: Redactor, found: dict[Found, set[str]]) -> None:
    """Copy the archived files of a trial without secrets and names of people, and archive them anew."""
    files = TrialFiles(paths)
    before = {name: files.read(paths.directory / name) for name in files.digests() if not _LEFT_OUT.fullmatch(name)}
    after = {}
    for name, content in before.items():
        after[name], replaced = redactor.redact(content)
        for item in replaced:
            found[item].add(name)
    for table in (name for name in after if PurePath(name).name == ARRIVALS):
        after[table] = _moved(table, before, after)
    for name, content in after.items():
        write_atomic(target.directory / name, content, durable=False, private=True)
    seal(target)


def _moved(table: str, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> bytes:
    """Return the table of when bytes of logs arrived, with the places to which their lines moved."""
    folder, ends = table.removesuffix(ARRIVALS), {}
    for name in before:
        log = name.removeprefix(folder)
        if name.startswith(folder) and name != table and before[name] != after[name]:
            ends[log] = [[match.end() for match in re.finditer(b"\n", text)] for text in (before[name], after[name])]
            if len(ends[log][0]) != len(ends[log][1]):
                raise DlperfError(f"{name}: a secret over several lines: it cannot be shared")
    return b"".join(_moved_row(row, ends) for row in after[table].splitlines(keepends=True))


def _moved_row(row: bytes, ends: Mapping[str, list[list[int]]]) -> bytes:
    seconds, size, log = row.decode().split(",", 2)
    if log.rstrip() not in ends:
        return row
    old, new = ends[log.rstrip()]
    whole = bisect_right(old, int(size))
    return f"{seconds},{new[whole - 1] if whole else 0},{log}".encode()


def _refuse_other_values(values: Iterable[Recomputed], results: Mapping[TrialKey, TrialResult]) -> None:
    shared = {str(key): result.value for key, result in results.items()}
    for item in values:
        if shared[item.result] != item.value:
            raise DlperfError(
                f"{item.result}: without names and secrets its log gives another value: it cannot be shared"
            )

"""Raw logs of third-party results that are here: imported ones, and those in folders."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dlperf.evidence.sources import find_files
from dlperf.runs.archive import TrialFiles
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.published import PublishedFigure
from dlperf.runs.records import CampaignRecord, TrialRecord
from dlperf.runs.store import Complain, read_record_if_whole


@dataclass(frozen=True)
class LocalLog:
    """A local copy of a raw log."""

    source: str
    """``owner/repository@commit:path``, or the path alone, from any folder on."""
    location: str
    imported: bool = False
    """It lies below ``runs/`` and is the source's as its import says, which others may have sent."""


def same_log(published: str, local: str) -> bool:
    """Whether two names are of one log: the shorter path ends the longer one, and commits do not differ."""
    (commit, path), (local_commit, local_path) = parts_of_name(published), parts_of_name(local)
    if commit and local_commit and commit != local_commit:
        return False
    shorter, longer = sorted((path.split("/"), local_path.split("/")), key=len)
    return longer[-len(shorter) :] == shorter


def find_log(item: PublishedFigure, index: Mapping[str, list[LocalLog]]) -> LocalLog | None:
    path = parts_of_name(item.log)[1]
    logs = index.get(path.rpartition("/")[2], ()) if path else ()
    return next((log for log in logs if same_log(item.log, log.source)), None)


def parts_of_name(name: str) -> tuple[str, str]:
    """Split a name into ``owner/repository@commit``, which may be "", and the path."""
    commit, colon, path = name.partition(":")
    return (commit, path) if colon and "@" in commit else ("", name)


def logs_in_folder(text: str) -> Iterator[tuple[LocalLog, Path]]:
    """Yield the files of ``[owner/repository@commit:]folder`` and their paths."""
    commit, folder = parts_of_name(text)
    for file in find_files([Path(folder)])[0]:
        source = f"{commit}:{file.name}" if commit else file.name
        yield LocalLog(source, file.name), file.opened


def imported_logs(
    campaign: CampaignPaths, record: CampaignRecord, damaged: Complain | None
) -> Iterator[tuple[LocalLog, Path]]:
    """Yield the raw logs of an imported campaign and their paths."""

    def complain(problem: str) -> None:
        if damaged is not None:
            damaged(f"{problem}: left out of the audit; import its log again, or put the file back from a copy")

    folders = {
        item.configuration.id: item.launch.nodes[0].name for item in record.configurations if item.launch.imported
    }
    for key in record.trials:
        if key.configuration in folders:
            paths = campaign.trial(key)
            trial = read_record_if_whole(paths.trial, TrialRecord, complain, TrialFiles(paths).read)
            if trial and trial.source:
                for path in paths.node(folders[key.configuration]).logs()[:1]:
                    location = path.relative_to(campaign.directory.parents[1]).as_posix()
                    yield LocalLog(trial.source, location, imported=True), path


def require_folders(texts: Iterable[str]) -> None:
    """Raise RequestError unless each ``[owner/repository@commit:]folder`` exists."""
    find_files([Path(parts_of_name(text)[1]) for text in texts])

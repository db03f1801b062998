"""Every path of a workspace. No package further up spells a file name under ``runs/``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePath

from dlperf.errors import RequestError
from dlperf.opening import files_below, is_plain, is_regular
from dlperf.plan import TrialKey
from dlperf.runs.names import LONGEST_CAMPAIGN, LONGEST_FOLDER, REPLACED, file_name, folder_name, natural_order, text_of

PLAN = "campaign.json"
PLAN_OF_0_1 = "campaign.yaml"
LOG = "out.log"
ARRIVALS = "out.times"


class _Path:
    """The path of a name inside the folder that an attribute of its owner holds."""

    def __init__(self, name: str, folder: str = "directory") -> None:
        self._name = name
        self._folder = folder

    def __get__(self, owner: object, kind: type) -> Path:
        folder: Path = getattr(owner, self._folder)
        return folder / self._name


def user_cache(variable: str, name: str) -> Path:
    """Return the folder of files that all workspaces share: an environment variable's, else in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get(variable) or cache / "dlperf" / name).resolve()


@dataclass(frozen=True)
class NodePaths:
    """What one node left of a trial; the same names as on the node itself."""

    directory: Path

    launch = _Path("launch.sh")
    supervisor = _Path("supervisor.json")
    log = _Path(LOG)
    compressed_log = _Path(f"{LOG}.gz")
    """A log that was imported as it lay there, gzipped."""
    ranks = _Path("ranks")
    build_log = _Path("ranks/build.log")
    profile = _Path("ranks/profile.json")
    trace = _Path("ranks/profile.trace.json.gz")
    telemetry = _Path("telemetry.csv")
    arrivals = _Path(ARRIVALS)
    """When the bytes of each log arrived, by the node's monotonic clock."""
    environment = _Path("environment.json")
    exit = _Path("exit.json")

    @property
    def tables(self) -> tuple[Path, Path]:
        """What the supervisor appends to beside the logs."""
        return self.telemetry, self.arrivals

    def logs(self) -> tuple[Path, ...]:
        """What may hold the output, best first: ``out.log`` (plain or gzipped), the per-rank logs, replaced logs."""
        return tuple(filter(is_regular, sorted(self._logs(), key=self._is_replaced)))

    def _logs(self) -> list[Path]:
        """All of them in name order; names that are not UTF-8 are none that dlperf gives."""
        found = {self.log, *self.directory.glob(f"{self.log.name}.*"), *files_below(self.ranks)}
        return sorted((path for path in found if _is_text(path.relative_to(self.directory))), key=natural_order)

    def _is_replaced(self, path: Path) -> bool:
        return REPLACED in path.name or (path.parent == self.directory and path not in (self.log, self.compressed_log))

    def logs_of_ranks(self) -> tuple[Path, ...]:
        """Return the whole logs of the node's ranks, where several write their own; else the one of all."""
        found = self.logs()
        own = tuple(path for path in found if path.is_relative_to(self.ranks) and REPLACED not in path.name)
        return own if len(own) > 1 else found[:1]

    def replaced_logs(self) -> list[Path]:
        """What is left of logs that the payload truncated, replaced or renamed while it ran."""
        return [path for path in self._logs() if self._is_replaced(path)]


def _is_text(path: PurePath) -> bool:
    """Whether a name is UTF-8, as all are that dlperf gives."""
    return os.fsencode(path).decode("utf-8", "ignore") == str(path)


@dataclass(frozen=True)
class TrialPaths:
    """One trial."""

    directory: Path

    trial = _Path("trial.json")
    archive = _Path("archive.json")
    """Lists every file of the trial and holds the small ones, see ``runs.archive``."""

    @property
    def objects(self) -> Path:
        """Files that trials of the campaign share, each named by its SHA-256."""
        return self.directory.parent.parent / "objects"

    rendered = _Path("rendered")
    """What was sent to the nodes: names of archived files, no folder."""
    reference = _Path("ref.json")
    job_log = _Path("job.log")
    """Output of the batch script and ``srun``, for a trial under Slurm."""
    result = _Path("result.json")
    timeline = _Path("timeline.json")

    def sibling(self, number: int) -> TrialPaths:
        """Another trial of the same configuration."""
        return TrialPaths(self.directory.parent / str(number))

    def node(self, name: str) -> NodePaths:
        return NodePaths(self.directory / f"nodes/{file_name(name)}")

    def nodes(self) -> tuple[NodePaths, ...]:
        """The nodes that have a folder, in name order: those that left a log or telemetry, or still run."""
        if not is_plain(self.directory / "nodes"):
            return ()
        try:
            with os.scandir(self.directory / "nodes") as entries:
                found = sorted(Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False))
        except OSError:
            return ()
        return tuple(NodePaths(path) for path in found if _is_text(PurePath(path.name)))


@dataclass(frozen=True)
class CampaignPaths:
    """One campaign."""

    directory: Path

    @property
    def name(self) -> str:
        return text_of(self.directory.name)

    plan = _Path(PLAN)
    journal = _Path("journal.jsonl")
    control = _Path("control.jsonl")
    progress = _Path("progress.json")
    """Step and throughput of what runs, rewritten by the engine about once a second."""
    lock = _Path("engine.lock")
    engine_log = _Path("engine.log")
    tags = _Path("tags")
    verified = _Path("verified.json")
    """When all values were last recomputed from their raw logs."""

    def existing(self) -> CampaignPaths:
        """Return itself. Raises RequestError: it is not there any more; writing into its folder would make it anew."""
        if not self.plan.exists():
            raise RequestError(f"campaign {self.name!r}: {self.directory} is gone: it was renamed or removed")
        return self

    def profiles(self, configuration: str) -> list[NodePaths]:
        """The nodes with a profile in the trials of a configuration, in order of the trials."""
        found = (self.directory / file_name(configuration)).glob("*/nodes/*/ranks/profile.json")
        return [NodePaths(path.parents[1]) for path in sorted(filter(is_regular, found), key=natural_order)]

    def trial(self, key: TrialKey) -> TrialPaths:
        return TrialPaths(self.directory / f"{file_name(key.configuration)}/{key.number}")


@dataclass(frozen=True)
class PublishedPaths:
    """One third-party report."""

    directory: Path

    @property
    def name(self) -> str:
        return text_of(self.directory.name)

    report = _Path("report.yaml")
    figures = _Path("figures.csv")


@dataclass(frozen=True)
class WorkspacePaths:
    """A folder with ``mkdocs.yml``, ``runs/`` and, where wanted, ``catalog/`` and ``site/``."""

    root: Path

    runs = _Path("runs", "root")
    published = _Path("runs/published", "root")
    trash = _Path("runs/.trash", "root")
    audit = _Path("site/audit.json", "root")
    sent_audit = _Path("runs/published/audit.json", "root")
    """Where no verdict is believed: ``runs/`` may be what others sent."""
    baselines = _Path("baselines", "root")
    versions = _Path("runs/.versions", "root")
    """Checked-out commits of programs that are compared, while they run."""
    catalog = _Path("catalog", "root")
    presets = _Path("presets.json", "root")
    settings = _Path("dlperf.yaml", "root")
    mkdocs_config = _Path("mkdocs.yml", "root")
    site = _Path("site", "root")
    site_docs = _Path("site/docs", "root")
    """Pages of the owner."""
    site_stamp = _Path("site/workspace.json", "root")
    site_build = _Path("site/build", "root")
    """What the site is built from: generated pages, theme, guide, settings."""
    site_data = _Path("site/build/data", "root")
    """Trial files that the site links from its pages: logs, scripts, curves, pictures."""
    site_html = _Path("site/html", "root")

    @classmethod
    def find(cls, start: Path) -> WorkspacePaths:
        """The workspace that holds ``start``, looking upwards as git does.

        Raises:
            RequestError: there is no such folder, or none from here upwards holds ``mkdocs.yml`` and ``runs/``.
        """
        start = start.resolve()
        if not start.is_dir():
            raise RequestError(f"{start}: there is no such folder")
        for folder in (start, *start.parents):
            found = cls(folder)
            if found.mkdocs_config.is_file() and found.runs.is_dir():
                return found
        raise RequestError(f"no workspace at or above {start}: run `dlperf init` there, or name the folder of one")

    def staging(self, campaign: CampaignPaths) -> Path:
        """Where an import grows until it is whole and is moved to its place in one step."""
        return self.runs / ".importing" / campaign.directory.name

    def baseline(self, name: str) -> Path:
        """The file of the baseline of that name, whether or not it exists.

        Raises:
            RequestError: the name is empty, hidden, looks like an option, or is too long for a file.
        """
        if name.startswith((".", "-")) or not 0 < len(file_name(name)) <= 120:
            raise RequestError(f"baseline {name!r}: a name has 1 to 120 characters and begins with no dot or hyphen")
        return self.baselines / f"{file_name(name)}.json"

    def baseline_files(self) -> tuple[Path, ...]:
        """The file of each baseline, in name order."""
        return tuple(sorted(filter(is_regular, self.baselines.glob("[!.]*.json"))))

    def campaign(self, name: str) -> CampaignPaths:
        """The campaign of that name, whether or not it exists.

        Raises:
            RequestError: the name is empty, reserved, or too long for a folder.
        """
        try:
            older, folder = file_name(name), folder_name(name)
            size = len(folder.encode())
        except UnicodeEncodeError:
            raise RequestError(f"campaign {name!r}: not UTF-8") from None
        if not name or folder == "published" or len(name) > LONGEST_CAMPAIGN or size > LONGEST_FOLDER:
            raise RequestError(
                f"campaign {name!r}: a name has 1 to {LONGEST_CAMPAIGN} characters, at most {LONGEST_FOLDER} "
                "bytes as a folder, and is not 'published'"
            )
        found = CampaignPaths(self.runs / older)
        return found if older != folder and is_regular(found.plan) else CampaignPaths(self.runs / folder)

    def new_campaign(self, name: str) -> CampaignPaths:
        """The same for a campaign that is to be created, which can neither be blank or hidden nor look like an option.

        Raises:
            RequestError: the name is none for a campaign.
        """
        if not name.strip() or name.startswith((".", "-")):
            raise RequestError(f"campaign {name!r}: a name is not blank and begins with no dot or hyphen")
        return self.campaign(name)

    def campaigns(self) -> tuple[CampaignPaths, ...]:
        """Every campaign, in name order."""
        names = sorted(os.listdir(self.runs)) if self.runs.is_dir() else ()
        planned = (name for name in names if is_regular(f"{self.runs}/{name}/{PLAN}"))
        return tuple(CampaignPaths(self.runs / name) for name in planned)

    def unread(self) -> str:
        """Say which campaigns of dlperf 0.1 are here, which this version does not read; empty for none."""
        folders = (path.parent for path in sorted(self.runs.glob(f"*/{PLAN_OF_0_1}")))
        old = [folder for folder in folders if not CampaignPaths(folder).plan.exists()]
        more = f" and {len(old) - 1} more" * (len(old) > 1)
        return f"{old[0]}{more}: of dlperf 0.1, which this version does not read" if old else ""

    def unfinished(self, name: str) -> CampaignPaths | None:
        """A campaign of that name whose creation was cut off before its plan was written; None where there is none."""
        folder = self.runs / folder_name(name)
        found = folder.is_dir() and name[:1] not in ("", ".") and folder != self.published
        return CampaignPaths(folder) if found and not CampaignPaths(folder).plan.exists() else None

    def published_reports(self) -> tuple[PublishedPaths, ...]:
        """Every third-party report, in name order."""
        reports = sorted(filter(is_regular, self.published.glob("*/report.yaml")))
        return tuple(PublishedPaths(path.parent) for path in reports)

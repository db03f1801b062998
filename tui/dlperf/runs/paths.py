"""Every path of a workspace. No other module spells a file name under ``runs/``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, unquote

from dlperf.errors import RequestError
from dlperf.plan import TrialKey

MARKER = "mkdocs.yml"
PLANS = ("campaign.json", "campaign.yaml")
"""File of a plan: what this version writes, what version 0.1 wrote."""


@lru_cache(maxsize=1 << 12)
def file_name(text: str) -> str:
    """``text`` as one path component: percent-encoded where needed, never ``.`` or ``..``, never empty."""
    encoded = quote(text, safe=" !#$&'()+,;=@[]~")
    return encoded.replace(".", "%2E") if encoded.strip(".") == "" else encoded


def text_of(name: str) -> str:
    """The text that ``file_name`` encoded."""
    return unquote(name)


def _natural_order(path: Path) -> list[tuple[int, str]]:
    """Orders ``worker.10`` after ``worker.9``."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]+)", str(path))]


@dataclass(frozen=True)
class NodePaths:
    """What one node left of a trial; the same names as on the node itself."""

    directory: Path

    @property
    def launch(self) -> Path:
        return self.directory / "launch.sh"

    @property
    def supervisor(self) -> Path:
        return self.directory / "supervisor.json"

    @property
    def log(self) -> Path:
        return self.directory / "out.log"

    @property
    def compressed_log(self) -> Path:
        """A log that was imported as it lay there, gzipped."""
        return self.directory / "out.log.gz"

    @property
    def ranks(self) -> Path:
        return self.directory / "ranks"

    def logs(self) -> tuple[Path, ...]:
        """What may hold the output, best first: ``out.log`` (plain or gzipped), then the per-rank logs in order."""
        own = (self.log, self.compressed_log)
        ranks = sorted(self.ranks.rglob("*"), key=_natural_order)
        return tuple(path for path in (*own, *ranks) if path.is_file() and not path.is_symlink())

    @property
    def telemetry(self) -> Path:
        return self.directory / "telemetry.csv"

    @property
    def environment(self) -> Path:
        return self.directory / "environment.json"

    @property
    def exit(self) -> Path:
        return self.directory / "exit.json"


@dataclass(frozen=True)
class TrialPaths:
    """One trial."""

    directory: Path

    @property
    def trial(self) -> Path:
        return self.directory / "trial.json"

    @property
    def archive(self) -> Path:
        """Lists every file of the trial and holds the small ones, see ``runs.archive``."""
        return self.directory / "archive.json"

    @property
    def objects(self) -> Path:
        """Files that trials of the campaign share, each named by its SHA-256."""
        return self.directory.parent.parent / "objects"

    @property
    def rendered(self) -> Path:
        """What was sent to the nodes: names of archived files; only version 0.1 made this folder."""
        return self.directory / "rendered"

    @property
    def reference(self) -> Path:
        return self.directory / "ref.json"

    @property
    def slurm_log(self) -> Path:
        """What the batch script and ``srun`` said, for a trial under Slurm."""
        return self.directory / "slurm.log"

    @property
    def result(self) -> Path:
        return self.directory / "result.json"

    @property
    def timeline(self) -> Path:
        return self.directory / "timeline.json"

    @property
    def checksums(self) -> Path:
        """What version 0.1 wrote instead of ``archive.json``."""
        return self.directory / "SHA256SUMS"

    def sibling(self, number: int) -> TrialPaths:
        """Another trial of the same configuration."""
        return TrialPaths(self.directory.parent / str(number))

    def node(self, name: str) -> NodePaths:
        return NodePaths(self.directory / f"nodes/{file_name(name)}")

    def nodes(self) -> tuple[NodePaths, ...]:
        """The nodes that have a folder, in name order: those that left a log or telemetry, or still run."""
        return tuple(NodePaths(path) for path in sorted(self.directory.glob("nodes/*")) if path.is_dir())


@dataclass(frozen=True)
class CampaignPaths:
    """One campaign."""

    directory: Path

    @property
    def name(self) -> str:
        return text_of(self.directory.name)

    @property
    def plan(self) -> Path:
        """``campaign.json``, or the ``campaign.yaml`` of version 0.1 where that is all there is."""
        plan, older = (self.directory / name for name in PLANS)
        return older if not plan.exists() and older.exists() else plan

    @property
    def journal(self) -> Path:
        return self.directory / "journal.jsonl"

    @property
    def control(self) -> Path:
        return self.directory / "control.jsonl"

    @property
    def progress(self) -> Path:
        """Step and throughput of what runs, rewritten by the engine about once a second."""
        return self.directory / "progress.json"

    @property
    def lock(self) -> Path:
        return self.directory / "engine.lock"

    @property
    def engine_log(self) -> Path:
        return self.directory / "engine.log"

    def trial(self, key: TrialKey) -> TrialPaths:
        return TrialPaths(self.directory / f"{file_name(key.configuration)}/{key.number}")


@dataclass(frozen=True)
class PublishedPaths:
    """One report that others published."""

    directory: Path

    @property
    def name(self) -> str:
        return text_of(self.directory.name)

    @property
    def report(self) -> Path:
        return self.directory / "report.yaml"

    @property
    def figures(self) -> Path:
        return self.directory / "figures.csv"


@dataclass(frozen=True)
class Workspace:
    """A folder with ``mkdocs.yml``, ``runs/``, ``site/`` and, where wanted, ``catalog/``."""

    root: Path

    @classmethod
    def find(cls, start: Path) -> Workspace:
        """The workspace that holds ``start``, looking upwards as git does.

        Raises:
            RequestError: there is no such folder, or none from here upwards holds ``mkdocs.yml`` and ``runs/``.
        """
        start = start.resolve()
        if not start.is_dir():
            raise RequestError(f"{start}: there is no such folder")
        for folder in (start, *start.parents):
            if (folder / MARKER).is_file() and (folder / "runs").is_dir():
                return cls(folder)
        raise RequestError(f"no workspace at or above {start}: run `dlperf init` there, or name the folder of one")

    @property
    def runs(self) -> Path:
        return self.root / "runs"

    @property
    def published(self) -> Path:
        return self.runs / "published"

    @property
    def catalog(self) -> Path:
        return self.root / "catalog"

    def staging(self, campaign: CampaignPaths) -> Path:
        """Where an import grows until it is whole and is moved to its place in one step."""
        return self.runs / ".importing" / campaign.directory.name

    @property
    def mkdocs_config(self) -> Path:
        return self.root / MARKER

    @property
    def site(self) -> Path:
        return self.root / "site"

    @property
    def site_docs(self) -> Path:
        return self.site / "docs"

    @property
    def site_data(self) -> Path:
        """What the site offers of trials beside its pages: logs, scripts, curves, pictures."""
        return self.site / "data"

    @property
    def site_html(self) -> Path:
        return self.site / "html"

    def campaign(self, name: str) -> CampaignPaths:
        """The campaign of that name, whether or not it exists.

        Raises:
            RequestError: the name is empty, reserved, or too long for a folder.
        """
        try:
            encoded = file_name(name)
        except UnicodeEncodeError:
            raise RequestError(f"--name {name!r}: not UTF-8") from None
        if not name or encoded == "published" or len(encoded) > 120:
            raise RequestError(f"--name {name!r}: a campaign's name has 1 to 120 characters and is not 'published'")
        return CampaignPaths(self.runs / encoded)

    def campaigns(self) -> tuple[CampaignPaths, ...]:
        """Every campaign, in name order."""
        plans = (path for name in PLANS for path in self.runs.glob(f"*/{name}") if path.is_file())
        return tuple(map(CampaignPaths, sorted({path.parent for path in plans})))

    def published_reports(self) -> tuple[PublishedPaths, ...]:
        """Every report that others published, in name order."""
        return tuple(PublishedPaths(path.parent) for path in sorted(self.published.glob("*/report.yaml")))

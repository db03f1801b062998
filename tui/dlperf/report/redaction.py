"""What the site must not show: secrets of campaigns, home folders and user names of nodes."""

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from html import escape
from pathlib import Path

from dlperf.errors import DlperfError
from dlperf.evidence.logs import open_log
from dlperf.opening import read_bytes
from dlperf.redaction import Found, Redactor
from dlperf.redaction.redactor import HOME, has_placeholder
from dlperf.redaction.rules import compiled
from dlperf.report import markdown as md
from dlperf.report.data import SiteData
from dlperf.runs.archive import TrialFiles
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.records import CampaignRecord
from dlperf.runs.secrets import secrets_of

BLOCK = 1 << 24
ROOT = "/root"
"""A home folder that names nobody, and a path of many containers: replaced in files of trials alone."""

FoundIn = Mapping[Found, Iterable[str]]
"""What was replaced → the files that it was in."""


def site_redactor(workspace: WorkspacePaths, data: SiteData) -> Redactor:
    """Return the redactor of a site's pages and files."""
    secrets: dict[str, str] = {}
    homes: set[str] = set()
    users = {node.user for entry in data.hardware.values() for node in entry.nodes if node.user}
    for name, record in data.campaigns.items():
        redactor = campaign_redactor(workspace.campaign(name), record)
        for mark, value in redactor.secrets.items():
            # campaigns may give one placeholder to different values
            secrets[mark if secrets.get(mark, value) == value else f"{mark[:-1]}-{len(secrets)}]"] = value
        homes |= redactor.homes
        users |= redactor.users
    return Redactor(secrets, True, frozenset(homes), frozenset(users), spellings=page_spellings)


def campaign_redactor(paths: CampaignPaths, record: CampaignRecord) -> Redactor:
    """Return the redactor of the files of one campaign."""
    homes = _homes(paths, record)
    users = {node.user for item in record.configurations for node in item.launch.nodes if node.user}
    users |= {home.rpartition("/")[2] for home in homes}
    return Redactor(secrets_of(paths.directory), True, frozenset(homes), frozenset(users))


def of_overviews(redactor: Redactor) -> Redactor:
    """Return the redactor of pages that are not of single trials."""
    return replace(redactor, homes=redactor.homes - {ROOT})


def _homes(paths: CampaignPaths, record: CampaignRecord) -> set[str]:
    """Return the home folders in the scripts of the first trial on each hardware that has any."""
    hardware = {item.configuration.id: item.configuration.hardware for item in record.configurations}
    homes: dict[str | None, set[str]] = {}
    for key in record.trials:
        name = hardware.get(key.configuration)
        homes[name] = homes.get(name) or _homes_in(TrialFiles(paths.trial(key)))
    return set().union(*homes.values())


def _homes_in(files: TrialFiles) -> set[str]:
    homes: set[str] = set()
    for script in files.sent():
        if script.suffix == ".sh" and script.parent.name != "files":
            with suppress(OSError):
                homes |= {match[1].decode() for match in compiled(HOME).finditer(files.read(script))}
    return homes


def page_spellings(value: str) -> tuple[str, ...]:
    """Return how pages write a value besides plain HTML."""
    return md.text(value), md.text(escape(value)), md.attribute(value)


def without_secrets(workspace: WorkspacePaths, names: Iterable[str]) -> list[str]:
    """Return the campaigns whose plans have secrets that are not here, so that they are not found in logs."""
    paths = [workspace.campaign(name) for name in names]
    unknown = [each for each in paths if not secrets_of(each.directory) and has_placeholder(read_bytes(each.plan))]
    return [each.name for each in unknown]


def report_lines(found: FoundIn, unknown: Iterable[str]) -> list[str]:
    """Return a line for everything that was redacted, and for what could not be."""
    kinds = {"secret": "secret {}", "suspected": "{}, which looks like a secret", "private": "home folders, user names"}
    lines = [f"redacted: {kinds[item.kind].format(item.name)}: {_files(files)}" for item, files in sorted_found(found)]
    return lines + [f"{name}: secrets.json is not here: its secrets are not found in its logs" for name in unknown]


def refuse_leaks(found: FoundIn, unknown: Iterable[str]) -> None:
    """Raise DlperfError where a secret may be published: one that no entry states, or whose value is not known."""
    suspected = [f"{item.name} in {_files(files)}" for item, files in sorted_found(found) if item.kind == "suspected"]
    suspected += [f"{name} without secrets.json" for name in unknown]
    if suspected:
        raise DlperfError(
            f"suspected secrets: {'; '.join(suspected)}: see the guide's page on secrets, acknowledge what is none in "
            "site/acknowledged.yaml, or build without --strict"
        )


def sorted_found(found: FoundIn) -> list[tuple[Found, Iterable[str]]]:
    return sorted(found.items(), key=lambda item: (item[0].kind, item[0].name))


def _files(files: Iterable[str]) -> str:
    first, *others = sorted(files)
    return f"{first} and {len(others)} more" if others else first


def blocks_of(source: Path) -> Iterator[bytes]:
    """Yield a file, decompressed, in blocks that end with a line or, in a line that is longer, with a word.

    Of a compressed file that is cut, what can be read is yielded.
    """
    rest = b""
    with suppress(EOFError, zlib.error, gzip.BadGzipFile), open_log(source) as stream:
        while part := stream.read(BLOCK):
            block = rest + part
            end = next(filter(None, (block.rfind(mark) + 1 for mark in (b"\n", b"\r", b" "))), len(block))
            rest = block[end:]
            yield block[:end]
    yield rest

"""The verdicts of a gate as files for CI: JUnit XML, a Markdown summary, a badge."""

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dlperf.report.figures import optional
from dlperf.report.templating import TEMPLATES
from dlperf.runs.store import write_atomic
from dlperf.verdicts.judging import Judgement

FILES = ("junit.xml", "summary.md", "badge.svg")
"""``summary.md`` begins with a mark by which a comment on a pull request is found again."""


def write_ci_files(folder: Path, found: Sequence[Judgement], against: str) -> None:
    """Write ``FILES`` into a folder.

    Args:
        against: what the results were compared with.
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES / "ci"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    environment.filters["number"] = optional
    failed, undecided = sum(item.failed for item in found), sum(item.outcome == "cannot_tell" for item in found)
    counts = {"failed": failed, "undecided": undecided, "summary": summary_of(found, against)}
    for name in FILES:
        text = environment.get_template(f"{name}.j2").render(found=found, against=against, **counts)
        write_atomic(folder / name, (text + "\n").encode())


def summary_of(found: Sequence[Judgement], against: str) -> str:
    """Return how many results are worse or missing, and of how many it cannot be told."""
    failed, undecided = sum(item.failed for item in found), sum(item.outcome == "cannot_tell" for item in found)
    said = f"{failed} of {len(found)} worse than {against} or missing"
    return f"{said}, {undecided} cannot be told" if undecided else said


def _printable(value: object) -> str:
    """Replace control characters, which XML cannot hold."""
    return "".join(char if char.isprintable() else " " for char in str(value))

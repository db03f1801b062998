"""The small logs under tests/data/formats, one folder for each format."""

from __future__ import annotations

from pathlib import Path

from dlperf.formats.parser import LogParser
from dlperf.formats.registry import parser_for

FIXTURES = Path(__file__).parents[1] / "data" / "formats"
LOGS = sorted(FIXTURES.glob("*/*.log"))


def name(log: Path) -> str:
    return f"{log.parent.name}/{log.stem}"


def parsed(format_id: str, *chunks: bytes) -> LogParser:
    parser = parser_for(format_id)
    for chunk in chunks:
        parser.feed(chunk)
    parser.finish()
    return parser

"""Find the lines of an unknown log that look like rates, and draft a format from them."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from dlperf.formats.text.numbers import BETWEEN_THOUSANDS

LINE_LENGTH = 600
"""Longer lines are no records."""
EXAMPLES = 3
_NUMBER = r"\d[\d.,]*(?:[eE][+-]?\d+)?"
_FIRST = rf"(?<!\d)(?<!\d[.,]){_NUMBER}"
"""Where an expression begins with a number: searched for once in ``1,1,1,1``, not from each digit."""
_WRITTEN = r"\d+(?:,\d\d\d)*(?:\.\d+)?(?:[eE][+-]?\d+)?[KkMGBT]?"
"""As the parser reads numbers."""
_GROUPED = re.compile(
    rf"(?<![\w.,/:-])[1-9]\d{{0,2}}(?P<between>{BETWEEN_THOUSANDS})\d\d\d(?:(?P=between)\d\d\d)*(?!\d)"
)
"""A number with other than commas between its thousands: 6 554."""
_COUNTED = re.compile(r"(?i)(?:rank|gpu|device|node|worker|process|epoch|step|it(?:er(?:ation)?)?|batch|loss)\W{0,4}$")
"""Before a number that ends where the next one begins: rank 1 554 samples/s."""
_WORK = r"(?i:(?:tok(?:en)?|word|sample|seq(?:uence)?|sentence|ima?ge?|example|item|frame)s?)"
_SHORT = r"(?i:tps|wps|ips|qps|tgs)"
_ONE = r"(?i:gpu|device|npu|chip)"
_KEY = rf"(?:(?:/| per |_)\w+)?(?: ?\([\w ]{{1,20}}\))?(?:\s?[:=]\s?\d|\s{{1,4}}{_NUMBER}(?!\s?[A-Za-z%/\d.,]))"
"""Behind a unit that is the name of the next number, as in ``tok/s: 5`` and ``tok/s 5``."""
_NAMED = {"FIRST": _FIRST, "NUMBER": _NUMBER, "WORK": _WORK, "SHORT": _SHORT, "ONE": _ONE, "KEY": _KEY}
"""In the expressions of ``draft.toml``."""
_OF_ONE = re.compile(rf"(?i)(?<![a-z])(?:{_ONE}(?![a-z])(?!\W*[:=]\W*[a-z])|tgs\b)")
"""In the name of a rate of one GPU; ``device: cuda`` names none."""
_PARTS = re.compile(r"[;|]|,\s|\d\W|\d$")
"""Between the name of a number and those of others."""
_TIME = re.compile(r"(?P<number>\d{4}-\d\d-\d\d(?P<between>[ T])\d\d:\d\d:\d\d(?P<fraction>[.,]\d+)?)")
_ONLY = re.compile(
    rf"(?P<before>.*?)(?<![\w.,])(?P<number>{_NUMBER}[KkMGBT]?)(?P<after>\s*(?P<unit>[A-Za-zµ%][\w/µ%]{{0,19}})|\s*$)"
)
"""A number with what comes before it, and its unit."""
_WHOLE = re.compile(r"(?i)(?:total|wall|epoch|train(?:ing)?|eval\w*|load\w*)[ _]time\W*$")
"""Before a time that is not that of a step."""
_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _compiled(entry: dict[str, str]) -> re.Pattern[str]:
    pattern = entry["pattern"]
    for name, expression in _NAMED.items():
        pattern = pattern.replace(name, expression)
    return re.compile(pattern)


_RATES = [(entry["group"], _compiled(entry)) for entry in _DATA["rates"]]
_FIELDS = [
    ("time", _TIME, _DATA["time"]),
    *((entry["group"], _compiled(entry), entry["value"]) for entry in _DATA["fields"]),
]
_BAR_RATES = ("steps_per_second", "it/s"), ("seconds_per_step", "s/it")
_ANY_BAR = r"\dit/s|\ds/it"
_UNITS = {"tok": "tokens/s", "wor": "words/s", "seq": "sequences/s", "ima": "images/s", "img": "images/s"}
_UNITS |= {"tps": "tokens/s", "tgs": "tokens/s", "wps": "words/s"}


@dataclass(frozen=True)
class _DraftField:
    start: int
    name: str
    expression: str
    unit: str = ""
    scope: str = "global"


def rate_lines(lines: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the first numbered lines of the shape that most of the lines with a rate have."""
    shapes: dict[str, list[tuple[int, str]]] = {}
    for number, line in lines:
        if len(line) < LINE_LENGTH:
            shapes.setdefault(re.sub(r"[\d.,]+", "0", line), []).append((number, line.strip()))
    with_rate = [same for same in shapes.values() if _rate(same[0][1])]
    return max(with_rate, key=len, default=[])[:EXAMPLES]


def only_number(lines: Iterable[str]) -> str | None:
    """Return the line with the only number of a log."""
    numbers = [line for line in lines for _ in re.finditer(rf"(?<![\w.,]){_NUMBER}", line)]
    return numbers[0].strip() if len(numbers) == 1 else None


def draft_format(example: str, name: str = "my-format", is_only: bool = False) -> str:
    """Return a catalogue entry, as YAML with comments, for a line that ``rate_lines`` found.

    Args:
        example: the line.
        name: the entry's id.
        is_only: ``only_number`` found it: a time is that of the whole run.
    """
    rate = _rate(example)
    if is_only and (rate is None or rate.name != "value"):
        rate = _only_number(example)
    if rate is None:
        raise ValueError(f"no rate in {example!r}")
    matches = ((name, pattern.search(example), expression) for name, pattern, expression in _FIELDS)
    fields = [_field(name, match, expression) for name, match, expression in matches if match]
    record, other = _record([rate, *fields]), _other_way(rate)
    detect, clock = _ANY_BAR if other else rate.expression, _time_format(example)
    return f"""\
id: {name}
title: {"My training program" if name == "my-format" else f"Log of {name}"}
unit: {rate.unit or "samples/s"}
scope: {rate.scope} # per_gpu, where each GPU prints its own speed
window: interval # step, cumulative (a mean since the start), epoch, run
detect: {_quote(detect)}
record: {_quote(record)}
{_dialects(other, fields, clock)}{clock}# metadata: # of lines before the first record, each with one group
#   batch_size: 'batch size: (\\d+)' # per GPU, or global_batch_size
#   gpus: 'world size: (\\d+)' # of all nodes
"""


def _record(fields: Iterable[_DraftField]) -> str:
    return ".*?".join(field.expression for field in sorted(fields, key=lambda field: field.start))


def _dialects(other: _DraftField | None, fields: Iterable[_DraftField], clock: str) -> str:
    if other is None:
        return ""
    entry = f"record: {_quote(_record([other, *fields]))}\n{clock}".rstrip().replace("\n", ", ")
    return f"dialects: [{{{entry}}}] # the same bar at less than one step a second, or at more\n"


def _other_way(rate: _DraftField) -> _DraftField | None:
    """Return how a progress bar writes a rate on the other side of one step a second."""
    for (name, ending), (other, its_ending) in (_BAR_RATES, _BAR_RATES[::-1]):
        if rate.name == name and rate.expression.endswith(f"){ending}"):
            return replace(rate, name=other, expression=f"(?P<{other}>{_WRITTEN}){its_ending}")
    return None


def _scope(line: str, start: int, end: int) -> str:
    """Return whose rate the name of a number, at this place of a line, seems to be."""
    before, after = _PARTS.split(line[:start])[-1], _PARTS.split(line[end:])[0]
    return "per_gpu" if _OF_ONE.search(before) or _OF_ONE.search(after) else "global"


def _rate(line: str) -> _DraftField | None:
    for name, pattern in _RATES:
        match = pattern.search(line)
        if match and not _WHOLE.search(line[: match.start("number")]):
            field = _field(name, match, _written(line, match.start("number")), _unit(match.groupdict()))
            return replace(field, scope=_scope(line, *match.span("number")))
    return None


def _written(line: str, start: int) -> str:
    """Return an expression for the numbers of a log by one that holds this place of its line."""
    for found in _GROUPED.finditer(line):
        if found.start() <= start < found.end() and not _COUNTED.search(line[: found.start()]):
            return rf"\d{{1,3}}(?:{found['between']}\d{{3}})+(?:\.\d+)?|{_WRITTEN}"
    return _WRITTEN


def _unit(parts: dict[str, str | None]) -> str:
    """Return the unit of a rate, with the program's own word where that is no usual one."""
    if parts.get("word"):
        return f"{parts['word']}/s"
    short = re.search(_SHORT, parts.get("before") or "")
    unit = parts.get("unit") or (short[0] if short else "")
    return _UNITS.get(unit[:3].lower()) or (unit if unit.endswith("/s") else "samples/s")


def _only_number(line: str) -> _DraftField | None:
    match = _ONLY.match(line)
    if match is None:
        return None
    field = _field("value", match, _WRITTEN, match["unit"] or "value")
    start, end = "" if match["before"] else r"^\s*", "" if match["unit"] else r"\s*$"
    return replace(field, expression=f"{start}{field.expression}{end}")


def _time_format(line: str) -> str:
    time = _TIME.search(line)
    fraction = f"{time['fraction'][0]}%f" if time and time["fraction"] else ""
    return f"time_format: '%Y-%m-%d{time['between']}%H:%M:%S{fraction}'\n" if time else ""


def _field(name: str, match: re.Match[str], expression: str, unit: str = "") -> _DraftField:
    parts = match.groupdict()
    before, after = (_literal(parts.get(side) or "") for side in ("before", "after"))
    start = match.start("before") if parts.get("before") else match.start()
    return _DraftField(start, name, f"{before}(?P<{name}>{expression}){after}", unit)


def _literal(text: str) -> str:
    """Return an expression for a text in which white space has any length."""
    return r"\s+".join(re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", part) for part in re.split(r"\s+", text))


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

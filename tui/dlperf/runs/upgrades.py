"""Files that an older dlperf wrote, converted to the present schema step by step.

Version 0.1 (schema 1) stored causes and findings as English texts. Causes that decide something today become messages;
every other text is shown as it was written. ``dlperf verify --write`` derives results again.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dlperf.errors import DlperfError
from dlperf.messages import Message, Value, message, quoted

if TYPE_CHECKING:
    from dlperf.plan import PlannedConfiguration

SCHEMA_VERSION = 2
"""Schema of the records under ``runs/``."""

Data = dict[str, Any]
Upgrades = Mapping[tuple[str, int], Callable[[Data], Data]]

_NUMBERS = frozenset({"code_value", "number", "count", "seconds"})
_INNER = frozenset({"cause", "subject", "more", "why", "message"})
"""Parameters that were texts of causes themselves."""
_DEEPEST = 8
"""Nested texts that are recognised."""


class NewerError(DlperfError):
    """A valid file of a dlperf that is newer than this one."""


def stored_message(data: Any) -> Message:
    """Read the message that a record holds, also one that version 0.1 wrote as an English text.

    Raises:
        ValueError: it is neither.
    """
    return _message_of_text(data) if isinstance(data, str) else Message.from_json(data)


@lru_cache(4096)
def _message_of_text(text: str, depth: int = 0) -> Message:
    for code, pattern in _patterns() if depth < _DEEPEST else ():
        if found := pattern.fullmatch(text):
            return message(code, **{name: _value(name, value, depth) for name, value in found.groupdict().items()})
    return quoted(text)


def _value(name: str, text: str, depth: int) -> Value:
    if name in _INNER:
        return _message_of_text(text, depth + 1)
    if name == "check":
        return message(f"check_{text}")
    return int(text) if name in _NUMBERS else text


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

    def group(place: re.Match[str]) -> str:
        return f"(?P<{place[1]}>{data['parameters'].get(place[1], '.*?')})"

    return [
        (code, re.compile(re.sub(r"\\\{(\w+)\\\}", group, re.escape(text)), re.DOTALL))
        for code, text in data["causes"].items()
    ]


class _Stored:
    """Makes pydantic read a field by ``stored_message``: lines of a journal have no schema version."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        flat = core_schema.plain_serializer_function_ser_schema(Message.to_json)
        return core_schema.no_info_plain_validator_function(stored_message, serialization=flat)


StoredMessage = Annotated[Message, _Stored()]
"""A message in a record, stored in its flat JSON form."""


def _with_coded_findings(data: Data) -> Data:
    """A message that has only ``text`` is shown as that text."""
    findings = (
        item | {"message": {"code": item["code"], "text": item["message"]}} for item in data.get("findings", ())
    )
    return data | {"findings": [{key: item[key] for key in item if key != "code"} for item in findings]}


def _with_transports_and_coded_reasons(data: Data) -> Data:
    """Version 0.1 gave imported logs a transport that no machine has, and reasons in English."""
    for item in data.get("configurations", ()):
        for node in item["launch"]["nodes"]:
            if node["transport"] == "imported":
                node["transport"] = "local"
    impossible = data.get("impossible", ())
    return data | {"impossible": [item | {"reason": stored_message(item["reason"]).to_json()} for item in impossible]}


HELD_IN_PRECISION = ("bf16", "fp16")
"""Precisions in which the PyTorch programs of version 0.1 held weights, gradients and optimizer state."""


def precision_of(planned: PlannedConfiguration) -> str:
    """Return the precision by today's names: the PyTorch programs' ``bf16`` of version 0.1 is ``bf16-pure`` now.

    Plans state numerics since then. Names of trials and folders keep the old one.
    """
    precision, programs = planned.configuration.precision, planned.launch.files
    ours = any(name.startswith("pytorch_") for name in programs)
    return f"{precision}-pure" if ours and not planned.numerics and precision in HELD_IN_PRECISION else precision


UPGRADES: Upgrades = {
    ("TrialResult", 1): _with_coded_findings,
    ("CampaignRecord", 1): _with_transports_and_coded_reasons,
}
"""(Kind of record, its schema) → the function that converts it to the next schema; none where nothing changed."""


def upgrade(kind: str, data: Data, upgrades: Upgrades = UPGRADES, current: int = SCHEMA_VERSION) -> Data:
    """Convert the data of a record of this kind (``CampaignRecord``, ``TrialRecord`` …) to the present schema.

    Raises:
        NewerError: a newer dlperf wrote it.
        DlperfError: its schema is no number, or it is not of that schema.
    """
    schema = data.get("schema", 1)
    if not isinstance(schema, int) or isinstance(schema, bool):
        raise DlperfError(f"schema {schema!r} is no number")
    if schema > current:
        raise NewerError(f"written by a newer dlperf (schema {schema}, this one knows {current}): update dlperf")
    try:
        for version in range(max(schema, 1), current):
            data = upgrades.get((kind, version), dict)(data)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise DlperfError(f"not of schema {schema}: {error!r}") from error
    return data | {"schema": current}

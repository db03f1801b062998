"""Files that an older dlperf wrote, brought to the present schema step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from dlperf.errors import DlperfError
from dlperf.messages import Message
from dlperf.runs.findings_0_1 import upgraded_finding
from dlperf.runs.texts_0_1 import message_of_text

SCHEMA_VERSION = 2
"""Of the records under ``runs/``; 1 is that of version 0.1, whose messages were English texts."""


class NewerError(DlperfError):
    """What was written is sound, and this dlperf is too old for it."""


Data = dict[str, Any]
Upgrades = Mapping[tuple[str, int], Callable[[Data], Data]]


def stored_message(data: Any) -> Message:
    """The message that a record holds, also one that version 0.1 wrote as an English text.

    Raises:
        ValueError: it is neither.
    """
    return message_of_text(data) if isinstance(data, str) else Message.from_json(data)


class _Stored:
    """Has pydantic read a field by ``stored_message``: a journal's lines carry no schema."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        flat = core_schema.plain_serializer_function_ser_schema(Message.to_json)
        return core_schema.no_info_plain_validator_function(stored_message, serialization=flat)


StoredMessage = Annotated[Message, _Stored()]
"""A message in a record: written as its flat JSON form."""


def _with_coded_findings(data: Data) -> Data:
    return data | {"findings": [upgraded_finding(finding) for finding in data.get("findings", ())]}


def _with_transports_and_coded_reasons(data: Data) -> Data:
    """Version 0.1 gave imported logs a transport that no machine has, and reasons in English."""
    for item in data.get("configurations", ()):
        for node in item["launch"]["nodes"]:
            if node["transport"] == "imported":
                node["transport"] = "local"
    found = data.get("impossible", ())
    return data | {"impossible": [item | {"reason": stored_message(item["reason"]).to_json()} for item in found]}


UPGRADES: Upgrades = {
    ("TrialResult", 1): _with_coded_findings,
    ("CampaignRecord", 1): _with_transports_and_coded_reasons,
}
"""(kind of record, schema that it has) → what makes it one schema newer. A kind that did not change has no entry."""


def upgrade(kind: str, data: Data, upgrades: Upgrades = UPGRADES, current: int = SCHEMA_VERSION) -> Data:
    """``data`` of a record of this kind (``CampaignRecord``, ``TrialRecord`` …) in the present schema.

    Raises:
        NewerError: a newer dlperf wrote it.
        DlperfError: its schema is no number.
    """
    schema = data.get("schema", 1)
    if not isinstance(schema, int) or isinstance(schema, bool):
        raise DlperfError(f"schema {schema!r} is no number")
    if schema > current:
        raise NewerError(f"written by a newer dlperf (schema {schema}, this one knows {current}): update dlperf")
    for version in range(schema, current):
        data = upgrades.get((kind, version), _unchanged)(data)
    return data | {"schema": current}


def _unchanged(data: Data) -> Data:
    return data

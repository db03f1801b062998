"""Files that an older dlperf wrote, brought to the present schema step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dlperf.errors import DlperfError
from dlperf.runs.records import SCHEMA_VERSION

class NewerError(DlperfError):
    """What was written is sound, and this dlperf is too old for it."""


Data = dict[str, Any]
Upgrades = Mapping[tuple[str, int], Callable[[Data], Data]]

UPGRADES: Upgrades = {}
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

"""The schema of the records under ``runs/``."""

from typing import Any

from dlperf.errors import DlperfError

SCHEMA_VERSION = 2
"""Of version 0.2. Increase it where an older dlperf would misread a record, and convert what is kept."""

Data = dict[str, Any]


class NewerError(DlperfError):
    """A valid file of a dlperf that is newer than this one."""


def check_schema(data: Data) -> Data:
    """Return the data of a record if it is of the present schema.

    Raises:
        NewerError: a newer dlperf wrote it.
        DlperfError: its schema is older or no number.
    """
    schema = data.get("schema", SCHEMA_VERSION)
    if not isinstance(schema, int) or isinstance(schema, bool):
        raise DlperfError(f"schema {schema!r} is no number")
    if schema > SCHEMA_VERSION:
        raise NewerError(f"written by a newer dlperf (schema {schema}, this one knows {SCHEMA_VERSION}): update dlperf")
    if schema < SCHEMA_VERSION:
        raise DlperfError(f"schema {schema} of dlperf 0.1, which this version no longer reads")
    return data

"""``site/acknowledged.yaml``: what looks like a secret in a published file and is none, with the reason."""

from pathlib import Path

from dlperf.catalog.entry import Model
from dlperf.report.redaction import FoundIn
from dlperf.report.site.lists.reading import Text, read_list


class Acknowledged(Model):
    """One suspected secret in one file, both as ``dlperf build-site`` names them."""

    what: Text
    file: Text
    reason: Text


def read_acknowledged(path: Path) -> tuple[Acknowledged, ...]:
    """Read the file, which need not exist.

    Raises:
        CatalogError: it has mistakes.
    """
    return read_list(path, Acknowledged)


def without_acknowledged(found: FoundIn, acknowledged: tuple[Acknowledged, ...]) -> FoundIn:
    """Return what was found, less suspected secrets in the files for which they are acknowledged."""
    known = {(one.what, one.file) for one in acknowledged}
    left = {
        item: [file for file in files if item.kind != "suspected" or (item.name, file) not in known]
        for item, files in found.items()
    }
    return {item: files for item, files in left.items() if files}

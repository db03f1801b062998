"""``site/acknowledged.yaml``: what looks like a secret in a published file and is none, with the reason."""

from pathlib import Path
from typing import Annotated

from pydantic import StringConstraints, ValidationError

from dlperf.catalog.entry import Model
from dlperf.catalog.files.entries import validation_problems
from dlperf.catalog.files.problem import CatalogError
from dlperf.catalog.files.yamlfile import read_document
from dlperf.report.redaction import FoundIn

Text = Annotated[str, StringConstraints(min_length=1)]


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
    if not path.is_file():
        return ()
    document = read_document(path)
    if document.problems:
        raise CatalogError(document.problems)
    if not isinstance(document.data, tuple):
        raise CatalogError([document.problem((), "expected a list of entries with what, file and reason")])
    found = []
    for index, entry in enumerate(document.data):
        try:
            found.append(Acknowledged.model_validate(entry))
        except ValidationError as error:
            raise CatalogError(validation_problems(error, Acknowledged, document, (index,))) from error
    return tuple(found)


def without_acknowledged(found: FoundIn, acknowledged: tuple[Acknowledged, ...]) -> FoundIn:
    """Return what was found, less suspected secrets in the files for which they are acknowledged."""
    known = {(one.what, one.file) for one in acknowledged}
    left = {
        item: [file for file in files if item.kind != "suspected" or (item.name, file) not in known]
        for item, files in found.items()
    }
    return {item: files for item, files in left.items() if files}

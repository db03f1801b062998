"""Lists that the owner of a workspace keeps below ``site/``, in YAML."""

from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import StringConstraints, ValidationError

from dlperf.catalog.entry import Model
from dlperf.catalog.files.entries import validation_problems
from dlperf.catalog.files.problem import CatalogError
from dlperf.catalog.files.yamlfile import read_document

Text = Annotated[str, StringConstraints(min_length=1)]
Entry = TypeVar("Entry", bound=Model)


def read_list(path: Path, kind: type[Entry]) -> tuple[Entry, ...]:
    """Read the entries of a file, which need not exist.

    Raises:
        CatalogError: it has mistakes.
    """
    if not path.is_file():
        return ()
    document = read_document(path)
    if document.problems:
        raise CatalogError(document.problems)
    if not isinstance(document.data, tuple):
        fields = ", ".join(kind.model_fields)
        raise CatalogError([document.problem((), f"expected a list of entries with the fields {fields}")])
    found = []
    for index, entry in enumerate(document.data):
        try:
            found.append(kind.model_validate(entry))
        except ValidationError as error:
            raise CatalogError(validation_problems(error, kind, document, (index,))) from error
    return tuple(found)

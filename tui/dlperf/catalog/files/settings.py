"""``dlperf.yaml`` of a workspace: what is set for all of its campaigns."""

from pathlib import Path
from typing import Annotated

from pydantic import StringConstraints, ValidationError

from dlperf.catalog.entry import Model
from dlperf.catalog.files.entries import validation_problems
from dlperf.catalog.files.problem import CatalogError
from dlperf.catalog.files.yamlfile import read_document


class AtEnd(Model):
    """What is done when all trials of a campaign have ended."""

    webhook: Annotated[str, StringConstraints(pattern=r"^(https?://\S+|\$[A-Za-z_][A-Za-z0-9_]*)$")] = ""
    """Address that gets the results by POST, or ``$NAME`` of a variable that holds it."""
    command: str = ""
    """Line for ``sh`` that gets the same document on standard input."""


class Settings(Model):
    """The whole file."""

    at_end: AtEnd = AtEnd()


def read_settings(path: Path) -> Settings:
    """Read ``dlperf.yaml``, which need not exist. Raises CatalogError: it has mistakes."""
    if not path.exists():
        return Settings()
    document = read_document(path)
    if document.problems:
        raise CatalogError(document.problems)
    try:
        return Settings.model_validate(document.data or {})
    except ValidationError as error:
        raise CatalogError(validation_problems(error, Settings, document, ())) from error

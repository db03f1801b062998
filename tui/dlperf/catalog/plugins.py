"""What installed packages add to dlperf: entry points, by group and name. CONTRIBUTING.md says what each is."""

from functools import cache
from importlib.metadata import EntryPoint, distributions
from itertools import chain
from typing import Any

from pydantic import ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from dlperf.errors import DlperfError

EXECUTORS = "dlperf.executors"
FORMATS = "dlperf.formats"
ESTIMATORS = "dlperf.estimators"
METRICS = "dlperf.metrics"
LAUNCHERS = "dlperf.launchers"
BUILTIN_CODE_FORMATS = ("dllogger", "dlperf", "mllog", "paddleclas")
"""Here, too, as importing ``formats.registry`` takes longer than to read the catalogue."""


@cache
def scan_packages() -> dict[str, dict[str, EntryPoint]]:
    """Return the entry points of all installed packages, by group and name; reads the metadata of each package once."""
    found: dict[str, dict[str, EntryPoint]] = {}
    for entry in chain.from_iterable(package.entry_points for package in distributions()):
        found.setdefault(entry.group, {}).setdefault(entry.name, entry)
    return found


def code_format_ids() -> tuple[str, ...]:
    """Return the ids of the log formats that are code and no entries of a catalogue."""
    return tuple(sorted({*BUILTIN_CODE_FORMATS, *installed(FORMATS)}))


def installed(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name."""
    return scan_packages().get(group, {})


def load_plugin(group: str, name: str) -> Any:
    """Return the object of an installed entry point. Raises DlperfError: it cannot be imported."""
    entry = installed(group)[name]
    try:
        return entry.load()
    except Exception as error:
        package = entry.dist.name if entry.dist else entry.module
        why = f"{type(error).__name__}: {error}"
        raise DlperfError(
            f"package {package}: {name!r} of {group} cannot be loaded ({why}): update the package, or uninstall it"
        ) from error


def or_installed(group: str) -> WrapValidator:
    """Return a validator that accepts, besides what a field takes, the names of installed entry points."""

    def validate(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError:
            if isinstance(value, str) and value in installed(group):
                return value
            raise

    return WrapValidator(validate)

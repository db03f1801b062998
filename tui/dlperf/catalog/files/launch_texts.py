"""Problems of the texts that a launch is made of: placeholders that nothing fills."""

from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from typing import Any

from dlperf.catalog.files.entries import Located
from dlperf.catalog.files.problem import Problem, hint
from dlperf.catalog.files.yamlfile import Location
from dlperf.catalog.hardware import Hardware
from dlperf.catalog.placeholders import BUILT, PLACEHOLDERS, unknown_names
from dlperf.substitution import names_in

_SCRIPTS = {
    "build": "lines of a build run in {build}, with the files that they name",
    "prologue": "placeholders are filled in commands, arguments and variables",
}
"""Field of lines of bash → what to do instead."""


def text_problems(
    item: Located[Any], place: Location, fields: Mapping[str, Any], axes: Collection[str] = ()
) -> Iterator[Problem]:
    """Refuse unknown placeholders in commands, arguments and variables."""
    for location, text in chain.from_iterable(_strings(value, (name,)) for name, value in fields.items()):
        for name in unknown_names(text, axes):
            known = hint(name, {*PLACEHOLDERS, *axes})
            yield item.problem((*place, *location), f"unknown placeholder {{{name}}} ({known})")
        if "\0" in text:
            yield item.problem((*place, *location), "contains a NUL character, which no command can be given")


def script_problems(item: Located[Any]) -> Iterator[Problem]:
    """Refuse what looks like a placeholder in lines of bash, which has ``${name}`` and ``{ command; }``."""
    for field, advice in _SCRIPTS.items():
        for index, line in enumerate(getattr(item.entry, field, ())):
            for name in names_in(line.replace("${", "")):
                if field == "build" and name in BUILT:
                    continue
                text = f"{{{name}}} is passed to bash as it is ({advice}; for awk, write `{{ print }}` with spaces)"
                yield item.problem((field, index), text)


def job_problems(item: Located[Hardware]) -> Iterator[Problem]:
    """Refuse placeholders in the options of a job, but for the GPUs in ``gres``."""
    job = item.entry.job
    field = "slurm" if item.entry.slurm else "queue"
    for location, text in _strings(job, (field,)):
        for name in names_in(text):
            if (location[-1], name) != ("gres", "gpus"):
                problem = f"{{{name}}} has no value in an option of a job (only `gres` has one, {{gpus}})"
                yield item.problem(location, problem)


def _strings(value: Any, location: Location) -> Iterator[tuple[Location, str]]:
    """Every text of a field with its location, also the keys of mappings."""
    if isinstance(value, str):
        yield location, value
    elif isinstance(value, tuple):
        for index, part in enumerate(value):
            yield from _strings(part, (*location, index))
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _strings(key, (*location, key))
            yield from _strings(part, (*location, key))
    elif value is not None and hasattr(type(value), "model_fields"):
        for name in type(value).model_fields:
            yield from _strings(getattr(value, name), (*location, name))

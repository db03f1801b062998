"""Reword pydantic's errors for authors of a catalogue: what is wrong, and what is expected."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel

from dlperf.catalog.files.problem import hint
from dlperf.catalog.patterns import EXPECTATION

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "dataclass_type": "a mapping",
    **dict.fromkeys(
        ("date_type", "date_from_datetime_parsing", "date_from_datetime_inexact"), "a date such as 2026-11-01"
    ),
}

_PLAIN = re.compile(r"-?[0-9]+(\.[0-9]+)?|true|false")
"""Texts that would be numbers or booleans without quotes."""

_PATTERNS: dict[str, str] = {
    r"^[a-z0-9][a-z0-9.-]{0,62}$": "an id has 1 to 63 small letters, digits, dots and hyphens, no underscore",
    r"^[1-9][0-9]{0,4}n[1-9][0-9]{0,2}g$": "a scale is written 2n8g: 2 nodes with 8 GPUs each",
    r"^[a-z][a-z0-9_]{0,30}$": "a name has 1 to 31 small letters, digits and underscores",
    r"^\S.{0,29}$": "a unit, such as images/s or ms, has 1 to 30 characters",
    r"^[^-\s]\S*$": "one word that does not begin with a hyphen",
    r"^[/{]": "an absolute path; ~ is not expanded",
    r"^[A-Za-z_][A-Za-z0-9_]*$": "a variable's name has letters, digits and underscores",
    r"^(https?://\S+|\$[A-Za-z_][A-Za-z0-9_]*)$": "an address with http:// or https://, or $NAME of a variable",
    r"^(https?://\S+)?$": "an address with http:// or https://",
    r"^#[0-9a-fA-F]{6}$": "a colour is written '#00776c'",
    r"^[A-Z]{3}$": "three capital letters, such as EUR",
    EXPECTATION: "a metric, one of < <= > >=, and a number, with spaces between: final_loss < 7.5; "
    "or log has EXPRESSION, log lacks EXPRESSION",
    r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$": "a file name, without folders",
    r"^[A-Za-z0-9][A-Za-z0-9.+-]{0,40}$": "a value has up to 41 letters, digits, dots, plus signs and hyphens",
    r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$": "a package's name, such as torch-geometric",
}
"""Pattern of the model → its meaning."""


def wording(error: ErrorDetails, model: type[BaseModel], written: str | None) -> str:
    """Reword one error.

    Args:
        error: one of ``ValidationError.errors()``.
        model: the model that was validated.
        written: the scalar as it is written in the file; None where the value is not a scalar.
    """
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"unknown field ({_field_hint(model, error['loc'])})"
    if kind in _EXPECTED:
        return f"expected {_EXPECTED[kind]}, got {_described(value)}{_quoting(kind, value, written)}"
    if kind == "literal_error":
        return f"{value!r} is not one of {context['expected'].replace(' or ', ', ')}"
    if kind == "too_short":
        return f"needs {context['min_length']} or more, and has {context['actual_length']}"
    if kind == "string_pattern_mismatch":
        return f"{value!r} is not allowed ({_PATTERNS[str(context['pattern'])]})"
    message = error["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return f"{message} (got {_described(value)})"


def _described(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"the truth value {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text {value!r}" if len(value) < 60 else "a long text"
    names: dict[type, str] = {dict: "a mapping", tuple: "a list"}
    return names.get(type(value), f"a {type(value).__name__}")


def _quoting(kind: str, value: Any, written: str | None) -> str:
    if kind == "string_type" and written:
        return f" (write {json.dumps(written, ensure_ascii=False)} in quotes)"
    return " (write it without quotes)" if isinstance(value, str) and _PLAIN.fullmatch(value) else ""


def _field_hint(model: type, location: tuple[str | int, ...]) -> str:
    for part in location[:-1]:
        if part in (fields := _fields(model)):
            model = _first_model(fields[str(part)]) or model
    return hint(str(location[-1]), _fields(model))


def _fields(model: Any) -> dict[str, Any]:
    if issubclass(model, BaseModel):
        return {name: field.annotation for name, field in model.model_fields.items()}
    return {field.name: field.type for field in dataclasses.fields(model)}


def _first_model(annotation: Any) -> type | None:
    if isinstance(annotation, type) and (issubclass(annotation, BaseModel) or dataclasses.is_dataclass(annotation)):
        return annotation
    return next((found for part in get_args(annotation) if (found := _first_model(part))), None)

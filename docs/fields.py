"""Write docs/fields.md: every field of the catalogue's entries, from the models themselves."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import json
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, TypeAdapter

from dlperf.catalog.files.entries import KINDS
from dlperf.catalog.placeholders import PLACEHOLDERS
from dlperf.measured.throughput.estimators import signature
from dlperf.measured.throughput.rules import ESTIMATORS

NAMES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Names that a log format may use, with their meaning: ``groups`` of a record and ``declared`` facts."""
_PLAIN = {"string": "text", "integer": "whole number", "boolean": "true or false", "null": "null"}


def described(kinds: Iterable[str], entries: Iterable[object]) -> str:
    """Return a Markdown section for each kind of entry and each mapping inside it.

    Args:
        kinds: of ``KINDS``.
        entries: where examples are taken from: for each field the first value that is not its default.
    """
    examples: dict[tuple[str, str], Any] = {}
    for entry in entries:
        _collect(entry, examples)
    done: set[type] = set()
    sections = [section for kind in kinds for section in _sections(f"`{kind}`", KINDS[kind], examples, done)]
    return "\n".join(sections)


def reference() -> str:
    """Return a Markdown section for each kind of name that fields may hold."""
    rules = {signature(name): _first_line(rule) for name, rule in ESTIMATORS.items()}
    further = {"data.ID": "Where the machine has a data set.", "AXIS": "Value of an axis of the case or the recipe."}
    tables = (
        ("Placeholders", "Names in braces in commands, arguments and variables.", PLACEHOLDERS | further, "{{{}}}"),
        ("Estimators", "How the records of a run become one value.", rules, "{}"),
        ("Groups of a record", "Named groups of the expressions of a log format.", NAMES["groups"], "{}"),
        ("Declared facts", "Fields of `metadata`, `sections` and `facts` with a meaning.", NAMES["declared"], "{}"),
    )
    return "\n".join(_names_table(*table) for table in tables)


def _names_table(title: str, about: str, names: Mapping[str, str], written: str) -> str:
    rows = (
        f"| `{written.format(name)}` | {' '.join(text.replace('``', '`').split())} |" for name, text in names.items()
    )
    return "\n".join([f"## {title}", "", about, "", "| name | meaning |", "| --- | --- |", *rows, ""])


def _first_line(rule: object) -> str:
    return (inspect.getdoc(rule) or "").partition("\n\n")[0]


def _sections(title: str, model: type, examples: Mapping[tuple[str, str], Any], done: set[type]) -> Iterator[str]:
    if model in done:
        return
    done.add(model)
    meanings, inner = meanings_of(model), []
    rows = ["| field | type | default | meaning | example |", "| --- | --- | --- | --- | --- |"]
    for name, annotation, default in _fields(model):
        inner += [(f"{title}, `{name}`", found) for found in _models_in(annotation)]
        example = next(
            (examples[base.__name__, name] for base in model.mro() if (base.__name__, name) in examples), None
        )
        cells = (
            f"`{name}`",
            _type_text(annotation),
            default,
            meanings.get(name, ""),
            "" if example is None else f"`{_short(example)}`",
        )
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    summary = " ".join((inspect.getdoc(model) or "").split())
    yield "\n".join([f"## {title}", "", summary, "", *rows, ""])
    for name, found in inner:
        yield from _sections(name, found, examples, done)


def meanings_of(model: type) -> dict[str, str]:
    """Return field → the text below it in the class or in one that it extends, on one line."""
    found: dict[str, str] = {}
    for base in reversed([item for item in model.mro() if item.__module__.startswith("dlperf.")]):
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        statements = body.body if isinstance(body, ast.ClassDef) else []
        for field, text in itertools.pairwise(statements):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                found[ast.unparse(field.target)] = " ".join(str(text.value.value).replace("``", "`").split())
    return found


def _fields(model: type) -> Iterator[tuple[str, Any, str]]:
    """Yield name, annotation and the text of the default."""
    if issubclass(model, BaseModel):
        for name, field in model.model_fields.items():
            yield (
                name,
                field,
                "required" if field.is_required() else _default_text(field.get_default(call_default_factory=True)),
            )
        return
    for item in dataclasses.fields(model):
        default = item.default_factory() if item.default_factory is not dataclasses.MISSING else item.default
        annotation = inspect.get_annotations(model, eval_str=True)[item.name]
        yield item.name, annotation, "required" if default is dataclasses.MISSING else _default_text(default)


def _default_text(value: object) -> str:
    return "" if value in (None, "", (), {}) else f"`{json.dumps(_plain(value))}`"


def _type_text(annotation: Any) -> str:
    schema = TypeAdapter(_bare(annotation)).json_schema()
    return _schema_text(schema)


def _bare(annotation: Any) -> Any:
    return annotation.annotation if hasattr(annotation, "annotation") else annotation


def _schema_text(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        texts = dict.fromkeys(_schema_text(item) for item in schema["anyOf"] if item.get("type") != "null")
        return " or ".join(texts)
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{word}`" for word in schema.get("enum", [schema.get("const")]) if word != "")
    match schema.get("type"):
        case "array":
            return f"list of {_schema_text(schema.get('items', {}))}"
        case "object" if "properties" not in schema:
            values = schema.get("additionalProperties")
            return f"mapping to {_schema_text(values)}" if isinstance(values, dict) else "mapping"
        case "number":
            return "number"
        case kind:
            return _PLAIN.get(str(kind), "mapping")


def _models_in(annotation: Any) -> Iterator[type]:
    """Yield the models and dataclasses inside an annotation."""
    annotation = _bare(annotation)
    if isinstance(annotation, type) and (issubclass(annotation, BaseModel) or dataclasses.is_dataclass(annotation)):
        if annotation.__module__.startswith("dlperf.catalog") and _fields_shown(annotation):
            yield annotation
        return
    for argument in get_args(annotation):
        yield from _models_in(argument)


def _fields_shown(model: type) -> bool:
    return issubclass(model, BaseModel) or hasattr(model, "__pydantic_config__")


def _collect(value: object, examples: dict[tuple[str, str], Any]) -> None:
    """Add the first value of each field that is given and not its default."""
    if isinstance(value, BaseModel) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        for name, _, default in _fields(type(value)):
            found = getattr(value, name)
            if found not in (None, "", (), {}) and _default_text(_plain(found)) != default:
                for base in type(value).mro():
                    examples.setdefault((base.__name__, name), _plain(found))
            _collect(found, examples)
    elif isinstance(value, Mapping):
        for item in value.values():
            _collect(item, examples)
    elif isinstance(value, tuple | list):
        for item in value:
            _collect(item, examples)


def _plain(value: Any) -> Any:
    return TypeAdapter(Any).dump_python(value, mode="json", exclude_defaults=True)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"

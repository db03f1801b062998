"""Change single values of an entry in the text of a YAML file; comments and all else stay as they are."""

import json
import re
from collections.abc import Iterator

import yaml

from dlperf.errors import RequestError

Value = str | int | None
"""Of a field; None takes the field out."""
_PLAIN = re.compile(r"[A-Za-z0-9][\w.@/-]*")
"""What YAML reads as the same text without quotes, where ``safe_load`` agrees."""


def with_values(text: str, entry: str, values: dict[tuple[str | int, ...], Value]) -> str:
    """Return a file's text with other values of an entry.

    Args:
        entry: its id.
        values: by the path of the field within the entry, such as ``("nodes", 0, "host")``.

    Raises:
        RequestError: the file has no such entry, or one of the values is shared by an anchor.
    """
    for path, value in values.items():
        entries = (node for node in _mappings(yaml.compose(text)) if _fields(node).get("id") == entry)
        mapping: yaml.Node | None = next(entries, None)
        for part in path[:-1]:
            mapping = _child(mapping, part)
        if not isinstance(mapping, yaml.MappingNode):
            raise RequestError(f"{entry}: it has no {path[0]} that could be changed here")
        text = _with_value(text, mapping, str(path[-1]), value)
    return text


def _mappings(node: yaml.Node | None) -> Iterator[yaml.MappingNode]:
    if isinstance(node, yaml.MappingNode):
        yield node
        for _key, value in node.value:
            yield from _mappings(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _mappings(item)


def _fields(node: yaml.MappingNode) -> dict[str, str]:
    return {key.value: value.value for key, value in node.value if isinstance(value, yaml.ScalarNode)}


def _child(node: yaml.Node | None, part: str | int) -> yaml.Node | None:
    if isinstance(part, int) and isinstance(node, yaml.SequenceNode):
        return node.value[part] if part < len(node.value) else None
    found = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for key, value in found if key.value == part), None)


def _with_value(text: str, mapping: yaml.MappingNode, name: str, value: Value) -> str:
    names = [key.value for key, _ in mapping.value]
    if name not in names:
        return text if value is None else _with_field(text, mapping, f"{name}: {_scalar(value)}")
    at = names.index(name)
    key, old = mapping.value[at]
    start, end = old.start_mark.index, old.end_mark.index
    if start < key.end_mark.index or not isinstance(old, yaml.ScalarNode) or text[start : start + 1] in "&!":
        raise RequestError(f"{name} in line {key.start_mark.line + 1} is shared or of a type of its own: edit the file")
    if value is not None:
        return text[:start] + _scalar(value) + text[end:]
    if at + 1 < len(names):
        return text[: key.start_mark.index] + text[mapping.value[at + 1][0].start_mark.index :]
    return text[: mapping.value[at - 1][1].end_mark.index] + text[end:]


def _with_field(text: str, mapping: yaml.MappingNode, field: str) -> str:
    """Insert a field after the first one, which is a name."""
    key, first = mapping.value[0]
    end = first.end_mark.index
    if mapping.flow_style:
        return f"{text[:end]}, {field}{text[end:]}"
    end = text.find("\n", end) % (len(text) + 1)
    return f"{text[:end]}\n{' ' * key.start_mark.column}{field}{text[end:]}"


def _scalar(value: str | int) -> str:
    if isinstance(value, int) or (_PLAIN.fullmatch(value) and yaml.safe_load(value) == value):
        return str(value)
    return json.dumps(value, ensure_ascii=False)

"""YAML as data with line numbers; a hostile file is reported, not executed or expanded."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from dlperf.catalog.files.problem import Problem, field_name
from dlperf.opening import is_of_package, open_regular

Location = tuple[str | int, ...]

MAX_BYTES = 1 << 20
MAX_DEPTH = 24
"""libyaml recurses on the C stack: thousands of brackets would crash the process."""
MAX_NODES = 50_000
"""Counted after aliases are resolved, so that a few lines cannot expand to millions of entries."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT = "tag:yaml.org,2002:str"
_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("map", "seq", "str", "int", "float", "bool", "null", "timestamp")
)


@dataclass
class Document:
    """A file's data: mappings are dicts with text keys, sequences are tuples."""

    path: Path
    data: Any = None
    lines: dict[Location, int] = field(default_factory=dict)
    """1-based line of every key and item."""
    texts: dict[Location, str] = field(default_factory=dict)
    """Every scalar as it is written in the file."""
    problems: list[Problem] = field(default_factory=list)

    def nearest(self, location: Location) -> Location:
        """The location itself or the innermost one around it that the file has."""
        while location and location not in self.lines:
            location = location[:-1]
        return location

    def line(self, location: Location) -> int:
        return self.lines.get(self.nearest(location), 1)

    def problem(self, location: Location, message: str) -> Problem:
        return Problem(self.path, self.line(location), field_name(location), message)


def read_document(path: Path) -> Document:
    """Read a file; its ``data`` is only valid if there are no ``problems``."""
    document = Document(path)
    try:
        text = _read(path)
        if not is_of_package(path):  # whose nesting a test checks: this takes a third of the time of composing it
            _check_depth(text)
        root: yaml.Node | None = yaml.compose(text, Loader=_LOADER)
        document.data = None if root is None else _Converter(document).convert(root, ())
    except OSError as error:
        document.problems.append(document.problem((), f"cannot be read: {error.strerror}"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        cause = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        document.problems.append(Problem(path, mark.line + 1 if mark else 1, "", f"YAML syntax: {cause}"))
    except _TooBig as error:
        document.problems.append(document.problem((), str(error)))
    return document


class _TooBig(Exception):
    pass


def _read(path: Path) -> str:
    with open_regular(path) as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise _TooBig(f"is larger than {MAX_BYTES // 1024} KiB (split it into several files)")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise OSError(0, f"byte {error.start} is not UTF-8") from error


def _check_depth(text: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _TooBig(f"is nested deeper than {MAX_DEPTH} levels")


class _Converter:
    """Converts YAML nodes into data and records the line of each."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.scalars = yaml.constructor.SafeConstructor()
        self.count = 0

    def convert(self, node: yaml.Node, at: Location) -> Any:
        self.count += 1
        if self.count > MAX_NODES or len(at) > MAX_DEPTH:
            raise _TooBig("is too large with its aliases resolved (write the entries out)")
        self.document.lines.setdefault(at, node.start_mark.line + 1)
        if node.tag not in _TAGS:
            self.report(at, f"YAML tag {node.tag} is not allowed (plain data only)", node)
            return None
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, at)
        if isinstance(node, yaml.SequenceNode):
            return tuple(self.convert(item, (*at, index)) for index, item in enumerate(node.value))
        return self.scalar(node, at)

    def mapping(self, node: yaml.MappingNode, at: Location) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.key(key_node, at)
            if key is None:
                continue
            place = (*at, key)
            if key in result:
                self.report(place, f"duplicate key, first in line {self.document.lines[place]}", key_node)
            self.document.lines[place] = key_node.start_mark.line + 1
            result[key] = self.convert(value_node, place)
        return result

    def key(self, node: yaml.Node, at: Location) -> str | None:
        if isinstance(node, yaml.ScalarNode) and node.tag == _TEXT:
            return str(node.value)
        if node.tag == "tag:yaml.org,2002:merge":
            self.report(at, "merge keys (<<) are not supported (write the fields out)", node)
        elif isinstance(node, yaml.ScalarNode):
            self.report(at, f'key {node.value} is not text in YAML (write "{node.value}")', node)
        else:
            self.report(at, "a key must be text", node)
        return None

    def scalar(self, node: yaml.Node, at: Location) -> Any:
        self.document.texts[at] = node.value
        if node.tag == _TEXT:
            return node.value
        try:
            return self.scalars.construct_object(node)
        except (ValueError, AttributeError, yaml.YAMLError):  # PyYAML misses the match of a wrong time
            self.report(at, f"{node.value[:40]!r} cannot be read as {node.tag.rpartition(':')[2]} (quote it)", node)
            return None

    def report(self, at: Location, message: str, node: yaml.Node) -> None:
        line = node.start_mark.line + 1
        self.document.problems.append(Problem(self.document.path, line, field_name(at), message))

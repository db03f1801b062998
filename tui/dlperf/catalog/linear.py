"""Compile regular expressions whose search takes time linear in the line, whatever the line holds.

Python's engine backtracks: ``a.*?b.*?c`` takes cubic time on a line of many a and b without c. Here an expression is
cut at each ``.*?``; a piece is searched for after the piece before it and never again. Where every piece is proven
linear, Python's engine runs it. All others run in RE2, which is always linear and takes ten times as long for a match.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import product
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

MOST_ELEMENTS = 20_000
"""Elements of all ways through the alternatives of a piece that are examined."""
MOST_COPIES = 64
"""Repeats that are examined one by one, and bytes of a look-ahead."""
_TOKEN = re.compile(r"(\.\*\??)|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]", re.DOTALL)
_LOOKS_AHEAD = re.compile(r"\(\?[=!]\.")
"""A look-ahead for something anywhere in the rest of the line."""
_ONE_BYTE = ("NOT_LITERAL", "ANY", "IN")
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


@dataclass(frozen=True)
class Expression:
    """A compiled regular expression for one line."""

    search: Callable[[bytes], Any]
    """Returns a match as that of ``re``, or None."""
    groupindex: Mapping[str, int]
    groups: int
    backtracks: bool
    """Python's engine runs it, not RE2."""


class _Element(NamedTuple):
    """One byte out of a set, or a run of any number of such bytes; a position, as of ``$``, has an empty set."""

    bytes: frozenset[int]
    is_run: bool


_Path = tuple[_Element, ...]


class _UnprovenError(Exception):
    """Python's engine may take more than linear time."""


@cache
def compile_linear(pattern: str) -> Expression:
    """Compile an expression for lines of bytes.

    Raises:
        re.error: it is invalid, or neither proven linear nor known to RE2.
    """
    plain = re.compile(pattern.encode())
    try:
        text = _join(split(pattern))
    except (_UnprovenError, re.error):
        return _compile_re2(pattern)
    if text == pattern:
        return Expression(plain.search, plain.groupindex, plain.groups, True)
    joined = re.compile(text.encode())
    return Expression(joined.match, joined.groupindex, joined.groups, True)


def is_any_found(patterns: Iterable[str], text: str) -> bool:
    """Whether a text has what any of these expressions describes; an invalid one describes nothing."""
    line = text.encode("utf-8", "replace")
    for pattern in patterns:
        with suppress(re.error):
            if compile_linear(pattern).search(line):
                return True
    return False


def _compile_re2(pattern: str) -> Expression:
    import re2  # takes 30 ms

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    try:
        compiled = re2.compile(pattern.encode(), options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error
        raise re.error(f"it may take more than linear time, and RE2 cannot run it ({reason})") from error
    groups = {name.decode(): number for name, number in compiled.groupindex.items()}
    return Expression(compiled.search, groups, compiled.groups, False)


def split(pattern: str) -> list[list[tuple[str, str]]]:
    """Split an expression outside of groups: at each ``|``, and these parts at each ``.*?`` and ``.*``.

    Returns:
        Of each part, its pieces: the ``.*?`` or ``.*`` before it, and its text.
    """
    parts: list[list[tuple[str, str]]] = [[]]
    gap, start, depth = "", 0, 0
    for token in _TOKEN.finditer(pattern):
        depth += (token[0] == "(") - (token[0] == ")")
        if depth == 0 and (token[1] or token[0] == "|"):
            parts[-1].append((gap, pattern[start : token.start()]))
            gap, start = token[1] or "", token.end()
            if not token[1]:
                parts.append([])
    parts[-1].append((gap, pattern[start:]))
    return parts


def _join(parts: Sequence[Sequence[tuple[str, str]]]) -> str:
    """Return the expression in which no piece is searched for again, to be matched from the start of a line.

    An expression of one piece remains as it is.

    Raises:
        _UnprovenError: a piece is not proven linear, or the last of several possible places has to be found.
    """
    for pieces in parts:
        if any(gap == ".*" for gap, _ in pieces[:-1]):
            raise _UnprovenError
        for _, text in pieces:
            _prove(text)
    if all(len(pieces) == 1 for pieces in parts):
        return "|".join(pieces[0][1] for pieces in parts)
    return "|".join("".join(f"(?>{gap or '.*?'}{text})" for gap, text in pieces) for pieces in parts)


def _prove(text: str) -> None:
    """Raise ``_UnprovenError`` unless the search for a piece takes linear time.

    It does where bytes of a run, once given back, cannot match what follows, so that an attempt takes linear time, and
    where few attempts share a run, since each has a byte before it that the run cannot hold. A run at the end is shared
    by none: the first attempt to reach it succeeds.
    """
    tree, anchored = _parser.parse(text.encode()), text.startswith("^")
    if tree.state.flags or (_LOOKS_AHEAD.search(text) and not anchored):
        raise _UnprovenError
    for path in _paths(tree):
        for index, (run, is_run) in enumerate(path[:-1]):
            if is_run and not (_ends_surely(run, path[index + 1 :]) and (anchored or _is_marked(run, path[:index]))):
                raise _UnprovenError


def _ends_surely(run: frozenset[int], following: Sequence[_Element]) -> bool:
    """Return whether what follows a run begins with a byte that is not in it."""
    for element in following:
        if element.bytes & run:
            return False
        if element.bytes and not element.is_run:
            return True
    return True


def _is_marked(run: frozenset[int], preceding: Sequence[_Element]) -> bool:
    """Return whether some byte before a run is neither in it nor in the runs between them."""
    for element in reversed(preceding):
        if element.is_run:
            run |= element.bytes
        elif element.bytes and not element.bytes & run:
            return True
    return False


def _paths(tree: Any) -> list[_Path]:
    """Return all ways through a parsed expression."""
    paths: list[_Path] = [()]
    for operation, value in tree:
        paths = [path + tail for path, tail in product(paths, _paths_of_node(str(operation), operation, value))]
        if len(paths) + sum(map(len, paths)) > MOST_ELEMENTS:
            raise _UnprovenError
    return paths


def _paths_of_node(name: str, operation: Any, value: Any) -> list[_Path]:
    if name == "LITERAL":
        return [(_Element(frozenset([value]), False),)]
    if name in _ONE_BYTE:
        return [(_Element(_bytes_of(operation, tuple(value) if name == "IN" else value), False),)]
    if name in _REPEATS:
        return _paths_of_repeat(*value)
    if name == "AT" or (name in ("ASSERT", "ASSERT_NOT") and _is_short(value[1])):
        return [(_Element(frozenset(), False),)]
    if name == "SUBPATTERN" and not (value[1] or value[2]):
        return _paths(value[3])
    if name == "BRANCH":
        return [path for branch in value[1] for path in _paths(branch)]
    raise _UnprovenError


def _paths_of_repeat(least: int, most: int, tree: Any) -> list[_Path]:
    if least <= most <= 1:
        return [*([()] if least == 0 else []), *_paths(tree)]
    if least > MOST_COPIES:
        raise _UnprovenError
    if least == most:
        return _paths([*tree] * least)
    paths = _paths(tree)
    if any(len(path) != 1 or path[0].is_run for path in paths):
        raise _UnprovenError
    one = frozenset[int]().union(*(path[0].bytes for path in paths))
    return [(*[_Element(one, False)] * least, _Element(one, True))]


def _is_short(tree: Any) -> bool:
    """Return whether a look-ahead is for a few bytes, here or anywhere in the rest of the line."""
    is_anywhere = len(tree) > 0 and str(tree[0][0]) == "MAX_REPEAT" and str(tree[0][1][2]) == "[(ANY, None)]"
    return bool(tree[is_anywhere:].getwidth()[1] <= MOST_COPIES)


@cache
def _bytes_of(operation: Any, value: Any) -> frozenset[int]:
    """Return the bytes that a node for one byte matches."""
    node = _parser.SubPattern(_parser.State(), [(operation, list(value) if isinstance(value, tuple) else value)])
    match = _compiler.compile(node).match
    return frozenset(byte for byte in range(256) if match(bytes([byte])))

"""Replace secrets, home folders and user names in a text, in every spelling that a file may hold."""

import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from urllib.parse import quote

from dlperf.redaction.rules import URL, Accept, compiled, is_secret_in_text, secrets_in

PREFIX = "[secret:"
"""How every placeholder begins; its name and ``]`` follow."""
SEARCHED_LENGTH, LETTERS_LENGTH, DIGITS_LENGTH = 6, 10, 12
"""Shorter values, and short ones of letters or digits alone, are replaced only after their name: they may be words."""
WHOLE_LENGTH = 10
"""Shorter values are not replaced inside a longer word, such as a hash."""
HOME = r"((?:/[A-Za-z0-9._+-]+)+?)(/\.dlperf/)"
"""The home folder of a node: dlperf works below it."""
COMMON_USERS = frozenset({"root", "user", "users", "home", "ubuntu", "admin", "data", "local", "nobody", "runner"})
WRAP = b"<wbr>"
CHARACTER = re.compile(rb"&#?\w+;|.", re.DOTALL)
"""A character, or a reference to one, within which a page has no ``<wbr>``."""
MARKUP = (
    *((b"&#95;", b"_"), (b"&quot;", b'"'), (b"&#x27;", b"'"), (b"&#39;", b"'"), (b"<wbr>", b"")),
    *((b'<span class="option">', b""), (b"</span>", b""), (b'\\"', b'"')),
)
"""What pages and JSON write into a text → the text; without it, tokens and assignments are found."""

Spellings = Callable[[str], Iterable[str]]


def no_spellings(value: str) -> Iterable[str]:
    """Return no further spellings."""
    return ()


@dataclass(frozen=True)
class Found:
    """Something that was replaced."""

    kind: str
    """secret, suspected (a secret that no catalogue entry states), or private (a home folder or user name)."""
    name: str


@dataclass(frozen=True)
class Redactor:
    """Replaces known secrets, whatever looks like one, and names of people."""

    secrets: Mapping[str, str] = field(default_factory=dict)
    """Placeholder → value."""
    people: bool = False
    """Whether home folders and user names are replaced."""
    homes: frozenset[str] = frozenset()
    """Home folders, which become ``~``, besides those that hold a folder ``.dlperf``."""
    users: frozenset[str] = frozenset()
    """User names, which become ``user``."""
    accept: Accept = is_secret_in_text
    """Which assignments are secrets."""
    spellings: Spellings = no_spellings
    """How else than as JSON, HTML, shell word or address a value may be written."""

    def redact(self, data: bytes) -> tuple[bytes, frozenset[Found]]:
        """Return the text with placeholders, and what was replaced."""
        found = set()
        for mark, value in self.secrets.items():
            changed = self._replaced(data, _name_in(mark), value, mark)
            if changed != data:
                data = changed
                found.add(Found("secret", _name_in(mark)))
        for name, value in dict.fromkeys(secrets_in(_readable(data), self.accept)):
            data = self._replaced(data, name, value, placeholder(name))
            found.add(Found("suspected", name))
        without = self._without_people(data) if self.people else data
        if without != data:
            found.add(Found("private", ""))
        return without, frozenset(found)

    def _replaced(self, data: bytes, name: str, value: str, mark: str) -> bytes:
        """Replace a value in every spelling, or a short one after its name alone."""
        before, after = _surroundings(name, value)
        wraps = WRAP in data
        for spelling in _all_spellings(value, self.spellings):
            if wraps or spelling in data:
                # a page lets long words wrap at places that depend on the whole word
                parts = CHARACTER.findall(spelling) if wraps else [spelling]
                pattern = b"(" + before + b")" + b"(?:<wbr>)?".join(map(re.escape, parts)) + after
                data = re.sub(pattern, lambda match: match[1] + mark.encode(), data)
        return data

    def _without_people(self, data: bytes) -> bytes:
        if b"/.dlperf/" in data:
            data = compiled(HOME).sub(rb"~\2", data)
        if any(name.encode() in data for name in (*self.homes, *self.users)):
            data = self._people.sub(lambda match: b"~" if match[1] else (match[2] or b"") + b"user", data)
        return data

    @cached_property
    def _people(self) -> re.Pattern[bytes]:
        """Home folders, and user names where the text says that they are one."""
        homes = "|".join(map(re.escape, sorted(self.homes, key=len, reverse=True))) or r"(?!)"
        users = "|".join(map(re.escape, sorted(self.users - COMMON_USERS, key=len, reverse=True))) or r"(?!)"
        said = r"\b(?i:user|username|login|logname|owner|as|by)[\"']?\s?[=:]?\s?[\"']?|(?<=/)"
        of_host = rf"(?<![\w.-])(?:{users})(?=@)"
        pattern = rf"(?<![\w.~/-])({homes})(?=[/\s\"':,;)&<]|$)|({said})(?:{users})(?![\w.-])|{of_host}"
        return re.compile(pattern.encode())


def has_placeholder(data: bytes) -> bool:
    return PREFIX.encode() in data


def placeholder(name: str, number: int = 1) -> str:
    """Return what replaces a secret; a second value of the same name has a number."""
    return PREFIX + re.sub("[^A-Za-z0-9_.-]", "", name) + (f"-{number}" if number > 1 else "") + "]"


def _name_in(mark: str) -> str:
    return re.sub(r"-[0-9]+$", "", mark[len(PREFIX) : -1])


def _surroundings(name: str, value: str) -> tuple[bytes, bytes]:
    """Return the expressions for what must be before and after a value that is replaced."""
    if name == URL:
        return rb"://[^\s/@]*:", b"(?=@)"
    if not _is_searched(value):
        # HTML between name and value: an option is in an element of its own
        return re.escape(name.encode()) + rb"(?:</?\w[^>]*>|[\s\"'=:,]){1,6}", b"(?![A-Za-z0-9])"
    if len(value) < WHOLE_LENGTH:
        return rb"(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-F]{2})", b"(?![A-Za-z0-9])"
    return b"", b""


def _is_searched(value: str) -> bool:
    shortest = LETTERS_LENGTH if value.isalpha() else DIGITS_LENGTH if value.isdecimal() else SEARCHED_LENGTH
    return len(value) >= shortest


def _readable(data: bytes) -> bytes:
    for written, meant in MARKUP:
        data = data.replace(written, meant)
    return data


def _all_spellings(value: str, others: Spellings) -> list[bytes]:
    """Return the ways to write a value, longest first."""
    html = [escape(value), escape(value, quote=False)]
    spelt = {value, *html, quote(value), quote(value, safe=""), shlex.quote(value)[1:-1], value.replace('"', '""')}
    spelt |= {json.dumps(text, ensure_ascii=escaped)[1:-1] for text in (value, *html) for escaped in (True, False)}
    found = {text.encode("utf-8", "surrogateescape") for text in (*spelt, *others(value))}
    return sorted((text for text in found if len(text) >= len(value)), key=len, reverse=True)

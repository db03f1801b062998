"""Escape data so that browsers show it as text and never as Markdown or HTML, and read what templates make links of.

Values within a line have every special character of Markdown and HTML replaced by a numeric character reference.
Longer texts (scripts, log lines) are in ``<pre>``, where HTML escaping suffices.
"""

import html
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

SPECIAL = re.compile(r"[\\`*_{}\[\]<>#!|~&]")
"""Characters with a meaning in a line for Python-Markdown, its extensions in mkdocs.yml, or HTML."""
OPENS_BLOCK = re.compile(r"^(?:[-+=:]|[0-9]+[.)](?= |$))")
"""Text that opens a list, a heading or a rule at the start of a line."""
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Control characters and lone surrogates: HTML forbids them, and Markdown uses two as internal marks."""
SOURCE = re.compile(r"([\w.-]+/[\w.-]+)@([0-9a-f]{7,40})(?:\([\w./-]+\))?:(\S+)(?: (\([^()]*\)))?", re.ASCII)
SPACES = re.compile(r"[^\S\u00a0]+")
"""All spaces except no-break spaces."""
SCHEME = re.compile(r"https?://", re.IGNORECASE)
OPTION = re.compile(r"((?<!\S)--?[A-Za-z][\w-]*)", re.ASCII)
LONG_WORD = re.compile(r"\S{20,}")
PLACES_TO_BREAK = re.compile(r"(?:[/@:_=+-]|\.(?![A-Za-z]{1,4}\b))+(?=\w)|[A-Za-z0-9]{16}(?=[A-Za-z0-9]{4})")
"""After a separator, but not before a file name's suffix; without separators, every 16 characters."""
BREAK = "\N{ZERO WIDTH SPACE}"
NO_BREAK = "\N{NO-BREAK SPACE}"
CODE = re.compile("`([^`]+)`")
"""Code in a text for people, as a terminal shows it."""
ESCAPED_CODE = re.compile("&#96;((?:(?!&#96;).)+)&#96;")
BETWEEN = f"{NO_BREAK}· "
"""Between the parts of a name: a line may end with the dot but not begin with it."""
REMEMBERED = 1 << 14
"""Size of the caches of escaped values: both languages have the same values, and tables repeat them."""


@dataclass(frozen=True)
class RepositoryFile:
    """A file in a repository on GitHub."""

    address: str
    name: str
    label: str
    """How the source names it: repository, commit and path."""
    note: str


@lru_cache(maxsize=REMEMBERED, typed=True)
def text(value: object) -> str:
    """Escape ``value`` as inline text on one line, without active Markdown or HTML."""
    line = SPACES.sub(" ", _printable(str(value))).strip(" ")
    return OPENS_BLOCK.sub(lambda match: f"&#{ord(match[0][0])};{match[0][1:]}", SPECIAL.sub(_reference, line))


def prose(value: str) -> str:
    """Escape a text for people like ``text``, but set what stands in backticks as code."""
    return ESCAPED_CODE.sub(r"<code>\1</code>", text(value))


def unmarked(value: str) -> str:
    """Return a text for people as it stands in a tooltip, where code cannot be set as such."""
    return CODE.sub(r"\1", value)


def unbroken(value: str) -> str:
    """Return plain text without line breaks within ``4 × 8`` and before the dot between parts."""
    return value.replace(" × ", f"{NO_BREAK}×{NO_BREAK}").replace(" · ", BETWEEN)


def unbreakable(value: str) -> str:
    """Return plain text without any line break, as for a number with its unit."""
    return value.replace(" ", NO_BREAK)


def pieces(value: str) -> list[str]:
    """Cut text where long words, such as image names and hashes, may wrap."""
    return LONG_WORD.sub(lambda word: PLACES_TO_BREAK.sub(rf"\g<0>{BREAK}", word[0]), value).split(BREAK)


def web_address(value: str) -> str:
    """Return a web address with everything quoted that may not be part of one; empty for other text."""
    if not SCHEME.match(value) or re.search(r"\s", value):
        return ""
    return quote(value, safe=":/?#[]@!$&()*+,;=%~")


def repository_file(value: str) -> RepositoryFile | None:
    """Read ``owner/repository@commit:path``, with a note in brackets after the path or without."""
    match = SOURCE.fullmatch(value)
    if match is None:
        return None
    repository, commit, path, note = match.groups(default="")
    address = f"https://github.com/{repository}/blob/{commit}/{quote(path)}"
    return RepositoryFile(address, path.rstrip("/").rpartition("/")[2], value.removesuffix(note).rstrip(), note)


def options(value: str) -> list[tuple[str, bool]]:
    """Cut preformatted text into pieces that are a command-line option, and those that are not."""
    return [(piece, bool(place % 2)) for place, piece in enumerate(OPTION.split(preformatted(value)))]


@lru_cache(maxsize=REMEMBERED)
def attribute(value: str) -> str:
    """Escape ``value`` for an HTML attribute or an element within a line of HTML."""
    return re.sub(r"[`~]", _reference, html.escape(" ".join(_printable(value).split())))


def quoted(title: str) -> str:
    """Quote a title for YAML, HTML-escaped because templates of the theme print it raw."""
    return json.dumps(html.escape(" ".join(_printable(title).split())), ensure_ascii=False)


@lru_cache(maxsize=REMEMBERED)
def preformatted(value: str) -> str:
    """Escape lines of text for ``<pre>``: HTML, and fences and tabs too, which Markdown parses before HTML."""
    lines = _printable(value.replace("\r\n", "\n")).strip("\n")
    return re.sub(r"[`~\t\r]", _reference, html.escape(lines, quote=False))


def _printable(value: str) -> str:
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", value)


def _reference(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"

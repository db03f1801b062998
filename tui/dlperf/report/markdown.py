"""Escape data so that browsers show it as text and never as Markdown or HTML.

Values within a line have every special character of Markdown and HTML replaced by a numeric character reference.
Longer texts (scripts, log lines) are in ``<pre>``, where HTML escaping suffices.
"""

from __future__ import annotations

import html
import json
import re
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
OPTION = re.compile(r"(?<!\S)--?[A-Za-z][\w-]*", re.ASCII)
LONG_WORD = re.compile(r"\S{20,}")
PLACES_TO_BREAK = re.compile(r"(?:[/@:_=+-]|\.(?![A-Za-z]{1,4}\b))+(?=\w)|[A-Za-z0-9]{16}(?=[A-Za-z0-9]{4})")
"""After a separator, but not before a file name's suffix; without separators, every 16 characters."""
BREAK = "\N{ZERO WIDTH SPACE}"
NO_BREAK = "\N{NO-BREAK SPACE}"
BETWEEN = f"{NO_BREAK}· "
"""Between the parts of a name: a line may end with the dot but not begin with it."""
REMEMBERED = 1 << 14
"""Size of the caches of escaped values: both languages have the same values, and tables repeat them."""


@lru_cache(maxsize=REMEMBERED, typed=True)
def text(value: object) -> str:
    """Escape ``value`` as inline text on one line, without active Markdown or HTML."""
    line = SPACES.sub(" ", _printable(str(value))).strip(" ")
    return OPENS_BLOCK.sub(lambda match: f"&#{ord(match[0][0])};{match[0][1:]}", SPECIAL.sub(_reference, line))


def unbroken(value: str) -> str:
    """Return plain text without line breaks within ``4 × 8`` and before the dot between parts."""
    return value.replace(" × ", f"{NO_BREAK}×{NO_BREAK}").replace(" · ", BETWEEN)


def breakable(value: str) -> str:
    """Escape as ``text`` and let long words, such as image names and hashes, wrap."""
    marked = LONG_WORD.sub(lambda word: PLACES_TO_BREAK.sub(rf"\g<0>{BREAK}", word[0]), value)
    return text(marked).replace(BREAK, "<wbr>")


def web_link(value: str) -> str:
    """Return a web address as a link to itself, and other text escaped."""
    if not SCHEME.match(value) or re.search(r"\s", value):
        return breakable(value)
    return f'<a href="{html.escape(quote(value, safe=":/?#[]@!$&()*+,;=%~"))}">{breakable(value)}</a>'


def source_link(value: str, brief: bool = False) -> str:
    """Return ``owner/repository@commit:path`` as a link to the file on GitHub, and other text as ``web_link``.

    A note in brackets after the path follows the link.

    Args:
        brief: label the link with the file's name and put the full text in its tooltip.
    """
    match = SOURCE.fullmatch(value)
    if match is None:
        return web_link(value)
    repository, commit, path, note = match.groups(default="")
    label = breakable(path.rstrip("/").rpartition("/")[2] if brief else value.removesuffix(note).rstrip())
    title = f' title="{attribute(value)}"' if brief else ""
    address = f"https://github.com/{repository}/blob/{commit}/{html.escape(quote(path))}"
    return f'<a href="{address}"{title}>{label}</a>' + (f" {text(note)}" if note else "")


def block(value: str, *, lines: bool = False) -> str:
    """Return preformatted text in which long lines wrap, but not within a command-line option.

    Args:
        lines: do not wrap lines, because their columns must stay aligned.
    """
    if lines:
        return f'<pre class="lines" lang="en"><code>{_pre(value)}</code></pre>'
    return f'<pre lang="en"><code>{OPTION.sub(_unbroken, _pre(value))}</code></pre>'


def _unbroken(match: re.Match[str]) -> str:
    return f'<span class="option">{match[0]}</span>'


@lru_cache(maxsize=REMEMBERED)
def attribute(value: str) -> str:
    """Escape ``value`` for an HTML attribute or an element within a line of HTML."""
    return re.sub(r"[`~]", _reference, html.escape(" ".join(_printable(value).split())))


def quoted(title: str) -> str:
    """Quote a title for YAML, HTML-escaped because templates of the theme print it raw."""
    return json.dumps(html.escape(" ".join(_printable(title).split())), ensure_ascii=False)


@lru_cache(maxsize=REMEMBERED)
def _pre(value: str) -> str:
    """Escape HTML, and fences and tabs too, which Markdown parses before HTML."""
    lines = _printable(value.replace("\r\n", "\n")).strip("\n")
    return re.sub(r"[`~\t\r]", _reference, html.escape(lines, quote=False))


def _printable(value: str) -> str:
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", value)


def _reference(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"

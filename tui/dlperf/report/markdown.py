"""Markdown from data. Whatever is data arrives in the browser as text, never as Markdown and never as HTML.

Values that stand in a line are written with every character that Markdown or HTML could act on as a numeric
character reference; longer texts (scripts, log lines) stand in ``<pre>``, where HTML's own escaping is enough.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from urllib.parse import quote

SPECIAL = re.compile(r"[\\`*_{}\[\]<>#!|~&]")
"""What Python-Markdown, its extensions in mkdocs.yml, or HTML give a meaning to inside a line."""
OPENS_BLOCK = re.compile(r"^(?:[-+=:]|[0-9]+[.)](?= |$))")
"""What opens a list, a heading or a rule at the start of a line."""
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Control characters and lone surrogates: no HTML holds them, and Markdown uses two of them as marks of its own."""
SOURCE = re.compile(r"([\w.-]+/[\w.-]+)@([0-9a-f]{7,40})(?:\([\w./-]+\))?:(\S+)(?: (\([^()]*\)))?", re.ASCII)
SPACES = re.compile(r"[^\S\u00a0]+")
"""All but those that no line is broken at."""
SCHEME = re.compile(r"https?://", re.IGNORECASE)
OPTION = re.compile(r"(?<!\S)--?[A-Za-z][\w-]*", re.ASCII)
LONG_WORD = re.compile(r"\S{20,}")
PLACES_TO_BREAK = re.compile(r"(?:[/@:_=+-]|\.(?![A-Za-z]{1,4}\b))+(?=\w)|[A-Za-z0-9]{16}(?=[A-Za-z0-9]{4})")
"""After what joins parts, not before the ending of a file's name; where there is nothing of the kind, anywhere."""
BREAK = "\N{ZERO WIDTH SPACE}"
NO_BREAK = "\N{NO-BREAK SPACE}"
BETWEEN = f"{NO_BREAK}· "
"""Between the parts of a name: a line ends with the dot and never begins with it."""
REMEMBERED = 1 << 14
"""Values whose escaped form is kept: the pages of both languages have the same ones, and tables repeat them."""


@lru_cache(maxsize=REMEMBERED, typed=True)
def text(value: object) -> str:
    """``value`` as inline text on one line; nothing in it is Markdown or HTML any more."""
    line = SPACES.sub(" ", _printable(str(value))).strip(" ")
    return OPENS_BLOCK.sub(lambda match: f"&#{ord(match[0][0])};{match[0][1:]}", SPECIAL.sub(_reference, line))


@lru_cache(maxsize=REMEMBERED)
def number(value: str) -> str:
    """A number that we formatted: the same as text, but readable in the Markdown file."""
    return re.sub(r"[^0-9.,%+× -]", _reference, value)


def parts(value: str) -> str:
    """As ``text``; a line does not begin with a dot between parts."""
    return text(value.replace(" · ", BETWEEN))


def name(value: str) -> str:
    """As ``text``; no line is broken within ``4 × 8``, or before the dot between two parts."""
    return text(unbroken(value))


def unbroken(value: str) -> str:
    """Plain text in which no line is broken within ``4 × 8``, or before the dot between two parts."""
    return value.replace(" × ", f"{NO_BREAK}×{NO_BREAK}").replace(" · ", BETWEEN)


def breakable(value: str) -> str:
    """As ``text``; a long word, such as the name of an image or a hash, may go on in the next line."""
    marked = LONG_WORD.sub(lambda word: PLACES_TO_BREAK.sub(rf"\g<0>{BREAK}", word[0]), value)
    return text(marked).replace(BREAK, "<wbr>")


def code(value: object) -> str:
    """``value`` in a fixed-width font, inside a line."""
    return f"<code>{text(value)}</code>"


def link(label: str, target: str) -> str:
    """A link to another page of the site; ``label`` is Markdown already, ``target`` a relative path with an anchor."""
    return f"[{label}]({_quoted(target)})"


@lru_cache(maxsize=REMEMBERED)
def _quoted(target: str) -> str:
    path, _, anchor = target.partition("#")
    return quote(path) + (f"#{quote(anchor)}" if anchor else "")


def raw_link(label: str, target: str, download: str | None = None) -> str:
    """A link to a file that is no page: a log, a table of data."""
    called = f' download="{attribute(download)}"' if download is not None else ""
    return f'<a href="{html.escape(quote(target))}"{called}>{label}</a>'


def web_link(value: str) -> str:
    """Text that links to itself where it is a web address, and only there."""
    if not SCHEME.match(value) or re.search(r"\s", value):
        return breakable(value)
    return f'<a href="{html.escape(quote(value, safe=":/?#[]@!$&()*+,;=%~"))}">{breakable(value)}</a>'


def source_link(value: str, brief: bool = False) -> str:
    """``owner/repository@commit:path``, and a note in brackets if there is one, as a link to that file on GitHub; any
    other text as ``web_link``.

    Args:
        brief: the link is called like the file alone; the rest stands in its title.
    """
    match = SOURCE.fullmatch(value)
    if match is None:
        return web_link(value)
    repository, commit, path, note = match.groups(default="")
    label = breakable(path.rstrip("/").rpartition("/")[2] if brief else value.removesuffix(note).rstrip())
    title = f' title="{attribute(value)}"' if brief else ""
    address = f"https://github.com/{repository}/blob/{commit}/{html.escape(quote(path))}"
    return f'<a href="{address}"{title}>{label}</a>' + (f" {text(note)}" if note else "")


def heading(level: int, words: str, anchor: str | None = None, *, searched: bool = True) -> str:
    """``words`` is Markdown already; an anchor does not depend on the language of the words.

    Args:
        searched: what follows, up to the next heading, is found by the site's search. Tables of figures are not: every
            page loads the index, and figures are found in the explorer.
    """
    marks = [f"#{anchor}"] * (anchor is not None) + ["data-search-exclude=true"] * (not searched)
    return f"{'#' * level} {words}" + (f" {{ {' '.join(marks)} }}" if marks else "")


def paragraphs(*parts: str) -> str:
    """The parts that say something, with an empty line between them."""
    return "\n\n".join(part for part in parts if part)


def bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def facts(header: tuple[str, str], rows: Iterable[tuple[str, str]]) -> str:
    """A table of names and values, those without a value left out; nothing where none has one."""
    body = [row for row in rows if row[1]]
    return "\n".join(map(_row, (header, ("---", "---"), *body))) if body else ""


def block(value: str, *, lines: bool = False) -> str:
    """Text as it is, line by line, in a fixed-width font. A long line goes on in the next one, not inside an option.

    Args:
        lines: no line is broken, however long it is: what stands under each other belongs together.
    """
    if lines:
        return f'<pre class="lines" lang="en"><code>{_pre(value)}</code></pre>'
    return f'<pre lang="en"><code>{OPTION.sub(_unbroken, _pre(value))}</code></pre>'


def _unbroken(match: re.Match[str]) -> str:
    return f'<span class="option">{match[0]}</span>'


def details(summary: str, value: str) -> str:
    """A block that is folded away under its summary."""
    return f'<details class="note"><summary>{text(summary)}</summary>\n{block(value, lines=True)}\n</details>'


@lru_cache(maxsize=REMEMBERED)
def attribute(value: str) -> str:
    """``value`` inside an attribute or an element of a line of HTML: quotes, tags and marks of Markdown are text."""
    return re.sub(r"[`~]", _reference, html.escape(" ".join(_printable(value).split())))


def front_matter(title: str, *, in_search: bool, wide: bool) -> str:
    """Title and search of a page. Templates print the title as it is: it is HTML-escaped here."""
    lines = ["---", f"title: {json.dumps(html.escape(' '.join(_printable(title).split())), ensure_ascii=False)}"]
    if not in_search:
        lines += ["search:", "  exclude: true"]
    if wide:
        lines += ["hide:", "  - toc"]
    return "\n".join([*lines, "---"])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


@lru_cache(maxsize=REMEMBERED)
def _pre(value: str) -> str:
    """HTML-escaped; fences and tabs as references too, since Markdown looks for them before it looks for HTML."""
    lines = _printable(value.replace("\r\n", "\n")).strip("\n")
    return re.sub(r"[`~\t\r]", _reference, html.escape(lines, quote=False))


def _printable(value: str) -> str:
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", value)


def _reference(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"

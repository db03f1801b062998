"""HTML from data, for what stands on a page once for each configuration: Markdown reads every character, and passes a
block of HTML on as it is. Labels and cells are text that is escaped already, as ``markdown.text`` gives it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from dlperf.report import markdown as md

TAG = re.compile(r"<[^>]*>")


def link(label: str, address: str) -> str:
    return f'<a href="{escape(address)}">{label}</a>'


def strong(label: str) -> str:
    return f"<strong>{label}</strong>"


def paragraph(words: str) -> str:
    return f"<p>{words}</p>" if words else ""


def bullets(items: Iterable[str]) -> str:
    listed = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{listed}</ul>" if listed else ""


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    words: Sequence[int] = (),
    placed: Mapping[int, str] | None = None,
) -> str:
    """A table of figures. Empty columns are left out.

    Args:
        words: columns of words, which are set to the left.
        placed: in a list (``listing``), the columns that have a place of their own in the block of a row on a
            telephone: ``value``, or ``aside`` below it. Other numbers stand behind the names of their columns there.
    """
    shown = [column for column in range(len(header)) if any(row[column] for row in rows)]
    if not shown:
        return ""
    classes = {column: ' class="words"' if column in words else "" for column in shown}
    told = {column: classes[column] + _for_blocks(header[column], column, words, placed) for column in shown}
    head = "".join(f"<th{classes[column]}>{header[column]}</th>" for column in shown)
    body = "\n".join(f"<tr>{''.join(f'<td{told[column]}>{row[column]}</td>' for column in shown)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def listing(table: str) -> str:
    """A table whose rows are things of a kind: on a telephone each is a block, and nothing is moved sideways."""
    return block("evidence rows", table)


def _for_blocks(name: str, column: int, words: Sequence[int], placed: Mapping[int, str] | None) -> str:
    if placed is None or (column in words and column not in placed):
        return ""
    return f' data-place="{placed[column]}"' if column in placed else f' data-label="{TAG.sub("", name)}"'


def constant(rows: Sequence[Sequence[str]], columns: Iterable[int]) -> list[int]:
    """Those of the columns that hold the same in each of several rows."""
    return [column for column in columns if len(rows) > 1 and len({row[column] for row in rows}) == 1]


def block(class_: str, *parts: str) -> str:
    """The parts that say something, as one block that Markdown does not look into."""
    told = "\n".join(part for part in parts if part)
    return f'<div class="{class_}">\n{told}\n</div>' if told else ""


def picture(address: str, shape: tuple[float, float], caption: str, data: dict[str, str]) -> str:
    """A chart that lies in a file of its own, loaded when it comes into view.

    Args:
        data: for scripts: names and values of ``data-`` attributes.
    """
    told = "".join(f' data-{name}="{md.attribute(value)}"' for name, value in data.items())
    width, height = (f"{side:g}" for side in shape)
    image = f'<img loading="lazy" width="{width}" height="{height}" src="{escape(address)}" alt="{caption}">'
    return f'<figure class="chart"{told}>{image}<figcaption>{caption}</figcaption></figure>'

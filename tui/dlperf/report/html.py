"""HTML for content that repeats for each configuration, because Markdown parses slowly and copies HTML blocks.

Labels and cells must be escaped, as by ``markdown.text``.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from dlperf.report import markdown as md
from dlperf.report.templating import Safe


def link(label: str, address: str) -> str:
    return f'<a href="{escape(address)}">{label}</a>'


def strong(label: str) -> str:
    return f"<strong>{label}</strong>"


def paragraph(words: str) -> str:
    return f"<p>{words}</p>" if words else ""


def bullets(items: Iterable[str]) -> str:
    listed = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{listed}</ul>" if listed else ""


def time(value: str) -> Safe:
    return Safe(f"<time>{md.text(value)}</time>" if value else "")


def block(class_: str, *parts: str) -> str:
    """Wrap the parts that are not empty in one element whose content Markdown does not parse."""
    body = "\n".join(filter(None, parts))
    return f'<div class="{class_}">\n{body}\n</div>' if body else ""


def picture(address: str, shape: tuple[float, float], caption: str, data: dict[str, str]) -> str:
    """Return a chart stored in a file of its own that the browser loads when it scrolls into view.

    Args:
        data: ``data-`` attributes for scripts, by name.
    """
    attributes = "".join(f' data-{name}="{md.attribute(value)}"' for name, value in data.items())
    width, height = (f"{side:g}" for side in shape)
    image = f'<img loading="lazy" width="{width}" height="{height}" src="{escape(address)}" alt="{caption}">'
    return f'<figure class="chart"{attributes}>{image}<figcaption>{caption}</figcaption></figure>'

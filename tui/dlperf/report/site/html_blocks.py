"""A Markdown extension for pages that are mostly HTML.

To find the end of a block of HTML, Markdown parses all its tags; MkDocs does so once more to find the ids that links
may name. That was half the time of a build; searching for the closing tag takes a fraction of it.
"""

import re

from markdown import Extension, Markdown

OPENING = re.compile(r"^<(div|table|details)\b", re.MULTILINE)
LEFT_TO_OTHERS = re.compile(r"\s(?:id=|name=|markdown\b)")
"""In blocks that MkDocs reads for link targets, or ``md_in_html`` for Markdown."""
PRIORITY = 22
"""After fenced code, whose lines may begin like a block, and before MkDocs reads the tags."""


class HtmlBlocks(Extension):  # type: ignore[misc]
    """Replace blocks of HTML by placeholders."""

    def extendMarkdown(self, md: Markdown) -> None:
        self.store = md.htmlStash.store
        md.preprocessors.register(self, "html_blocks", PRIORITY)

    def run(self, lines: list[str]) -> list[str]:
        text = "\n".join(lines)
        parts = []
        done = 0
        while opening := OPENING.search(text, done):
            end = _end(text, opening)
            block = text[opening.start() : end]
            kept = block if LEFT_TO_OTHERS.search(block) else f"\n{self.store(block)}\n\n"
            parts += [text[done : opening.start()], kept]
            done = end
        return "".join([*parts, text[done:]]).split("\n")


def _end(text: str, opening: re.Match[str]) -> int:
    """Return where the closing tag of a block ends, or the end of the text if it lacks one."""
    depth = 0
    for tag in re.compile(rf"<(/?){opening[1]}\b[^>]*>").finditer(text, opening.start()):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return tag.end()
    return len(text)


def makeExtension() -> HtmlBlocks:
    return HtmlBlocks()

"""The index of the site's search, which every page loads: MkDocs makes it, here it becomes small and Chinese."""

from __future__ import annotations

import json
import re
from pathlib import Path

from dlperf.report.words.searched import WORDS

INDEX = "search/search_index.json"
SCRIPT = "search/search_index.js"
"""The same for pages that are opened from a folder."""
CUT = "\N{ZERO WIDTH SPACE}"
"""What the search takes for the end of a word, and nobody sees."""
WORD = re.compile("|".join(sorted(WORDS, key=lambda word: (-len(word), word))))
"""The longest that stands at a place."""
NEEDLESS = re.compile(f"(?<![\u4e00-\u9fff]){CUT}|{CUT}(?![\u4e00-\u9fff])")
"""Cuts where a run of Chinese characters begins or ends anyway."""


def mend_index(site: Path) -> None:
    """Write the index of one language in UTF-8, where MkDocs writes six letters for each Chinese character, and cut it
    into Chinese words."""
    index = site / INDEX
    if not index.is_file():
        return
    told = json.loads(index.read_bytes())
    for document in told["docs"]:
        document |= {part: in_words(document[part]) for part in ("title", "text")}
    written = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    index.write_text(written, "utf-8")
    if (site / SCRIPT).is_file():
        (site / SCRIPT).write_text(f"var __index = {written}", "utf-8")


def in_words(text: str) -> str:
    """``text`` with a cut before and behind each word that stands inside a run of Chinese characters."""
    cut = WORD.sub(rf"{CUT}\g<0>{CUT}", text)
    return NEEDLESS.sub("", cut.replace(CUT * 2, CUT))

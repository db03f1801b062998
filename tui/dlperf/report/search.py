"""The index of the site's search, which every page loads: MkDocs makes it, here it becomes small and Chinese."""

from __future__ import annotations

import json
import re
from pathlib import Path

from dlperf.report.chinese_words import WORDS

INDEX = "search/search_index.json"
SCRIPT = "search/search_index.js"
"""The same for pages that are opened from a folder."""
CUT = "\N{ZERO WIDTH SPACE}"
"""What the search takes for the end of a word, and nobody sees."""
WORD = re.compile("|".join(sorted(WORDS, key=lambda word: (-len(word), word))))
"""The longest that stands at a place."""
NEEDLESS = re.compile(f"(?<![\u4e00-\u9fff]){CUT}|{CUT}(?![\u4e00-\u9fff])")
"""Cuts where a run of Chinese characters begins or ends anyway."""
JOINER = "\N{WORD JOINER}"
"""Makes another word of what it ends, and nobody sees it."""
BEGINNINGS = {word[:length] for word in WORDS for length in range(1, len(word))}
END = rf"[\s{CUT}\-、。，．？！；<>]"
"""What the search takes for the end of a word in a Chinese text, and tags."""
BEGINNING_ALONE = re.compile(f"(?:(?<=^)|(?<={END}))(?:{'|'.join(sorted(BEGINNINGS))})(?=$|{END})")
"""Where the index holds the beginning of a listed word, Material looks for that alone when the whole word is typed."""


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
    """``text`` with a cut before and behind each word that stands inside a run of Chinese characters, and no beginning
    of such a word as a word of its own."""
    cut = NEEDLESS.sub("", WORD.sub(rf"{CUT}\g<0>{CUT}", text).replace(CUT * 2, CUT))
    return BEGINNING_ALONE.sub(rf"\g<0>{JOINER}", cut)

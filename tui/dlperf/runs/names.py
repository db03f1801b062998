"""Names of files and folders under ``runs/``, and the texts that they stand for."""

import re
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, unquote

LONGEST_CAMPAIGN, LONGEST_FOLDER = 120, 200
"""Characters of a campaign's name, and bytes of its folder: those that move it add a time to that."""
_SAFE = " !#$&'()+,;=@[]~"
"""What file names hold unchanged, besides letters, digits and ``_.-``."""
REPLACED = ".replaced-"
"""In the name of a log's earlier content, before the number of the part."""


@lru_cache(maxsize=1 << 12)
def file_name(text: str) -> str:
    """``text`` as one path component: percent-encoded where needed, never ``.`` or ``..``, never empty."""
    return _not_dots(quote(text, safe=_SAFE))


def _not_dots(name: str) -> str:
    return name.replace(".", "%2E") if name.strip(".") == "" else name


def folder_name(text: str) -> str:
    """``text`` as the folder of a campaign: as ``file_name``, but letters of every script stay as they are."""
    return _not_dots("".join(char if char.isalnum() else quote(char, safe=_SAFE) for char in text))


def is_folder_name(name: str) -> bool:
    """Whether ``folder_name`` gives this name: of two folders of one campaign, others would show the wrong one."""
    try:
        return folder_name(text_of(name)) == name
    except UnicodeEncodeError:
        return False


def text_of(name: str) -> str:
    """The text that ``file_name`` encoded."""
    return unquote(name)


def replaced_log(path: Path, number: int) -> Path:
    """Where the content of a log goes that was truncated or replaced on its node."""
    return path.with_name(f"{path.name}{REPLACED}{number}")


def natural_order(path: Path) -> list[tuple[int, str]]:
    """Orders ``worker.10`` after ``worker.9``."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]+)", str(path))]

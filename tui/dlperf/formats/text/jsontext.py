"""Parse JSON that a program printed."""

from __future__ import annotations

import json
from typing import Any


def parse_object(line: bytes) -> dict[str, Any] | None:
    """Return the object that a text begins with, None where it is cut off, no object or not valid Unicode."""
    text = line.decode("utf-8", "replace")
    try:
        found, _ = json.JSONDecoder().raw_decode(text)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None

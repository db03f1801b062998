"""Format numbers as screens, pages, commands and messages all show them."""

import math
from functools import lru_cache


@lru_cache(maxsize=1 << 14)
def four_digits(value: float, aligned: bool = False) -> str:
    """Format a number with thousands separators and four significant digits; integer digits are never rounded.

    Args:
        aligned: keep zeros at the end, for columns of equal digits.
    """
    if not math.isfinite(value) or (value and abs(value) < 0.001):
        return f"{value:.4g}"
    digits = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 0
    text = f"{value:,.{digits}f}"
    return text if aligned or "." not in text else text.rstrip("0").rstrip(".")


def to_digits(value: float, digits: int) -> str:
    """Format a positive number with that many significant digits, zeros at the end included; four at most."""
    return f"{value:,.{max(0, min(digits, 4) - 1 - math.floor(math.log10(value)))}f}"


def percent(ratio: float, digits: int = 1) -> str:
    """Format a ratio as ``1.3 %``; a value that rounds to zero has no sign."""
    return f"{ratio * 100:z.{digits}f} %"


def change(ratio: float) -> str:
    """Format a relative difference in percent, with its sign unless it rounds to zero."""
    text = percent(ratio)
    return text if text.startswith(("-", "0.0 ")) else f"+{text}"


def spread(ratio: float) -> str:
    """Format a spread in percent, below 0.05 % with two decimals because trials never agree exactly."""
    return percent(ratio, 2 if ratio < 0.0005 else 1)

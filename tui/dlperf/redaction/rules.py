"""Rules for what is a secret: names of variables and options, randomness of values, shapes of tokens."""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

KEYWORDS = (
    r"passw(?:or)?d|passphrase|(?:db|key|user|ssh|smtp|docker|registry)[_-]?pass|[_-]pwd|secret|credentials?|token|"
    r"connection[_-]?string|(?:api|app|access|account|auth|client|db|encryption|kaggle|license|priv|private|secret|"
    r"service|signing)[_-]?key"
)
"""Ends of secret names; mostly those of the keyword plugin of detect-secrets."""
VARIABLE = re.compile(r"(?:(?<!BY)(?<!COM)PASS|_PW|(?:^|_)(?:AUTH|COOKIES?|PIN)|[A-Z0-9]_KEY)(?:_?[0-9]{1,2})?$")
"""Further names of secret variables, which are in capitals: in options and logs these words have other meanings."""
PASSWORD = re.compile(r"pass|pwd|secret|credential", re.IGNORECASE)
NAME = re.compile(rf"(?:{KEYWORDS})(?:_[0-9]{{1,2}})?$", re.IGNORECASE)
VALUE = r"""[^\s"'`<>,;\\]{4,200}"""
ASSIGNMENT = (
    rf"""(?i)((?:[a-z0-9_.-]{{0,40}})(?:{KEYWORDS}))["']? {{0,2}}[=:] {{0,2}}["']?({VALUE})|"""
    rf"""--([a-z0-9_-]{{0,40}}(?:{KEYWORDS}))["']?,? {{1,2}}["']?({VALUE})"""
)
"""``name=value``, ``"name": "value"`` and ``--name value`` in any text."""
HARMLESS = re.compile(
    r"(?i)(?:true|false|none|null|nil|yes|no|on|off|auto|unset|default|-?[0-9.]+(?:e[+-]?[0-9]+)?|"
    r"(?:/[\w.{}-]+){2,}/?|[\[<{(*].*|\$.*|%.*|-.*)"
)
"""Values that are no secret under any name: words, numbers, paths, references to variables, marks of tokenizers."""
URL = "password-in-url"
"""Kind of token that is replaced only where it stands, because it may be a word."""
RANDOM = re.compile(r"[A-Za-z0-9+=]{20,200}")
RANDOM_BITS = 4.0
"""Shannon entropy per character, above which a value of a catalogue looks random. Hexadecimal hashes have at most 4."""
RANDOM_CHANGES = 0.45
"""Changes per character between capitals, small letters and digits, which words have less often."""
Accept = Callable[[str, str, bool], bool]
TOKEN_LENGTH, TOKEN_BITS = 16, 3.0
"""Of the value of a name that ends in ``token`` or ``key`` in a log, where these words are common."""


def is_secret_name(name: str) -> bool:
    """Whether the value of a variable or option of this name is a secret."""
    known = NAME.search(name) or VARIABLE.search(name)
    return known is not None and name.upper() not in ("PWD", "OLDPWD")


def is_secret_value(name: str, value: str) -> bool:
    """Whether a value that a catalogue gives to a variable or option is a secret."""
    if HARMLESS.fullmatch(value):
        numeric = PASSWORD.search(name) or VARIABLE.search(name)
        return bool(numeric) and is_secret_name(name) and value.isdecimal() and len(value) > 3
    return is_secret_name(name) if len(value) > 3 else False


def looks_random(value: str) -> bool:
    """Whether a value without a telling name looks like a token."""
    mixed = all(re.search(kind, value) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
    changes = len(re.findall("[a-z](?![a-z])|[A-Z](?![A-Z])|[0-9](?![0-9])", value))
    words = changes < len(value) * RANDOM_CHANGES
    return mixed and not words and RANDOM.fullmatch(value) is not None and entropy(value) > RANDOM_BITS


def is_secret_in_text(name: str, value: str, assigned: bool) -> bool:
    """Whether a log or page shows a secret; stricter than for a catalogue.

    Args:
        assigned: there is a ``=`` and not a colon, which may end a question of ssh.
    """
    if HARMLESS.fullmatch(value):
        return bool(PASSWORD.search(name)) and value.isdecimal()
    if PASSWORD.search(name):
        return assigned or re.search("[0-9]", value) is not None
    return len(value) >= TOKEN_LENGTH and re.search("[0-9]", value) is not None and entropy(value) >= TOKEN_BITS


def entropy(value: str) -> float:
    """Return Shannon's entropy in bits per character."""
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values())


def secrets_in(data: bytes, accept: Accept | None = None) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of everything in a text that looks like a secret.

    Args:
        accept: takes name, value and whether there is a ``=``; ``is_secret_in_text`` if None.
    """
    accept = accept or is_secret_in_text
    for match in compiled("|".join(_sources().values())).finditer(data):
        kind = next(name for name, pattern in _patterns().items() if (found := pattern.fullmatch(match[0])))
        value = _text(next(filter(None, found.groups()), found[0]))
        if not HARMLESS.fullmatch(value):
            yield kind, value
    for match in compiled(ASSIGNMENT).finditer(data):
        name, value = (_text(part) for part in match.groups() if part is not None)
        value = value.rstrip(").]}&|:")
        if accept(name, value, b"=" in match[0]):
            yield name.lstrip("-."), value


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


@cache
def _patterns() -> dict[str, Any]:
    """Return the expression of each kind of token."""
    return {name: compiled(pattern) for name, pattern in _sources().items()}


@cache
def _sources() -> dict[str, str]:
    sources = tomllib.loads((Path(__file__).parent / "tokens.toml").read_text("utf-8"))
    return {name: f"(?:{pattern})" for name, pattern in sources.items()}


@cache
def compiled(pattern: str) -> Any:
    """Return an expression for bytes whose time is linear in the length of the text."""
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(pattern.encode(), options)

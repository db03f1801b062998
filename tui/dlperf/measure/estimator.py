"""What an estimator is: a named rule with arguments, and its canonical text."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from dlperf.catalog.patterns import BY_TIME
from dlperf.errors import RequestError
from dlperf.measure.estimate import Estimate
from dlperf.measure.reading import NotEstimable, Reading
from dlperf.messages import message

Rule = Callable[..., Estimate]

ESTIMATORS: dict[str, Rule] = {}
"""Every estimator by its name."""

_CALL = re.compile(r"\s*([a-z_]+)\s*(?:\(([^()]*)\))?\s*")
_NUMBER = re.compile(r"[0-9]{1,9}")
_AT_LEAST_ONE = ("n", "take")


@dataclass(frozen=True)
class Estimator:
    """A named rule with its arguments."""

    name: str
    arguments: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        required = _required(self.name)
        words = [str(value) if name in required else f"{name}={value}" for name, value in self.arguments]
        return f"{self.name}({', '.join(words)})"

    @property
    def from_timestamps(self) -> bool:
        """The figure is samples over time, not a mean of printed figures."""
        return self.name in BY_TIME

    def __call__(self, reading: Reading) -> Estimate:
        """What the rule gives; a rule that was applied to this reading before is not applied again."""
        if self not in reading.estimates:
            reading.estimates[self] = ESTIMATORS[self.name](reading, **dict(self.arguments))
        return reading.estimates[self]


def estimator(rule: Rule) -> Rule:
    """Register a rule. Its arguments without a default are written bare, the others by name."""
    ESTIMATORS[rule.__name__] = rule
    return rule


def parse_estimator(text: str) -> Estimator:
    """``skipmean(10)`` or ``rate(skip=20, take=100)`` as an estimator.

    Raises:
        RequestError: an unknown name, or arguments that the estimator does not take.
    """
    match = _CALL.fullmatch(text)
    if match is None or match[1] not in ESTIMATORS:
        raise RequestError(f"estimator {text!r} is unknown: choose {', '.join(map(signature, ESTIMATORS))}")
    words = [word.strip() for word in (match[2] or "").split(",") if word.strip()]
    try:
        return Estimator(match[1], _bind(match[1], words))
    except (TypeError, ValueError) as error:
        raise RequestError(f"estimator {text!r}: {error}; write {signature(match[1])} with whole numbers") from error


def signature(name: str) -> str:
    """How an estimator is written, with the names of its arguments."""
    required = _required(name)
    return f"{name}({', '.join(key if key in required else f'{key}=…' for key in _parameters(name))})"


def apply(reading: Reading, rule: Estimator | str) -> Estimate:
    """``estimate`` for a reading at hand."""
    rule = parse_estimator(rule) if isinstance(rule, str) else rule
    result = rule(reading)
    if not isfinite(result.value) or result.value <= 0:
        raise NotEstimable(message("no_speed", rule=str(rule), value=str(result.value)))
    return result


def _parameters(name: str) -> dict[str, inspect.Parameter]:
    """The arguments of an estimator, in order; the reading comes before them."""
    return dict(list(inspect.signature(ESTIMATORS[name]).parameters.items())[1:])


def _required(name: str) -> list[str]:
    return [key for key, parameter in _parameters(name).items() if parameter.default is inspect.Parameter.empty]


def _bind(name: str, words: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Arguments by name, in the estimator's order; each may be written bare or as ``name=value``."""
    bare = [_number(word) for word in words if "=" not in word]
    named: dict[str, int] = {}
    for key, value in (map(str.strip, word.split("=", 1)) for word in words if "=" in word):
        if key in named:
            raise ValueError(f"{key} is given twice")
        named[key] = _number(value)
    bound = inspect.Signature(list(_parameters(name).values())).bind(*bare, **named)
    bound.apply_defaults()
    arguments = {key: value for key, value in bound.arguments.items() if value is not None}
    _check(arguments)
    return tuple(arguments.items())


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text.strip()):
        raise ValueError(f"{text.strip()!r} is no whole number")
    return int(text)


def _check(arguments: dict[str, int]) -> None:
    for key in _AT_LEAST_ONE:
        if arguments.get(key) == 0:
            raise ValueError(f"{key} must be at least 1")
    if "b" in arguments and arguments["b"] <= arguments["a"]:
        raise ValueError("b must be more than a")

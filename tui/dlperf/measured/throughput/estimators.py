"""Estimators: ``skipmean(10)`` names a rule, with arguments, that turns the samples of a run into one throughput."""

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from dlperf.catalog import plugins
from dlperf.catalog.patterns import BY_TIME
from dlperf.catalog.plugins import installed, load_plugin
from dlperf.errors import RequestError
from dlperf.evidence.columns import MOST
from dlperf.measured.throughput.reading import Estimate, NotEstimable, Reading
from dlperf.measured.throughput.rules import ESTIMATORS, Rule
from dlperf.messages import message

CONTINUED = "continued_rate"
"""Note of a run that continues a checkpoint, and whose only rate counts what was done before."""
_CALL = re.compile(r"\s*([a-z_]+)\s*(?:\(([^()]*)\))?\s*")
_NUMBER = re.compile(r"[0-9]{1,9}")
_AT_LEAST_ONE = ("n", "take")


@dataclass(frozen=True)
class Estimator:
    """A rule's name with arguments."""

    name: str
    arguments: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        required = _required(self.name)
        words = [str(value) if name in required else f"{name}={value}" for name, value in self.arguments]
        return f"{self.name}({', '.join(words)})"

    @property
    def from_timestamps(self) -> bool:
        """Whether it divides samples by time instead of averaging printed values."""
        return self.name in BY_TIME

    def __call__(self, reading: Reading) -> Estimate:
        """Apply the rule, or return the result of an earlier application to this reading."""
        if self not in reading.estimates:
            reading.estimates[self] = _rule(self.name)(reading, **dict(self.arguments))
        return reading.estimates[self]


def estimate(reading: Reading, rule: Estimator | str) -> Estimate:
    """Return the throughput of all GPUs, positive and at most ``MOST``.

    Raises:
        NotEstimable: the run does not give this value; the message is the reason.
        RequestError: ``rule`` is a text that names no estimator.
    """
    rule = parse_estimator(rule) if isinstance(rule, str) else rule
    if reading.run.window == "run" and CONTINUED in reading.run.notes:
        raise NotEstimable(message(CONTINUED))
    result = rule(reading)
    if not 0 < result.value <= MOST:
        raise NotEstimable(message("no_speed", rule=str(rule), value=str(result.value)))
    return result


@lru_cache(maxsize=256)
def parse_estimator(text: str) -> Estimator:
    """Parse ``skipmean(10)`` or ``rate(skip=20, take=100)``.

    Raises:
        RequestError: an unknown name, or arguments that the estimator does not take.
    """
    match = _CALL.fullmatch(text)
    names = {**ESTIMATORS, **installed(plugins.ESTIMATORS)}
    if match is None or match[1] not in names:
        raise RequestError(f"estimator {text!r} is unknown: choose {', '.join(map(signature, names))}")
    words = [word.strip() for word in (match[2] or "").split(",") if word.strip()]
    try:
        return Estimator(match[1], _bind(match[1], words))
    except (TypeError, ValueError) as error:
        raise RequestError(f"estimator {text!r}: {error}; write {signature(match[1])} with whole numbers") from error


def _rule(name: str) -> Rule:
    """Return a rule, built in or of an installed package."""
    return ESTIMATORS[name] if name in ESTIMATORS else load_plugin(plugins.ESTIMATORS, name)


def signature(name: str) -> str:
    """Return how an estimator is written, with the names of its arguments."""
    required = _required(name)
    return f"{name}({', '.join(key if key in required else f'{key}=…' for key in _parameters(name))})"


def _parameters(name: str) -> dict[str, inspect.Parameter]:
    """Return the rule's arguments behind the reading, in order."""
    return _parameters_of(_rule(name))


@cache
def _parameters_of(rule: Rule) -> dict[str, inspect.Parameter]:
    return dict(list(inspect.signature(rule).parameters.items())[1:])


def _required(name: str) -> list[str]:
    return [key for key, parameter in _parameters(name).items() if parameter.default is inspect.Parameter.empty]


def _bind(name: str, words: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Assign arguments, each written bare or as ``name=value``, to the rule's names in their order."""
    bare = [_number(word) for word in words if "=" not in word]
    named: dict[str, int] = {}
    for key, value in (map(str.strip, word.split("=", 1)) for word in words if "=" in word):
        if key in named:
            raise ValueError(f"{key} is given twice")
        named[key] = _number(value)
    bound = inspect.Signature(list(_parameters(name).values())).bind(*bare, **named)
    bound.apply_defaults()
    arguments = {key: value for key, value in bound.arguments.items() if value is not None}
    for key in _AT_LEAST_ONE:
        if arguments.get(key) == 0:
            raise ValueError(f"{key} must be at least 1")
    if "b" in arguments and arguments["b"] <= arguments["a"]:
        raise ValueError("b must be more than a")
    return tuple(arguments.items())


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text.strip()):
        raise ValueError(f"{text.strip()!r} is not a whole number")
    return int(text)

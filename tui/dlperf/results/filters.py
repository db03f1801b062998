"""Which rows a reader wants. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dlperf.catalog.axes import parse_scale
from dlperf.errors import RequestError
from dlperf.results.model import ConfigurationResult, Status


@dataclass(frozen=True)
class Filters:
    """Wanted values of each axis; an empty axis wants them all."""

    campaigns: tuple[str, ...] = ()
    hardware: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()
    batch_sizes: tuple[int, ...] = ()
    scales: tuple[str, ...] = ()
    """``2n8g``."""
    statuses: tuple[str, ...] = ()
    """A status by its code, as ``timed_out``, or by its words, with or without the cause."""

    def wants_campaign(self, name: str) -> bool:
        return not self.campaigns or name in self.campaigns

    def matches(self, row: ConfigurationResult) -> bool:
        axes = (
            (self.campaigns, row.campaign),
            (self.hardware, row.hardware),
            (self.frameworks, row.framework),
            (self.cases, row.case),
            (self.precisions, row.precision),
            (self.batch_sizes, row.batch_size),
            (self.scales, row.scale),
        )
        return all(not wanted or value in wanted for wanted, value in axes) and self._wants_status(row.status)

    def _wants_status(self, status: Status) -> bool:
        return not self.statuses or not {status.code, status.kind(), status.text()}.isdisjoint(self.statuses)


def parse_filters(
    *, batch_sizes: Iterable[str] | None = None, scales: Iterable[str] | None = None, **axes: Iterable[str] | None
) -> Filters:
    """Filters from a command's words: each may hold several values between commas.

    Raises:
        RequestError: a batch size is no number, or a scale no scale.
    """
    words = {axis: tuple(_split(values)) for axis, values in axes.items()}
    return Filters(
        **words,
        batch_sizes=tuple(_number(word) for word in _split(batch_sizes)),
        scales=tuple(_scale(word) for word in _split(scales)),
    )


def _split(values: Iterable[str] | None) -> list[str]:
    return [word.strip() for value in values or () for word in value.split(",") if word.strip()]


def _number(word: str) -> int:
    if not word.isdecimal():
        raise RequestError(f"--batch-size {word!r}: a whole number is wanted")
    return int(word)


def _scale(word: str) -> str:
    try:
        nodes, gpus = parse_scale(word)
    except ValueError as error:
        raise RequestError(f"--gpus: {error}") from error
    return f"{nodes}n{gpus}g"

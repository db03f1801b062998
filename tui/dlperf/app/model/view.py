"""What a table of results shows of all it could: which items, in which order. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from dlperf.app.model.table import Column, Row
from dlperf.results.model import ConfigurationResult

Item = TypeVar("Item")


@dataclass(frozen=True)
class TableView(Generic[Item]):
    """Items of one kind, filtered and sorted."""

    matching: str = ""
    """Words that every item shown must hold."""
    column: int | None = None
    """Sorted by this column; in their own order if None."""
    descending: bool = False

    def items(self) -> Sequence[Item]:
        """All that there are, in their own order."""
        raise NotImplementedError

    def text(self, item: Item) -> str:
        """What an item is found by."""
        raise NotImplementedError

    def key(self, item: Item, column: int) -> object:
        """What a column is sorted by; None where it is missing."""
        raise NotImplementedError

    def columns(self) -> tuple[Column, ...]:
        """The columns of the table."""
        raise NotImplementedError

    def cells(self, item: Item) -> Row:
        """An item as a row."""
        raise NotImplementedError

    def result(self, item: Item) -> ConfigurationResult:
        """The figure that an item is about."""
        raise NotImplementedError

    def about(self, item: Item) -> list[str]:
        """All that is known of an item, its name first."""
        raise NotImplementedError

    def title(self) -> str:
        """What the table holds."""
        raise NotImplementedError

    def summary(self) -> str:
        """What there is to say of all items together."""
        return ""

    def shown(self) -> list[Item]:
        """The items that are wanted, in order; what is missing comes last either way."""
        words = self.matching.lower().split()
        wanted = [item for item in self.items() if all(word in self.text(item).lower() for word in words)]
        column = self.column
        if column is None:
            return wanted
        keys: list[tuple[object, Item]] = [(self.key(item, column), item) for item in wanted]
        known = sorted((pair for pair in keys if pair[0] is not None), key=lambda pair: pair[0])  # type: ignore[arg-type, return-value]
        ordered = known[::-1] if self.descending else known
        return [item for _, item in ordered] + [item for key, item in keys if key is None]

    def sorted_by(self, column: int) -> Self:
        """Sorted by a column; once more turns the order round."""
        if column == self.column:
            return replace(self, descending=not self.descending)
        return replace(self, column=column, descending=False)

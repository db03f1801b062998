"""What is known of a case's programs in several frameworks: what they have in common, and where they differ."""

import math
from typing import Annotated, Self

from pydantic import Field, model_validator

from dlperf.catalog.entry import AxisName, Id, Model, Option

ASPECTS = (
    *("model", "loss_function", "optimizer_settings", "synthetic_data", "seeds", "dropout"),
    *("running_statistics", "input_type", "layout", "pooling", "positions", "joined_products", "attention_kernel"),
    *("activation", "normalization", "residual_cast"),
    *("word_gradient", "optimizer_update", "gradient_exchange", "host_waits"),
    *("compile", "cuda_graph", "own_kernels", "recomputation", "allocator"),
)
"""What a ledger says of every program, besides numerics, which the run reports."""


class Ledger(Model):
    """What the programs of a case have in common and where they differ: facts that a comparison shows."""

    frameworks: Annotated[tuple[Id, ...], Field(min_length=2)]
    """Whose programs it is about."""
    equal: dict[AxisName, str] = {}
    """Aspect → what is the same in all of them."""
    differ: dict[AxisName, dict[Id, str]] = {}
    """Aspect → framework → what it is there."""
    untried: dict[Id, str] = {}
    """Framework → what is known to make its program faster, or may, and was not measured; shown beside claims."""
    losses: str = ""
    """What is known of how far the losses of its trials are apart; shown beside claims."""
    estimated: dict[Id, dict[AxisName, Annotated[float, Field(gt=0, lt=100)]]] = {}
    """Framework → aspect that differs → percent of a step that its program takes longer for it, by an estimate."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        aspects = [*self.equal, *self.differ]
        if sorted(aspects) != sorted(ASPECTS):
            raise ValueError(f"must hold each aspect once: {', '.join(sorted(set(aspects) ^ set(ASPECTS)))}")
        for aspect, sides in self.differ.items():
            if set(sides) != set(self.frameworks):
                raise ValueError(f"{aspect} must name each of the frameworks once")
        for name, of in (("untried", self.untried), ("estimated", self.estimated)):
            if unknown := of.keys() - set(self.frameworks):
                raise ValueError(f"{name} names no framework of the ledger: {', '.join(sorted(unknown))}")
        if unknown := set().union(*self.estimated.values()) - self.differ.keys():
            raise ValueError(f"estimated names no aspect that differs: {', '.join(sorted(unknown))}")
        return self

    def percent_behind(self, behind: str, ahead: str) -> float:
        """Return the percent of a step by which one program is behind another, by all estimates; 0 without any."""
        slower, faster = (math.fsum(self.estimated.get(name, {}).values()) for name in (behind, ahead))
        return max(slower - faster, 0.0)

    def of(self, framework: str) -> dict[str, Option]:
        """Return each aspect of one framework's program; empty for one that it is not about."""
        if framework not in self.frameworks:
            return {}
        return {**self.equal, **{aspect: sides[framework] for aspect, sides in self.differ.items()}}

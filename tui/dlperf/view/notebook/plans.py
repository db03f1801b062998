"""A plan as notebooks show it."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.plan.model import Plan
from dlperf.view.notebook.shown import Shown, fields_of
from dlperf.view.text import count_noun, one_line


class ShownPlan(Shown, Plan):
    """A plan that shows its configurations, and what cannot run."""

    @classmethod
    def of(cls, plan: Plan) -> ShownPlan:
        """Return a plan that shows itself."""
        return cls(**fields_of(plan))

    def _headline(self) -> str:
        what = f"{count_noun(len(self.configurations), 'configuration')}, {count_noun(len(self.trials), 'trial')}"
        return f"{what}; {len(self.impossible)} impossible" if self.impossible else what

    def _rows(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        possible = (
            (item.configuration.id, str(item.protocol.id), str(item.repeats), "") for item in self.configurations
        )
        others = ((item.configuration.id, "", "", one_line(str(item.reason))) for item in self.impossible)
        headers = ("configuration", "protocol", "repeats", "impossible because")
        shown = len(headers) if self.impossible else len(headers) - 1
        return headers[:shown], [row[:shown] for row in (*possible, *others)]

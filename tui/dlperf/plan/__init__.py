"""Selection × catalogue → configurations → trials. Pure: no clock, no disk, no network."""

from dlperf.catalog.axes import Configuration
from dlperf.catalog.placeholders import PLACEHOLDERS
from dlperf.plan.expand import expand
from dlperf.plan.model import (
    ContainerPlan,
    Impossible,
    Launch,
    NodePlan,
    Plan,
    PlannedConfiguration,
    Selection,
    TrialKey,
)

__all__ = [
    "PLACEHOLDERS",
    "Configuration",
    "ContainerPlan",
    "Impossible",
    "Launch",
    "NodePlan",
    "Plan",
    "PlannedConfiguration",
    "Selection",
    "TrialKey",
    "expand",
]

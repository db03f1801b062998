"""Selection × catalogue → configurations → trials. Pure: no clock, no disk, no network."""

from dlperf.catalog.axes import Configuration
from dlperf.catalog.machines import Container, Node
from dlperf.catalog.placeholders import PLACEHOLDERS
from dlperf.plan.expand import expand
from dlperf.plan.model import (
    Impossible,
    Launch,
    Plan,
    PlannedConfiguration,
    Selection,
    TrialKey,
)

__all__ = [
    "PLACEHOLDERS",
    "Configuration",
    "Container",
    "Impossible",
    "Launch",
    "Node",
    "Plan",
    "PlannedConfiguration",
    "Selection",
    "TrialKey",
    "expand",
]

"""Expand a selection from the catalogue into configurations and trials. Pure: no clock, disk or network."""

from dlperf.catalog.axes import Configuration
from dlperf.catalog.machines import Container, Node, Preparation
from dlperf.plan.expand import expand
from dlperf.plan.model import (
    Impossible,
    Launch,
    Plan,
    PlannedAccelerator,
    PlannedConfiguration,
    PlannedMetric,
    PlannedProtocol,
    Selection,
    TrialKey,
)
from dlperf.plan.subject import max_nodes

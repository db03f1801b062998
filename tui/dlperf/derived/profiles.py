"""Read the summary that a training program wrote of steps under a profiler."""

from dataclasses import dataclass
from pathlib import Path

from dlperf.catalog.axes import Configuration, profiled_configuration
from dlperf.opening import is_regular
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.schema import SCHEMA_VERSION
from dlperf.runs.store import Complain, read_record_if_whole


@dataclass(frozen=True)
class Operations:
    """A kernel, or a class of kernels, over all profiled steps."""

    name: str
    calls: int
    total_ms: float
    share: float
    """Of the time of all kernels."""
    kind: str = ""
    """Class of a kernel."""


@dataclass(frozen=True)
class Profile:
    """``profile.json``."""

    framework: str
    device: str
    """gpu or cpu."""
    steps: int
    step_ms: float
    profiled_step_ms: float
    kernels: tuple[Operations, ...]
    """Those with most time."""
    classes: tuple[Operations, ...]
    busy_ms: float | None = None
    """In which a GPU computes or copies, in a step."""
    idle_share: float | None = None
    graph_launches: float | None = None
    """Of CUDA graphs by the host, in a step; None where it was not counted."""
    trace: str = ""
    schema: int = SCHEMA_VERSION


def read_profile(
    campaign: CampaignPaths, point: Configuration, complain: Complain | None = None
) -> tuple[Profile, Path | None] | None:
    """Return the newest profile of a configuration and the path of its trace; None where there is none."""
    for node in reversed(campaign.profiles(profiled_configuration(point).id)):
        profile = read_record_if_whole(node.profile, Profile, complain)
        if profile is not None:
            return profile, node.trace if profile.trace and is_regular(node.trace) else None
    return None

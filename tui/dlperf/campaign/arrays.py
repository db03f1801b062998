"""Which trials are queued together, as one job array. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from dlperf.plan import PlannedConfiguration, TrialKey
from dlperf.runs.records import State, TrialStatus


def queued_together(
    planned: PlannedConfiguration, key: TrialKey, trials: Mapping[TrialKey, TrialStatus]
) -> tuple[int, ...]:
    """Numbers of the repeats that one job array holds, this one's among them; none where it is a job of its own.

    The array is made of what is still planned when its first trial is submitted. A retry is a job of its own.
    """
    if not (planned.launch.slurm or {}).get("array") or key.number > planned.repeats:
        return ()
    like = (State.PLANNED,) if trials[key].state is State.PLANNED else (State.SUBMITTED, State.RUNNING)
    keys = [TrialKey(key.configuration, number) for number in range(1, planned.repeats + 1)]
    return tuple(item.number for item in keys if trials[item].state in like)

"""How long an engine waits for what."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """How long the engine waits for what, in seconds."""

    tick: float = 0.2
    """Between two looks at the requests and the queue."""
    progress: float = 1.0
    """Between two versions of ``progress.json``."""
    machine_rest: float = 5.0
    """Before a machine that failed gets its next trial."""
    busy: float = 300.0
    """For GPUs on which somebody else computes, before the trial is given up."""
    silence: float = 300.0
    """For a machine that answered in this campaign and does not before a trial, as one that starts anew, before the
    trial is given up."""
    first_answer: float = 20.0
    """The same for a machine that has not answered yet, as one whose address is wrong. It is left out after the second
    time: with ten seconds for each connection that is after less than a minute."""
    reconnect: float = 3.0
    """Between two tries to reach a machine that does not answer, or is busy. Clients connect less and less often."""
    collect: float = 300.0
    """For a silent machine that holds files of a trial that did not succeed; those of a success are waited for."""

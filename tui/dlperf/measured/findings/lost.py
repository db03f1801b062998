"""Findings about time that a run lost: pauses, and ranks that others wait for."""

from collections.abc import Sequence

from dlperf.measured.findings.checked_run import CheckedRun
from dlperf.measured.throughput.lost import OTHER, lost_time, slow_share, slowest_node, slowest_rank
from dlperf.measured.throughput.pauses import timed_gaps
from dlperf.messages import Message, message
from dlperf.messages.finding import Finding, note, warning

LOST, SHOWN = 0.01, 0.001
"""Share of the time in pauses below which their kinds are not worth a line, and that of a kind which it names."""
STRAGGLES = 0.05
"""What a rank takes longer than the median of all from which on it holds up the others."""
STRAGGLES_IN = 0.25
"""Share of its steps from which on; less is a warm-up or a stall."""


def pauses(context: CheckedRun) -> Finding | None:
    slow: Sequence[int] = context.slow_records if context.run.window != "cumulative" else ()
    if context.figure is not None and context.figure.pauses == "without" and not slow:
        before = max(context.measured.start - 1, 0)
        slow = timed_gaps(context.reading, slice(before, len(context.run.samples))).pauses
    elif context.run.window == "cumulative" or (not slow and context.smooths):
        slow = context.timed_gaps.pauses
    return note("pauses", count=len(slow), line=context.run.samples.line[slow[0]], of=_said(context)) if slow else None


def _said(context: CheckedRun) -> Message | str:
    """Say whether the value holds the pauses, and what it is otherwise."""
    figure = context.figure
    if figure is None or figure.steady is None or not figure.pauses:
        return ""
    if figure.pauses == "without" and figure.goodput is None:
        return message("pauses_not_printed")
    if figure.goodput is None:
        return ""
    if figure.pauses == "without":
        return message("pauses_left_out", goodput=figure.goodput, unit=figure.unit)
    return message("pauses_kept", steady=figure.steady, unit=figure.unit)


def time_in_pauses(context: CheckedRun) -> Finding | None:
    """Say what pauses took of the time, where the log tells of their kinds."""
    if not context.run.pauses or context.figure is None:
        return None
    found = lost_time(context.reading, context.figure.skip)
    if found is None or found.share < LOST or set(found.lost) <= {OTHER}:
        return None
    shares = ((kind, seconds / found.seconds) for kind, seconds in found.lost.items())
    kinds = tuple(message(f"lost_{kind}", share=share) for kind, share in shares if share >= SHOWN)
    return note("lost_time", share=found.share, kinds=kinds)


def straggler(context: CheckedRun) -> Finding | None:
    rank, node = slowest_rank(context.reading), slowest_node(context.reading)
    if rank is None or rank.excess < STRAGGLES or slow_share(context.reading, rank.name) < STRAGGLES_IN:
        return None
    of_node = message("slowest_node", node=node.name, excess=node.excess, nodes=node.of) if node else ""
    return warning("straggler", rank=rank.name, excess=rank.excess, ranks=rank.of, node=of_node)

"""Diagnose a failed trial from the end of its log. Pure."""

import re
from collections.abc import Iterator
from dataclasses import replace

from dlperf.catalog.axes import AxisValue, axes_text
from dlperf.evidence.gather import Evidence
from dlperf.measured.error_lines import PATTERNS, error_line, failed_rank, last_line, last_statement, without_harmless
from dlperf.messages import Message, message, quoted
from dlperf.plan import Launch, PlannedConfiguration
from dlperf.plan.subject import STARTED_ONCE
from dlperf.runs.records import State, TrialStatus

_PORT_IN_USE = re.compile(r"address already in use|\bEADDRINUSE\b|\bport \d{1,5} is (?:already )?in use", re.IGNORECASE)
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_SIZE = re.compile(PATTERNS["memory"]["size"])

NEAR = 1 << 16
"""Characters at the end of a log in which a cause is searched first."""

_EXPLAINED = {"and_more": "subject", "last_output": "cause", "job_log": "cause"}
"""Code of a cause that was explained → its parameter that holds the cause without explanation."""


def diagnosis(log_tail: str) -> Message | None:
    """Return the cause that the end of a log shows: a known one anywhere, else the first line that names an error.

    What stands nearer to the end comes first: programs log exceptions and go on, and some print much as they shut down.
    A port in use makes the engine retry, so only that line or, without one, the last may name it.
    """
    return _diagnosis(log_tail[-NEAR:]) or (_diagnosis(log_tail) if len(log_tail) > NEAR else None)


def _diagnosis(output: str) -> Message | None:
    serious = without_harmless(output)
    for code, pattern in PATTERNS["causes"].items():
        if re.search(pattern, serious):
            return message(code)
    error = error_line(output)
    if _PORT_IN_USE.search(error.text if error else last_line(output)):
        return message("port_in_use")
    return quoted(error.text) if error else None


def _with_advice(found: Message | None, log_tail: str, planned: PlannedConfiguration) -> Message | None:
    """Add to a cause what to do: of the configuration where a GPU lacks memory, of the machine where a module lacks."""
    more = _advice(found, log_tail, planned) if found else None
    return message("and_more", subject=found, more=more) if found and more else found


def _advice(found: Message, log_tail: str, planned: PlannedConfiguration) -> Message | None:
    if found.code == "out_of_memory" and (size := _SIZE.search(without_harmless(log_tail))):
        axes = axes_text(_memory_axes(planned))
        advice = message("memory_axes", axes=axes) if axes else message("larger_gpus")
        return message("gpu_memory", size=next(filter(None, size.groups())), advice=advice)
    if (lacking := _NO_MODULE.match(found.text_of("text"))) and planned.launch.container is None:
        return message("no_module", module=lacking[1], hardware=planned.configuration.hardware)
    return None


def _memory_axes(planned: PlannedConfiguration) -> Iterator[tuple[str, AxisValue]]:
    point = planned.configuration
    if point.batch_size > 1:
        yield "batch_size", point.batch_size
    yield from (axis for axis in point.axes if axis[0] == "checkpointing" and axis[1] != "full")
    if planned.numerics.get("weights") == "fp32":
        yield "precision", point.precision


def is_out_of_memory(cause: Message | None) -> bool:
    """Whether a GPU or the host ran out of memory."""
    return cause is not None and cause.mentions("out_of_memory", "job_memory")


def lacking_memory(cause: Message | None) -> Message | None:
    """Return how much memory a GPU could not give, where a cause says so."""
    return next((part for part in cause.chain() if part.code == "gpu_memory"), None) if cause else None


def explained(cause: Message | None, found: Message | None, log_tail: str = "", job_tail: str = "") -> Message | None:
    """Add the diagnosis of the log to a cause in place of an earlier one or of quoted lines, else its last line.

    The journal holds a cause that was explained before, without the secrets that the log has.

    Args:
        found: the diagnosis of the log.
        log_tail: source of the last line; "" to add none.
        job_tail: the same where there is no log.
    """
    if found is None:
        return _with_last_output(cause, log_tail, job_tail) if cause else None
    if cause is None:
        return found
    if found in cause.chain():
        return cause
    return message("and_more", subject=_unexplained(cause), more=found)


def _unexplained(cause: Message) -> Message:
    """Return a cause without an earlier explanation, also inside the cause of a node."""
    name = _EXPLAINED.get(cause.code, "cause")
    inner = cause.parameters.get(name)
    if not isinstance(inner, Message):
        return cause
    shorter = _unexplained(inner)
    return shorter if cause.code in _EXPLAINED else replace(cause, parameters={**cause.parameters, name: shorter})


def _with_last_output(cause: Message, log_tail: str, job_tail: str) -> Message:
    if cause.mentions(*_EXPLAINED):
        return cause
    if line := last_line(log_tail):
        return message("last_output", cause=cause, lines=line)
    said = last_statement(job_tail)
    return message("job_log", cause=cause, said=said) if said else cause


def cause_of_trial(evidence: Evidence, planned: PlannedConfiguration, status: TrialStatus) -> Message | None:
    """Return the journal's cause, explained by the log of the node that it names, else by that of another."""

    def diagnosed(log: str) -> Message | None:
        return _with_advice(diagnosis(log), log, planned)

    cause = status.cause
    if status.state is State.SUCCEEDED:
        return cause
    parts = cause.chain() if cause else ()
    named = next((part.text_of("node") for part in parts if part.code == "of_node"), "")
    tail = evidence.tails.get(named, evidence.tail)
    found, node = diagnosed(tail), _failed_node(planned.launch, tail)
    if found is None and named:
        found, node = next(
            ((why, other) for other, log in evidence.tails.items() if (why := diagnosed(log))), (None, "")
        )
    if found and named and node not in ("", named):
        found = message("of_node", node=node, cause=found)
    found = found or diagnosed(evidence.job_tail)
    job_tail = "" if evidence.tail or any(evidence.tails.values()) else evidence.job_tail
    return explained(cause, found, tail if status.state in (State.FAILED, State.TIMED_OUT) else "", job_tail)


def _failed_node(launch: Launch, tail: str) -> str:
    """Return the node of the rank that failed, where one launcher started the ranks of all nodes."""
    rank = failed_rank(tail) if launch.launcher in STARTED_ONCE else None
    node = len(launch.nodes) if rank is None else rank // launch.gpus
    return launch.nodes[node].name if node < len(launch.nodes) else ""

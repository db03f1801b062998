"""Findings that version 0.1 stored as English text, as the messages that they stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from dlperf.messages import Message, Value, message, quoted

_TEXTS = {
    "ranks_in_log": "several ranks write into this log",
    "too_few_samples": "only {count} records give the figure: {least} or more are usual",
    "drift_rises": "the speed rises by {change} over the measured window: no steady state",
    "drift_falls": "the speed falls by {change} over the measured window: no steady state",
    "end_stall": "the last record ({last}) is a stall: without it the mean is {without}, not {mean}",
    "printed_rate": "printed {printed}, by timestamps {timed} {unit} ({difference})",
    "printed_rate_accumulation": "printed {printed}, by timestamps {timed} {unit} ({difference}): has a step more "
    "samples than the batch size says (accumulation)?",
    "several_runs": "run {number} of {runs} in this log",
    "batch_size_mismatch": "batch size {stated} is declared, {logged} is what the log says",
    "gpu_count_mismatch": "{stated} GPUs are declared, {logged} are what the log says",
    "reader_bound": "{share} of the time is spent waiting for data: the reader is measured",
    "above_flop_limit": "{value} {unit} is above the {limit} of the GPUs' dense peak",
    "repeated_steps": "every step is printed {copies} times: ranks share the log, a "
    "count of records is no count of steps",
    "contended_gpu": "other processes were on {gpus} while the trial was measured",
    "hw_slowdown": "hardware slowdown on {gpus}, in {share} of the samples",
    "hw_thermal_slowdown": "hardware thermal slowdown on {gpus}, in {share} of the samples",
    "hw_power_brake": "hardware power brake on {gpus}, in {share} of the samples",
    "sw_thermal_slowdown": "software thermal slowdown on {gpus}, in {share} of the samples",
    "sw_power_cap": "software power cap on {gpus}, in {share} of the samples",
    "slower_gpu": "{gpu} ran at {clock} MHz, the others at {others} MHz: they wait for it at every step",
    "one_gpu": "GPU {name}",
    "several_gpus": "{count} GPUs ({names})",
    "no_records": "the log holds no throughput record",
    "no_records_of_format": "no log holds a throughput record of the format {format}",
    "no_figure_in_log": "no figure in the log",
    "no_speed": "{rule} gives {value}: no speed of a training",
    "step_size_unknown": "the log does not say how many {samples} a step has",
    "gpus_unknown": "GPU count unknown: the log prints the speed of one GPU or node; give --gpus",
    "batch_unknown": "batch size or GPU count unknown: give --batch-size and --gpus",
    "few_last": "too few samples: {count} records, the last {wanted} are asked for",
    "few_before": "too few samples: the run ends before iteration {iteration}",
    "few_before_step": "too few samples: the log ends before step {step}",
    "few_after": "too few samples: no step after the first {steps}",
    "few_steps": "too few samples: fewer than {wanted} steps after the first {steps}",
    "few_tipc": "too few samples: tipc needs more than {least}",
    "few_skipped": "too few samples: {count} records, {skipped} of them skipped",
    "few_epochs": "too few samples: {count} epoch figures, {skipped} of them skipped",
    "few_time": "too few samples: no time passes between the timestamps",
    "few_work": "too few samples: no step is done between the timestamps",
    "none_after": "too few samples: no record after the first {records}",
    "none_of_last": "too few samples: no record of the last {records}",
    "none_between": "too few samples: no record in iterations {first} … {last}",
    "no_steps": "the records carry no step numbers",
    "no_timestamps": "the records carry no timestamps",
    "some_timestamps": "not every record carries a timestamp",
    "no_step_seconds": "the log prints no seconds per step",
    "unequal_steps": "the steps are not all of one size, as the printed rates tell",
    "zero_step_seconds": "the printed seconds per step are zero",
    "no_summary": "the program printed no final figure",
}
"""Code → the text of version 0.1, which is never changed here."""

_WRAPPED = {"interleaved_ranks": "evidence", "no_figure": "reason"}
"""Finding → the parameter that holds what its text said."""
LONGEST = 1000
"""Characters of a text that is matched; a finding has 300 at most."""
_NUMBER = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?)(%?)")
_PLACE = re.compile(r"\\\{(\w+)\\\}")


def upgraded_finding(stored: Mapping[str, Any]) -> dict[str, Any]:
    """A finding of version 0.1 in today's form; a text that is not recognised is kept as it is."""
    found = _finding(str(stored["code"]), str(stored["message"]))
    return {"message": found.to_json(), "severity": stored.get("severity", "warning")}


def _finding(code: str, text: str) -> Message:
    told = _message_of(text)
    if code in _WRAPPED:
        return message(code, **{_WRAPPED[code]: told or quoted(text)})
    if told is None:
        return message(code, text=text)
    if code == "drift":
        direction = message(told.code.removeprefix("drift_"))
        return message(code, direction=direction, **told.parameters)
    if code == "printed_rate":
        suspected = told.code == "printed_rate_accumulation"
        return message(code, hint=message("suspect_accumulation") if suspected else "", **told.parameters)
    return message(code, **told.parameters)


def _message_of(text: str) -> Message | None:
    for code, pattern in _patterns() if len(text) <= LONGEST else ():
        if found := pattern.fullmatch(text):
            return message(code, **{name: _value(name, value) for name, value in found.groupdict().items()})
    return None


def _value(name: str, text: str) -> Value:
    if name in ("gpu", "gpus") and (gpus := _message_of(text)):
        return gpus
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    if number[2]:
        return float(number[1]) / 100
    return int(text) if text.isdecimal() else float(text)


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each text with its places for parameters, the longest first: a shorter one may be its beginning."""
    escaped = {code: _PLACE.sub(r"(?P<\1>.+?)", re.escape(text)) for code, text in _TEXTS.items()}
    longest_first = sorted(escaped, key=lambda code: -len(escaped[code]))
    return tuple((code, re.compile(escaped[code], re.DOTALL)) for code in longest_first)

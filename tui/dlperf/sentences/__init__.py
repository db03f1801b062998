"""What the plan, the measuring and the results say of what a reader must know, as sentences with places for values.

One table, and a way back from a text to its sentence: so a page can say the same in another language, also of a result
that was written long ago.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

SENTENCES = {
    # why a configuration cannot run
    "no_recipe": "{framework} has no recipe for {case} (it has {offered})",
    "wrong_device": "{framework} computes on {devices}, {hardware} is a {device} machine",
    "too_small": "{hardware} has {nodes} node(s) with {gpus} GPU(s) each, {scale} needs more",
    "hardware_precision": "{hardware} computes in {offered}, not in {precision}",
    "recipe_precision": "{framework} offers {case} in {offered}, not in {precision}",
    "recipe_batch_size": "{framework} offers {case} with batch size {offered}, not {batch_size}",
    "recipe_scale": "{framework} offers {case} on {offered}, not on {scale}",
    "one_path": "{launcher} runs one path on every node, but the recipe's files lie in each node's own folder",
    # of a run
    "nan_loss": "a loss that is no number: this may be the speed of a broken training",
    "unit_dialect": "the log spells its unit in an older way",
    "truncated_archive": "the compressed log is cut: what follows is missing",
    "ranks_in_log": "several ranks write into this log",
    "inference": "the log says that it is of inference or evaluation, not of training",
    "run_limit": "the log holds more runs than are told apart: this is all that follows as one",
    "too_few_samples": "only {count} records give the figure: {least} or more are usual",
    "drift_rises": "the speed rises by {change} over the measured window: no steady state",
    "drift_falls": "the speed falls by {change} over the measured window: no steady state",
    "end_stall": "the last record ({last}) is a stall: without it the mean is {without}, not {mean}",
    "printed_rate": "printed {printed}, by timestamps {timed} {unit} ({difference})",
    "printed_rate_accumulation": "printed {printed}, by timestamps {timed} {unit} ({difference}): "
    "has a step more samples than the batch size says (accumulation)?",
    "several_runs": "run {number} of {runs} in this log",
    "batch_size_mismatch": "batch size {stated} is declared, {logged} is what the log says",
    "gpu_count_mismatch": "{stated} GPUs are declared, {logged} are what the log says",
    "reader_bound": "{share} of the time is spent waiting for data: the reader is measured",
    "above_flop_limit": "{value} {unit} is above the {limit} of the GPUs' dense peak",
    "missing_end_marker": "no line says that the run ended: it was stopped, or the log is cut",
    "interleaved_ranks": "every step is printed {copies} times: ranks share the log, "
    "a count of records is no count of steps",
    # of the machine
    "contended_gpu": "other processes were on {gpus} while the trial was measured",
    "hw_slowdown": "hardware slowdown on {gpus}, in {share} of the samples",
    "hw_thermal_slowdown": "hardware thermal slowdown on {gpus}, in {share} of the samples",
    "hw_power_brake": "hardware power brake on {gpus}, in {share} of the samples",
    "sw_thermal_slowdown": "software thermal slowdown on {gpus}, in {share} of the samples",
    "sw_power_cap": "software power cap on {gpus}, in {share} of the samples",
    "one_gpu": "GPU {name}",
    "several_gpus": "{count} GPUs ({names})",
    # of the trials of a configuration, and of a scaling series
    "too_few_trials": "{count} of the {repeats} trials that the protocol asks for",
    "trial_spread": "trials differ: {lowest} … {highest}, coefficient of variation {variation}",
    "super_linear": "{gpus} GPUs are {speedup} times as fast as one ({efficiency} efficiency): "
    "the figure of one may be too low",
    "efficiency_rises": "each of {more} GPUs is {gain} faster than each of {fewer}: "
    "the figure of {fewer} may be too low",
    "trial_excluded": "not in the figure: {trials}",
    "excluded_trial": "trial {number} ({why})",
    "repeated": "repeated as trial {by}: {why}",
    "asked_for": "asked for",
    # of a published figure
    "tf32": "the source says FP32: on this accelerator the frameworks compute it in TF32",
    # why there is no figure
    "no_records": "the log holds no throughput record",
    "no_records_of_format": "no log holds a throughput record of the format {format}",
    "no_figure": "no figure in the log",
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
PLACE = re.compile(r"\{(\w+)\}")


def sentence(key: str, /, **values: object) -> str:
    """The English sentence with its values."""
    return SENTENCES[key].format(**values)


def recognised(text: str) -> tuple[str, Mapping[str, str]] | None:
    """The key and the values of a text that ``sentence`` made; None for any other."""
    for key, pattern in _patterns():
        if found := pattern.fullmatch(text):
            return key, found.groupdict()
    return None


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Those with the most words first: a general sentence does not take what a special one says."""
    ordered = sorted(SENTENCES.items(), key=lambda item: -len(PLACE.sub("", item[1])))
    return tuple((key, _pattern(words)) for key, words in ordered)


def _pattern(words: str) -> re.Pattern[str]:
    """``words`` with a group for each place; a place that is there twice has one value."""
    parts, seen = [], set[str]()
    for number, part in enumerate(PLACE.split(words)):
        if number % 2 == 0:
            parts.append(re.escape(part))
        else:
            parts.append(f"(?P={part})" if part in seen else f"(?P<{part}>.+?)")
            seen.add(part)
    return re.compile("".join(parts), re.DOTALL)

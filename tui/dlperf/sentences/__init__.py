"""What dlperf says of machines, trials and figures that a reader must know, as sentences with places for values.

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
    "format_without_time": "logs of the format {format} carry no timestamps, by which protocol {protocol} measures: "
    "read one as the group `time`, or choose a protocol of printed rates, such as --protocol dlperf-v1",
    # how a trial ended, in the supervisor's words, which stands alone on its node
    "exit_code": "exit code {code:d}",
    "ended_by_signal": "signal {number:d} ({name})",
    "deadline": "deadline of {seconds} s",
    "stall_limit": "no output for {seconds} s (stall limit)",
    "ended_from_outside": "ended from outside (TERM)",
    "cannot_pull": "image {image} cannot be pulled: {cause}",
    "cannot_start": "{command} cannot be started: {reason}",
    # how a trial ended, as its executor and the engine tell it
    "supervisor_died": "the supervisor died; the trial was ended",
    "first_node_ended": "the first node has ended",
    "unknown_trial": "the node knows nothing of the trial",
    "restarted": "the machine was restarted while the trial ran",
    "no_exit_file": "supervisor and processes are gone and left no exit file",
    "of_node": "node {node}: {cause}",
    "silent_too": "{cause}; node {node} does not answer",
    "last_output": "{cause}; last output: {lines}",
    "cancelled": "cancelled",
    "cancelled_with": "cancelled because node {node} failed",
    "cancelled_before": "cancelled before it started",
    "cancelled_unanswered": "cancelled, but {cause}: it may still run there",
    "failed_in_a_row": "failed {count:d} times in a row: {why}",
    "machine_left_out": "node {node}: left out, {cause}",
    "failed_alike": "failed {count:d} times the same way: {cause}",
    "configuration_stopped": "configuration stopped: {cause}",
    "out_of_memory": "out of memory",
    "nccl_timeout": "NCCL timeout",
    "nccl_error": "NCCL error",
    "no_space": "no space left on the device",
    # what Slurm did with a trial
    "slurm_cancelled": "cancelled in Slurm",
    "slurm_time_limit": "Slurm's time limit",
    "slurm_deadline": "Slurm's deadline for the job",
    "slurm_preempted": "preempted by Slurm",
    "slurm_node_failed": "Slurm: a node of the job failed",
    "slurm_no_boot": "Slurm: a node of the job did not boot",
    "slurm_memory": "Slurm: out of memory",
    "slurm_requeued": "Slurm put the job back into its queue after it had begun",
    "slurm_forgot": "Slurm knows job {job} no more, and the node left no exit file",
    "slurm_not_started": "job {job} is over ({state}, {reason}) and nothing was started: "
    "is the home folder shared with the compute nodes?",
    "slurm_over": "job {job} is over ({state}, {reason}) and the node left no exit file",
    "slurm_log": "{cause}; Slurm's log: {said}",
    "slurm_silent": "Slurm does not answer: {complaint}",
    # why a trial waits
    "being_checked": "its machines are asked whether they are ready",
    "slurm_too_long": "{word} (asks for more time than its partition gives: cancel it, lower time_limit_minutes)",
    "slurm_too_many_nodes": "{word} (asks for more nodes than its partition gives: cancel it)",
    "slurm_too_much": "{word} (asks for more time or nodes than its partition gives: cancel it, ask for less)",
    "slurm_partition_down": "{word} (its partition is down: ask the cluster's operators)",
    "slurm_partition_inactive": "{word} (its partition is inactive: ask the cluster's operators)",
    "slurm_job_limit": "{word} (the account's limit of jobs is reached)",
    "slurm_qos_time": "{word} (asks for more time than its QOS gives: cancel it, lower time_limit_minutes)",
    "slurm_held": "{word} (held by its user: `scontrol release` lets it go)",
    "slurm_held_by_admin": "{word} (held by an administrator)",
    "slurm_node_reserved": "{word} (a node that it needs is down, drained or reserved)",
    # of a machine that does not answer, or refuses
    "unreachable": "unreachable: {cause}",
    "unreachable_since": "unreachable since {since}: {cause}",
    "goes_on_there": "{cause}: what runs there goes on",
    "waiting": "it is waited for",
    "waited_for": "{cause}: it is waited for, up to {minutes} min",
    "never_answered": "{cause}: it never answered so far, tried for {seconds} s",
    "no_name": "the host name {host} cannot be resolved ({reason})",
    "nothing_listens": "nothing listens at {server} (connection refused)",
    "no_answer": "no answer from {server} within {seconds} s",
    "not_reached": "{server} cannot be reached ({reason})",
    "dropped": "{server} dropped the connection before it said a word ({reason})",
    "no_session": "{server} opens no session ({reason})",
    "key_refused": "{server} refuses user {user}: none of our keys is accepted there: "
    "add one to its authorized_keys, or say user and key in ~/.ssh/config",
    "host_key_changed": "the host key of {server} does not match known_hosts ({reason}): is it still that machine?",
    "host_key_unknown": "{server} is not in known_hosts: connect once with ssh, compare its key, and accept it",
    "ssh_configuration": "~/.ssh/config or a key that it names cannot be used for {host} ({reason})",
    "connection_broke": "the connection broke ({reason})",
    "no_agent": "the agent did not start ({reason})",
    "no_answer_within": "no answer within {seconds} s",
    "closed_there": "the other side closed it",
    "no_python": "no Python 3.6 or newer was found (python3 in PATH, /usr/bin, /usr/local/bin)",
    "no_home": "~/.dlperf/bin cannot be written there: free space or mend permissions",
    "address_advice": "is its address right, is it on, does a firewall drop it? `{login}` must work",
    # whether a machine is ready
    "not_ready": "not ready: {node}: {check}: {message}",
    "answers": "{host} answers",
    "clock_ahead": "clock {seconds} s ahead of this machine's",
    "clock_behind": "clock {seconds} s behind this machine's",
    "disk_free": "{size} GiB free in the home directory",
    "disk_short": "{size} GiB free in the home directory, {wanted} GiB are wanted",
    "gpus_found": "{count:d} GPUs, {wanted:d} wanted",
    "wrong_gpu": "{names}: not the accelerator named",
    "gpus_used": "in use by {users}",
    "gpus_busy": "GPUs {indices} are busy",
    "gpus_idle": "idle",
    "image_pulled": "image {image} is not on the node: it is pulled before the clock starts",
    "image_absent": "image {image} is not on the node",
    "no_runtime": "{runtime} cannot be used there ({complaint})",
    "no_file": "{path} does not exist",
    "port_free": "TCP port {port:d} is free for the rendezvous",
    "may_log_in": "may log in to {other}",
    "cannot_log_in": "cannot log in to {other}, as {launcher} must: {why}",
    "differs": "{value}, but {usual} on {first}",
    "equal": "{usual} on all nodes",
    "nvlinks_up": "{most:d} NVLinks up on each GPU",
    "nvlinks_down": "fewer than the {most:d} NVLinks of other GPUs are up: {gpus}",
    "partition_limit": "partition {partition} gives {most:d} min at most: lower time_limit_minutes ({wanted:d})",
    "partition_gives_less": "partition {partition} gives {most:d} min at most, a trial may take {wanted:d} min: "
    "Slurm ends it then",
    # what is checked
    "check_reachable": "reachable",
    "check_python": "python",
    "check_clock": "clock",
    "check_disk": "disk",
    "check_port": "port",
    "check_gpu_count": "gpu_count",
    "check_gpu_model": "gpu_model",
    "check_gpu_idle": "gpu_idle",
    "check_driver": "driver",
    "check_cuda": "cuda",
    "check_nvlink": "nvlink",
    "check_nvlink_equal": "nvlink_equal",
    "check_infiniband": "infiniband",
    "check_infiniband_equal": "infiniband_equal",
    "check_image": "image",
    "check_image_equal": "image_equal",
    "check_files": "files",
    "check_ssh": "ssh",
    "check_slurm": "slurm",
    "check_time_limit": "time_limit",
    # a sentence, and what stands before or behind it
    "and_more": "{told}: {more}",
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
    "slower_gpu": "{gpu} ran at {clock} MHz, the others at {others} MHz: they wait for it at every step",
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
PLACE = re.compile(r"\{(\w+)(:d)?\}")
"""A value's name, and whether it is a whole number."""
HELD = frozenset({"cause", "why", "message", "trials"})
"""Names of values that are sentences themselves."""
JOINED = "and_more"


def sentence(key: str, /, **values: object) -> str:
    """The English sentence with its values."""
    return SENTENCES[key].format(**values)


def recognised(text: str) -> tuple[str, Mapping[str, str]] | None:
    """The key and the values of a text that ``sentence`` made; None for any other.

    Anybody may put a colon between two texts: it was dlperf where one of them is its own.
    """
    for key, pattern in _patterns():
        found = pattern.fullmatch(text)
        if found and (key != JOINED or any(map(recognised, found.groups()))):
            return key, found.groupdict()
    return None


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """In an order in which none takes for a value what another one says."""
    ordered = sorted(SENTENCES, key=lambda key: (_rank(key), -len(PLACE.sub("", SENTENCES[key]))))
    return tuple((key, _pattern(SENTENCES[key])) for key in ordered)


def _rank(key: str) -> int:
    """What holds another sentence comes before it, what begins with a value, which may be anything, last."""
    if key == JOINED:
        return 2
    if any(name in HELD for name, _ in PLACE.findall(SENTENCES[key])):
        return 0
    return 3 if PLACE.match(SENTENCES[key]) else 1


def _pattern(words: str) -> re.Pattern[str]:
    """``words`` with a group for each place; a place that is there twice has one value."""
    parts, end, seen = [], 0, set[str]()
    for place in PLACE.finditer(words):
        name, values = place[1], "[0-9]+" if place[2] else ".+?"
        parts += [re.escape(words[end : place.start()]), f"(?P={name})" if name in seen else f"(?P<{name}>{values})"]
        end = place.end()
        seen.add(name)
    return re.compile("".join([*parts, re.escape(words[end:])]), re.DOTALL)

"""The English text of every message, by its code. Babel collects the texts for translation."""

from __future__ import annotations


def N_(english: str) -> str:
    """Mark a text for translation."""
    return english


TEXTS = {
    # why a configuration cannot run
    "no_recipe": N_("{framework} has no recipe for {case} (it has {offered})"),
    "wrong_device": N_("{framework} computes on {devices}, {hardware} is a {device} machine"),
    "too_small": N_("{hardware} has {nodes} node(s) with {gpus} GPU(s) each, {scale} needs more"),
    "hardware_precision": N_("{hardware} computes in {offered}, not in {precision}"),
    "recipe_precision": N_("{framework} offers {case} in {offered}, not in {precision}"),
    "recipe_batch_size": N_("{framework} offers {case} with batch size {offered}, not {batch_size}"),
    "recipe_scale": N_("{framework} offers {case} on {offered}, not on {scale}"),
    "no_axis": N_("{framework} on {case} has no axis {axis} (it has {offered})"),
    "axis_value": N_("{framework} offers {case} with {axis} {offered}, not with {value}"),
    "one_path": N_(
        "{launcher} uses the same path on every node, but the recipe's files are in a different folder on each node"
    ),
    "format_without_time": N_(
        "logs of the format {format} have no timestamps, which protocol {protocol} needs: "
        "name one as the group `time`, or choose a protocol that uses printed rates, such as --protocol dlperf-v1"
    ),
    # how a trial ended, in the supervisor's words, which stands alone on its node
    "exit_code": N_("exit code {code_value}"),
    "ended_by_signal": N_("signal {number} ({name})"),
    "deadline": N_("deadline of {seconds:g} s"),
    "stall_limit": N_("no output for {seconds:g} s (stall limit)"),
    "log_limit": N_("more than {gigabytes:g} GB of logs (log_limit_gb of the hardware); the rest is not archived"),
    "ended_from_outside": N_("terminated from outside (TERM)"),
    "folder_removed": N_("the trial's folder on the node was removed while it ran"),
    "lease_lost": N_("another trial took the machine first: {trial}"),
    "lease_unusable": N_("the lease of the machine cannot be used: {reason}: remove that file"),
    "cannot_pull": N_("cannot pull image {image}: {cause}"),
    "cannot_start": N_("cannot start {command}: {reason}"),
    # how a trial ended, as its executor and the engine tell it
    "supervisor_died": N_("the supervisor died, so the trial was ended"),
    "first_node_ended": N_("the trial on the first node has ended"),
    "unknown_trial": N_("the node has no record of the trial"),
    "restarted": N_("the machine was restarted while the trial ran"),
    "bad_file": N_("node {node}: {file}: {reason}"),
    "no_exit_file": N_("the supervisor and its processes have ended without an exit file"),
    "of_node": N_("node {node}: {cause}"),
    "silent_too": N_("{cause}; node {node} does not answer"),
    "last_output": N_("{cause}; last output: {lines}"),
    "cancelled": N_("cancelled"),
    "cancelled_with": N_("cancelled because node {node} failed"),
    "cancelled_before": N_("cancelled before it started"),
    "cancelled_unanswered": N_("cancelled, but {cause}: the trial may still be running there"),
    "failed_in_a_row": N_("failed {count} times in a row: {why}"),
    "machine_left_out": N_("node {node} is excluded: {cause}"),
    "failed_alike": N_("failed {count} times the same way: {cause}"),
    "configuration_stopped": N_("configuration stopped: {cause}"),
    "retry_infrastructure": N_("infrastructure: {cause}"),
    "retry_disturbed": N_("disturbed: {disturbance}"),
    "retry_asked": N_("requested by {by}"),
    "waits_for_machine": N_("waiting for a machine: {cause}"),
    "not_all_collected": N_("some files were not collected: {cause}"),
    "out_of_memory": N_("out of memory"),
    "nccl_timeout": N_("NCCL timeout"),
    "nccl_error": N_("NCCL error"),
    "no_space": N_("no space left on the device"),
    "port_in_use": N_("port in use"),
    # what Slurm did with a trial
    "slurm_cancelled": N_("cancelled in Slurm"),
    "slurm_time_limit": N_("Slurm's time limit"),
    "slurm_deadline": N_("Slurm's deadline for the job"),
    "slurm_preempted": N_("preempted by Slurm"),
    "slurm_node_failed": N_("Slurm: a node of the job failed"),
    "slurm_no_boot": N_("Slurm: a node of the job did not boot"),
    "slurm_memory": N_("Slurm: out of memory"),
    "slurm_requeued": N_("Slurm requeued the job after it had started"),
    "slurm_forgot": N_("Slurm has no record of job {job}, and the node left no exit file"),
    "slurm_not_started": N_(
        "job {job} has ended ({state}, {reason}) and nothing was started: "
        "is the home folder shared with the compute nodes?"
    ),
    "slurm_over": N_("job {job} has ended ({state}, {reason}) and the node left no exit file"),
    "slurm_log": N_("{cause}; Slurm's log: {said}"),
    "slurm_silent": N_("Slurm does not answer: {complaint}"),
    # why a trial waits
    "being_checked": N_("checking whether its machines are ready"),
    "slurm_too_long": N_(
        "{word}: requests more time than the partition allows: cancel it and lower time_limit_minutes"
    ),
    "slurm_too_many_nodes": N_("{word}: requests more nodes than the partition allows: cancel it"),
    "slurm_too_much": N_("{word}: requests more time or nodes than the partition allows: cancel it and request less"),
    "slurm_partition_down": N_("{word}: the partition is down: ask the cluster's operators"),
    "slurm_partition_inactive": N_("{word}: the partition is inactive: ask the cluster's operators"),
    "slurm_job_limit": N_("{word}: the account's job limit is reached"),
    "slurm_qos_time": N_("{word}: requests more time than its QOS allows: cancel it and lower time_limit_minutes"),
    "slurm_held": N_("{word}: held by its user: release it with `scontrol release`"),
    "slurm_held_by_admin": N_("{word}: held by an administrator"),
    "slurm_node_reserved": N_("{word}: a required node is down, drained or reserved"),
    # of a machine that does not answer, or refuses
    "of_machine": N_("{machine}: {cause}"),
    "unreachable": N_("unreachable: {cause}"),
    "unreachable_since": N_("unreachable since {since}: {cause}"),
    "goes_on_there": N_("{cause}; its trials keep running"),
    "waited_past_deadline": N_("{cause}; waiting until {minutes:g} min after the trial's deadline"),
    "overdue": N_("{cause}; given up {minutes:g} min after the trial's deadline"),
    "waiting": N_("waiting for an answer"),
    "waited_for": N_("{cause}; waiting for up to {minutes:g} min"),
    "never_answered": N_("{cause}; no answer yet after {seconds:g} s of attempts"),
    "no_name": N_("the host name {host} cannot be resolved ({reason})"),
    "nothing_listens": N_("no server listens at {server} (connection refused)"),
    "no_answer": N_("no answer from {server} within {seconds:g} s"),
    "not_reached": N_("cannot reach {server} ({reason})"),
    "dropped": N_("{server} closed the connection before the SSH handshake ({reason})"),
    "no_session": N_("{server} does not open a session ({reason})"),
    "key_refused": N_(
        "{server} refuses user {user}: it accepts none of your keys: "
        "add one to its authorized_keys, or set user and key in ~/.ssh/config"
    ),
    "host_key_changed": N_(
        "the host key of {server} does not match known_hosts ({reason}): is it still the same machine?"
    ),
    "host_key_unknown": N_("{server} is not in known_hosts: connect once with ssh, compare its host key and accept it"),
    "ssh_configuration": N_("cannot use ~/.ssh/config or one of its keys for {host} ({reason})"),
    "connection_broke": N_("connection lost ({reason})"),
    "bad_answer": N_("not an answer of an agent ({reason})"),
    "no_agent": N_("the agent did not start ({reason})"),
    "no_answer_within": N_("no answer within {seconds:g} s"),
    "closed_there": N_("closed by the remote side"),
    "no_python": N_("no Python 3.6 or newer was found (python3 in PATH, /usr/bin, /usr/local/bin)"),
    "no_home": N_("cannot write ~/.dlperf/bin on the machine: free disk space or fix its permissions"),
    "address_advice": N_("check its address, its power and the firewall: `{login}` must work"),
    # whether a machine is ready
    "not_ready": N_("not ready: {node}: {check}: {message}"),
    "answers": N_("{host} answers"),
    "clock_ahead": N_("clock {seconds:.1f} s ahead of this machine's"),
    "clock_behind": N_("clock {seconds:.1f} s behind this machine's"),
    "disk_free": N_("{size:.1f} GiB free in the home directory"),
    "disk_short": N_("{size:.1f} GiB free in the home directory, {wanted:g} GiB required"),
    "gpus_found": N_("{count} GPUs, {wanted} required"),
    "wrong_gpu": N_("{names}: not the accelerator in the machine's entry"),
    "gpus_used": N_("in use by {users}"),
    "gpus_busy": N_("GPUs {indices} are busy"),
    "gpus_idle": N_("idle"),
    "image_pulled": N_("image {image} is not on the node and is pulled before the measurement"),
    "image_absent": N_("image {image} is not on the node"),
    "no_runtime": N_("cannot use {runtime} on the node ({complaint})"),
    "lease_free": N_("no other trial"),
    "lease_held": N_("in use by {user} from {engine} since {since} for trial {trial}"),
    "no_file": N_("{path} does not exist"),
    "port_free": N_("TCP port {port} is free for the rendezvous"),
    "may_log_in": N_("can log in to {other}"),
    "cannot_log_in": N_("cannot log in to {other}, which {launcher} requires: {why}"),
    "starts": N_("{launcher} starts and finds {found}"),
    "does_not_start": N_("{launcher} does not start or does not find {found}: {cause}"),
    "start_not_tried": N_("{launcher} was not started: {cause}"),
    "no_address": N_("cannot resolve {address}, the address of node {other}: set `address` of that node ({reason})"),
    "differs": N_("{value}, but {usual} on {first}"),
    "equal": N_("{usual} on all nodes"),
    "nvlinks_up": N_("{most} NVLinks up on each GPU"),
    "nvlinks_down": N_("fewer than the {most} NVLinks of other GPUs are up: {gpus}"),
    "partition_limit": N_("partition {partition} allows at most {most} min: lower time_limit_minutes ({wanted})"),
    "partition_gives_less": N_(
        "partition {partition} allows at most {most} min, but a trial may take {wanted} min: Slurm would end it"
    ),
    # what is checked
    "check_reachable": N_("reachable"),
    "check_python": N_("python"),
    "check_clock": N_("clock"),
    "check_disk": N_("disk"),
    "check_port": N_("port"),
    "check_gpu_count": N_("gpu_count"),
    "check_gpu_model": N_("gpu_model"),
    "check_gpu_idle": N_("gpu_idle"),
    "check_driver": N_("driver"),
    "check_cuda": N_("cuda"),
    "check_nvlink": N_("nvlink"),
    "check_nvlink_equal": N_("nvlink_equal"),
    "check_infiniband": N_("infiniband"),
    "check_infiniband_equal": N_("infiniband_equal"),
    "check_address": N_("address"),
    "check_start": N_("start"),
    "check_image": N_("image"),
    "check_image_equal": N_("image_equal"),
    "check_files": N_("files"),
    "check_lease": N_("lease"),
    "check_ssh": N_("ssh"),
    "check_slurm": N_("slurm"),
    "check_time_limit": N_("time_limit"),
    # a sentence, and what stands before or behind it
    "and_more": N_("{subject}: {more}"),
    # of a run
    "nan_loss": N_("the loss is not a number: the throughput may be that of a broken training"),
    "unit_dialect": N_("the log uses an older name of its unit"),
    "truncated_archive": N_("the compressed log is truncated: its end is missing"),
    "ranks_in_log": N_("several ranks write to this log"),
    "inference": N_("the log is from inference or evaluation, not training"),
    "run_limit": N_("the log has too many runs to separate: the rest of the log is read as one run"),
    "too_few_samples": N_("only {count} records are used: {least} or more are usual"),
    "drift": N_("the throughput {direction} by {change:.1%} over the measured window: no steady state"),
    "rises": N_("rises"),
    "falls": N_("falls"),
    "end_stall": N_(
        "the last record ({last:amount}) is a stall: without it the mean is {without:amount}, not {mean:amount}"
    ),
    "pauses": N_(
        "{count} records are slower than half of the usual speed, the first in line {line}: evaluations, checkpoints "
        "or stalls"
    ),
    "printed_rate": N_(
        "printed {printed:amount}, computed from timestamps {timed:amount} {unit} ({difference:+.1%}){hint}"
    ),
    "suspect_accumulation": N_(": does a step process more samples than the batch size (gradient accumulation)?"),
    "several_runs": N_("run {number} of {runs} in this log"),
    "batch_size_mismatch": N_("declared batch size {stated}, but the log has {logged}"),
    "gpu_count_mismatch": N_("declared {stated} GPUs, but the log has {logged}"),
    "reader_bound": N_("{share:.0%} of the time is spent waiting for data: the input pipeline limits the throughput"),
    "above_flop_limit": N_("{value:amount} {unit} exceeds the {limit:amount} possible at the GPUs' dense peak"),
    "missing_end_marker": N_("the log has no end marker: the run was stopped, or the log is truncated"),
    "interleaved_ranks": N_("{evidence}"),
    "repeated_steps": N_(
        "every step is printed {copies} times: several ranks share the log, so records cannot be counted as steps"
    ),
    # of the machine
    "contended_cpu": N_("other processes used {share:.0%} of the processors while the trial was measured"),
    "telemetry_lost": N_("{rows} rows of telemetry could not be written, as on a full disk: power and load have gaps"),
    "log_replaced": N_("the program truncated, replaced or renamed logs while it ran; earlier parts: {logs}"),
    "contended_gpu": N_("other processes used {gpus} while the trial was measured"),
    "hw_slowdown": N_("hardware slowdown on {gpus}, in {share:.0%} of the samples"),
    "hw_thermal_slowdown": N_("hardware thermal slowdown on {gpus}, in {share:.0%} of the samples"),
    "hw_power_brake": N_("hardware power brake on {gpus}, in {share:.0%} of the samples"),
    "sw_thermal_slowdown": N_("software thermal slowdown on {gpus}, in {share:.0%} of the samples"),
    "sw_power_cap": N_("software power cap on {gpus}, in {share:.0%} of the samples"),
    "slower_gpu": N_("{gpu} ran at {clock:.0f} MHz, the others at {others:.0f} MHz and wait for it at every step"),
    "one_gpu": N_("GPU {name}"),
    "several_gpus": N_("{count} GPUs ({names})"),
    # of the trials of a configuration, and of a scaling series
    "too_few_trials": N_("{count} of the {repeats} trials that the protocol requires"),
    "trial_spread": N_("trials differ: {lowest:amount} … {highest:amount}, coefficient of variation {variation:.1%}"),
    "super_linear": N_(
        "{gpus} GPUs are {speedup:.2f} times as fast as one ({efficiency:.0%} efficiency): "
        "the 1-GPU result may be too low"
    ),
    "efficiency_rises": N_(
        "each of {more} GPUs is {gain:.0%} faster than each of {fewer}: the result of {fewer} may be too low"
    ),
    "trial_excluded": N_("excluded trials: {trials}"),
    "excluded_trial": N_("trial {number} ({why})"),
    "repeated": N_("repeated as trial {by}: {why}"),
    "asked_for": N_("requested"),
    # of a published figure
    "tf32": N_("the source states FP32, which the frameworks compute in TF32 on this accelerator"),
    # where the figure of a configuration stands
    "measured": N_("measured"),
    "published": N_("published"),
    "not_run": N_("not run"),
    "not_published": N_("not published"),
    "running": N_("running"),
    "not_supported": N_("not supported"),
    "failed": N_("failed"),
    "timed_out": N_("timed out"),
    "lost": N_("lost"),
    # how a published figure compares with its log
    "exact": N_("exact"),
    "differs_by": N_("{difference:+.3%}"),
    "no_log_published": N_("no raw log was published"),
    "no_log_here": N_("no raw log here"),
    "no_rule": N_("unknown rule"),
    "other_version": N_("no raw log here: the log of this name has a different result, and may be of another version"),
    # how two figures compare
    "faster": N_("faster"),
    "slower": N_("slower"),
    "not_distinguishable": N_("not distinguishable"),
    "spread_unknown": N_("spread unknown"),
    "not_comparable": N_("no figure: {why}"),
    "units_differ": N_("{a} against {b}"),
    # why there is no figure
    "no_records": N_("the log has no throughput records"),
    "no_records_of_format": N_("no log has throughput records of the format {format}"),
    "no_figure": N_("{reason}"),
    "no_figure_in_log": N_("no throughput in the log"),
    "no_speed": N_("{rule} gives {value}: not a valid throughput"),
    "step_size_unknown": N_("the log does not state how many {samples} a step has"),
    "gpus_unknown": N_("GPU count unknown: the log prints the throughput of one GPU or node; give --gpus"),
    "no_metric": N_("neither log nor telemetry gives the metric {metric}"),
    "no_sample_rate": N_("time and batch size give no value in {unit}: use a protocol such as printed"),
    "batch_unknown": N_("batch size or GPU count unknown: give --batch-size and --gpus"),
    "few_last": N_("too few samples: {count} records, the last {wanted} are required"),
    "few_before": N_("too few samples: the run ends before iteration {iteration}"),
    "few_before_step": N_("too few samples: the log ends before step {step}"),
    "few_after": N_("too few samples: no step after the first {steps}"),
    "few_steps": N_("too few samples: fewer than {wanted} steps after the first {steps}"),
    "few_tipc": N_("too few samples: tipc needs more than {least}"),
    "few_skipped": N_("too few samples: {count} records, {skipped} of them skipped"),
    "few_epochs": N_("too few samples: {count} epoch results, {skipped} of them skipped"),
    "few_time": N_("too few samples: the timestamps do not advance"),
    "few_work": N_("too few samples: no step completes between the timestamps"),
    "none_after": N_("too few samples: no record after the first {records}"),
    "none_of_last": N_("too few samples: no record of the last {records}"),
    "none_between": N_("too few samples: no record in iterations {first} … {last}"),
    "no_steps": N_("the records have no step numbers"),
    "no_timestamps": N_("the records have no timestamps"),
    "some_timestamps": N_("some records have no timestamp"),
    "no_step_seconds": N_("the log prints no seconds per step"),
    "unequal_steps": N_("the printed rates show that the steps differ in size"),
    "zero_step_seconds": N_("the printed seconds per step are zero"),
    "no_summary": N_("the program printed no final result"),
}
"""Code → text with a place for each parameter. A message with the code ``quoted`` carries its own text."""

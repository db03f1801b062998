"""What follows from a trial's end, from a request, and from what is known of times and machines: data in, data out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scripted import planned

from dlperf.campaign.create import trial_id
from dlperf.campaign.machines import Machines, demands_of
from dlperf.campaign.progress import campaign_seconds_left, trial_seconds_left
from dlperf.campaign.rules import events_after_end, events_of_request, exit_code, is_infrastructure, trials_to_cancel
from dlperf.errors import ExitCode, RequestError
from dlperf.messages import Message, message, quoted
from dlperf.plan import Node, Selection, TrialKey
from dlperf.runs.records import (
    CampaignRecord,
    CampaignStatus,
    JournaledFigure,
    Request,
    State,
    TrialStatus,
    trial_seconds,
)

SILENT = quoted("nothing listens there")
UNREACHABLE = message("unreachable", cause=SILENT)
EXIT_1 = message("exit_code", code_value=1)
KEYS = [TrialKey("a", number) for number in (1, 2, 3)]


def trials(*states: State, cause: Message | None = None) -> dict[TrialKey, TrialStatus]:
    return {key: TrialStatus(key, state, cause) for key, state in zip(KEYS, states, strict=False)}


@pytest.mark.parametrize(
    ("state", "cause", "expected"),
    [
        (State.LOST, message("no_exit_file"), True),
        (State.FAILED, UNREACHABLE, True),
        (
            State.FAILED,
            message("of_node", node="n1", cause=message("unreachable_since", since="t", cause=SILENT)),
            True,
        ),
        (State.FAILED, message("and_more", subject=EXIT_1, more=message("port_in_use")), True),
        (State.FAILED, message("not_ready", node="n1", check=message("check_gpu_idle"), message=SILENT), True),
        (State.FAILED, message("of_node", node="n1", cause=message("lease_lost", trial="other.1")), True),
        (State.FAILED, message("not_ready", node="n1", check=message("check_gpu_count"), message=SILENT), False),
        (State.FAILED, message("and_more", subject=EXIT_1, more=message("out_of_memory")), False),
        (State.FAILED, None, False),
        (State.TIMED_OUT, UNREACHABLE, False),
    ],
)
def test_only_failures_of_machines_are_tried_again_by_the_engine(state, cause, expected):
    assert is_infrastructure(TrialStatus(KEYS[0], state, cause)) is expected


@pytest.mark.parametrize(
    "said",
    [
        "master port 29500 | CUDA out of memory",
        "port 29500 is in use",
        "unreachable: n1: connection refused",
        "not ready: n1: gpu_idle: in use by train.py",
    ],
)
def test_what_a_program_prints_decides_no_retry(said):
    for cause in (
        message("last_output", cause=EXIT_1, lines=said),
        message("and_more", subject=EXIT_1, more=quoted(said)),
    ):
        assert not is_infrastructure(TrialStatus(KEYS[0], State.FAILED, cause))


@pytest.mark.parametrize("state", [State.SUCCEEDED, State.CANCELLED, State.RUNNING])
def test_nothing_follows_from_success_or_from_a_cancel(state):
    known = trials(state, State.PLANNED)
    assert events_after_end(known, known[KEYS[0]], "t") == []


def test_a_first_failure_changes_nothing():
    known = trials(State.FAILED, State.PLANNED, cause=EXIT_1)
    assert events_after_end(known, known[KEYS[0]], "t") == []


def test_a_second_equal_failure_ends_the_configuration():
    known = trials(State.FAILED, State.FAILED, cause=EXIT_1) | {KEYS[2]: TrialStatus(KEYS[2])}
    stopped, rest = events_after_end(known, known[KEYS[1]], "t")
    assert (stopped.event, stopped.data) == ("configuration_stopped", {"configuration": "a"})
    assert (rest.trial, rest.state) == ("a/3", "cancelled")


def test_a_retry_takes_the_next_free_number():
    known = trials(State.LOST, State.SUCCEEDED, State.SUCCEEDED)
    (event,) = events_after_end(known, known[KEYS[0]], "t")
    assert (event.event, event.trial, event.data) == ("planned", "a/4", {"retry_of": 1})


def test_a_trial_that_loses_the_race_for_its_machine_is_tried_until_it_has_it():
    lost, ended = message("lease_lost", trial="other.1"), {}
    for number in range(1, 6):
        key = TrialKey("a", number)
        ended[key] = TrialStatus(key, State.FAILED, lost, retry_of=number - 1 or None)
        (event,) = events_after_end(ended, ended[key], "t")
        assert (event.event, event.data) == ("planned", {"retry_of": number})


def test_a_request_for_the_campaign_is_about_every_trial():
    known = trials(State.SUCCEEDED, State.RUNNING, State.PLANNED)
    cancel = Request("t", "cancel")
    assert [event.trial for event in events_of_request(cancel, known, "t")] == ["a/3"]
    assert trials_to_cancel(cancel, known) == [KEYS[1]]


def test_retrying_a_campaign_tries_again_what_has_no_figure_and_no_later_try():
    known = trials(State.FAILED, State.CANCELLED, State.SUCCEEDED)
    known[TrialKey("a", 4)] = TrialStatus(TrialKey("a", 4), State.LOST, retry_of=1)
    events = events_of_request(Request("t", "retry"), known, "t")
    assert [(event.trial, event.data["retry_of"]) for event in events] == [("a/5", 2), ("a/6", 4)]


def test_a_running_trial_is_not_tried_again():
    with pytest.raises(RequestError, match="is running"):
        events_of_request(Request("t", "retry", "a/1"), trials(State.RUNNING), "t")


@pytest.mark.parametrize(
    ("known", "code"),
    [
        (trials(State.SUCCEEDED), ExitCode.DONE),
        (trials(State.SUCCEEDED, State.FAILED, cause=EXIT_1), ExitCode.MEASURED_FAILED),
        (trials(State.CANCELLED), ExitCode.MEASURED_FAILED),
        (trials(State.FAILED, cause=UNREACHABLE), ExitCode.UNREACHABLE),
    ],
)
def test_exit_codes_tell_failures_from_machines_that_do_not_answer(known, code):
    assert exit_code(CampaignStatus("try", known)) is code


def test_a_trial_whose_log_gave_no_figure_is_no_success_of_the_campaign():
    figures = (JournaledFigure(160.0, "images/s"), JournaledFigure(None, "images/s"), None)
    statuses = [TrialStatus(key, State.SUCCEEDED, figure=figure) for key, figure in zip(KEYS, figures, strict=True)]
    known = {status.key: status for status in statuses}
    assert exit_code(CampaignStatus("try", known)) is ExitCode.MEASURED_FAILED
    assert exit_code(CampaignStatus("try", known | {KEYS[1]: statuses[0]})) is ExitCode.DONE


# ------------------------------------------------------------------------------------------------ machines


def test_nodes_that_share_a_machine_are_one_machine():
    item = planned("a")
    nodes = tuple(Node(name, "local", "localhost", "localhost", gpu_indices=(n,)) for n, name in enumerate("ab"))
    assert len(demands_of(replace(item, launch=replace(item.launch, nodes=nodes)))) == 1


@pytest.mark.parametrize("changed", [{"host": "m2"}, {"port": 2222}, {"user": "eve"}, {"transport": "local"}])
def test_another_host_port_or_user_is_another_machine(changed):
    item = planned("a")
    other = replace(item, launch=replace(item.launch, nodes=(replace(item.launch.nodes[0], **changed),)))
    machines = Machines()
    machines.take(demands_of(item))
    assert machines.free(demands_of(other))
    assert not machines.free(demands_of(item))


def test_slurm_takes_as_many_jobs_as_its_nodes_allow():
    item = planned("a")
    launch = replace(item.launch, executor="slurm", queue={"max_nodes": 3})
    two_nodes = replace(item, launch=launch, configuration=replace(item.configuration, nodes=2))
    one_node = replace(item, launch=launch)
    machines = Machines()
    machines.take(demands_of(two_nodes))
    assert not machines.free(demands_of(two_nodes))
    assert machines.free(demands_of(one_node))


def test_jobs_that_share_their_nodes_run_one_at_a_time():
    item = planned("a")
    shared = {"max_nodes": 3, "exclusive": False}
    item = replace(item, launch=replace(item.launch, executor="slurm", queue=shared))
    machines = Machines()
    machines.take(demands_of(item))
    assert not machines.free(demands_of(item))


def test_a_machine_rests_after_a_trial():
    machines, demands = Machines(), demands_of(planned("a"))
    machines.take(demands)
    machines.release(demands, 7.0)
    assert machines.free(demands)
    assert machines.rested_at(demands) == 7.0


def test_a_machine_that_a_waiting_trial_claims_goes_to_no_other_trial():
    machines, demands = Machines(), demands_of(planned("a"))
    first, second = TrialKey("a", 1), TrialKey("b", 1)
    machines.take(demands)
    assert not machines.reclaim(first, demands, now=1.0)
    assert not machines.reclaim(second, demands, now=1.0)
    machines.release(demands, 2.0)
    assert not machines.free(demands)
    assert not machines.reclaim(second, demands, now=3.0)
    assert not machines.reclaim(first, demands, now=1.0), "it rests still"
    assert machines.reclaim(first, demands, now=3.0)
    machines.release(demands, 3.0)
    machines.withdraw(second)
    assert machines.free(demands)


# ----------------------------------------------------------------------------------------------- time left


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02d}.000000Z"


def ran(key: TrialKey, start: int, end: int) -> TrialStatus:
    return TrialStatus(key, State.SUCCEEDED, started=at(start), ended=at(end))


def test_a_trial_takes_as_long_as_its_like():
    known = trial_seconds([ran(KEYS[0], 0, 10), ran(KEYS[1], 10, 22)])
    assert known == {"a": 11.0}
    running = TrialStatus(KEYS[2], State.RUNNING, started=at(22))
    assert trial_seconds_left(running, known, at(25)) == 8.0
    assert trial_seconds_left(running, known, at(59)) == 0.0


def test_a_campaign_takes_as_long_as_its_busiest_machine():
    other = [TrialKey("b", number) for number in (1, 2)]
    status = {KEYS[0]: ran(KEYS[0], 0, 10), KEYS[1]: TrialStatus(KEYS[1], State.RUNNING, started=at(10))}
    status |= {key: TrialStatus(key) for key in other}
    machines = {"a": frozenset({"m1"}), "b": frozenset({"m2"})}
    assert campaign_seconds_left(status, {KEYS[1]: 3.0}, machines, at(12)) == 20.0
    assert campaign_seconds_left(status, {}, machines, at(12)) == 20.0
    assert campaign_seconds_left(status, {}, {"a": frozenset({"m1"}), "b": frozenset({"m1"})}, at(12)) == 28.0


def test_nothing_is_guessed_before_anything_has_succeeded():
    assert campaign_seconds_left(trials(State.RUNNING, State.PLANNED), {}, {}, at(0)) is None
    assert campaign_seconds_left(trials(State.FAILED), {}, {}, at(0)) == 0.0


def test_a_first_trial_that_knows_its_steps_gives_the_time_of_its_like():
    trials = {KEYS[0]: TrialStatus(KEYS[0], State.RUNNING, started=at(0)), KEYS[1]: TrialStatus(KEYS[1])}
    assert campaign_seconds_left(trials, {KEYS[0]: 30.0}, {"a": frozenset({"m1"})}, at(10)) == 70.0


# ------------------------------------------------------------------------------------------------------ ids


@pytest.mark.parametrize("name", ["try", "it's `a` name\nof 数据", "/../..", "-", "x" * 100])
def test_the_id_of_a_trial_is_safe_in_a_path_a_shell_and_a_container(name):
    record = CampaignRecord(name, "0123abcd", "t", "0", Selection(), (), ())
    made = trial_id(record, TrialKey("h" * 63 + "_" + "f" * 63 + "_" + "c" * 63, 12))
    assert len(made) <= 200
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
    assert made.endswith(".12")
    assert "0123abcd" in made
    assert not made.startswith(("-", "."))


def test_long_configurations_keep_ids_of_their_own():
    record = CampaignRecord("try", "0123abcd", "t", "0", Selection(), (), ())
    long = "h" * 250
    assert trial_id(record, TrialKey(long + "a", 1)) != trial_id(record, TrialKey(long + "b", 1))

"""A journal tells the state of its campaign, whatever happened to the file."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from dlperf.errors import DlperfError
from dlperf.messages import Message, quoted
from dlperf.plan import Selection, TrialKey
from dlperf.runs.journal import CampaignReader, campaign_status, figure_data, fold, trial_key
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import CampaignRecord, Event, JournaledFigure, State
from dlperf.runs.store import append_records, read_records, write_campaign

KEYS = (TrialKey("a", 1), TrialKey("b", 1))
RECORD = CampaignRecord("try", "00000000", "2026-01-01T00:00:00Z", "0.1.0", Selection(), (), KEYS)


def state(key: TrialKey, name: str, time: str = "t", cause: Message | None = None) -> Event:
    return Event(time, "state", str(key), name, cause)


@pytest.fixture
def paths(tmp_path) -> CampaignPaths:
    paths = CampaignPaths(tmp_path / "try")
    write_campaign(paths, RECORD)
    return paths


def test_a_trial_goes_through_its_states():
    events = [state(KEYS[0], "submitted", "1"), state(KEYS[0], "running", "2"), state(KEYS[0], "failed", "3", "exit 1")]
    trial = fold(RECORD, events).trials[KEYS[0]]
    assert (trial.state, trial.cause, trial.started, trial.ended) == (State.FAILED, "exit 1", "2", "3")


def test_a_retry_is_a_trial_of_its_own_and_lifts_the_stop_of_its_configuration():
    stopped = Event("1", "configuration_stopped", cause=quoted("exit 1"), data={"configuration": "a"})
    planned = Event("2", "planned", "a/2", data={"retry_of": 1})
    assert fold(RECORD, [stopped]).stopped_configurations == {"a": quoted("exit 1")}
    status = fold(RECORD, [stopped, planned])
    assert status.trials[TrialKey("a", 2)].retry_of == 1
    assert status.stopped_configurations == {}


def test_a_campaign_pauses_finishes_and_starts_again():
    events = [Event("1", "campaign_started"), Event("2", "paused"), Event("3", "campaign_finished")]
    assert fold(RECORD, events[:2]).paused
    assert fold(RECORD, events).finished
    again = fold(RECORD, [*events, Event("4", "unpaused"), Event("5", "campaign_started")])
    assert (again.paused, again.finished) == (False, False)


def test_unreachable_since_is_the_first_time():
    events = [Event(time, "node_unreachable", data={"node": "n1"}) for time in ("1", "2")]
    assert fold(RECORD, events).unreachable == {"n1": "1"}
    assert fold(RECORD, [*events, Event("3", "node_reachable", data={"node": "n1"})]).unreachable == {}


def test_a_trial_that_ended_tells_its_figure_and_one_that_was_measured_again_the_newer_one():
    ended = replace(state(KEYS[0], "succeeded"), data=figure_data(12.5, "images/s"))
    assert fold(RECORD, [ended]).trials[KEYS[0]].figure == JournaledFigure(12.5, "images/s")
    again = Event("2", "measured", str(KEYS[0]), data=figure_data(13.0, "images/s"))
    trial = fold(RECORD, [ended, again]).trials[KEYS[0]]
    assert (trial.state, trial.ended, trial.figure) == (State.SUCCEEDED, "t", JournaledFigure(13.0, "images/s"))


def test_an_older_journal_tells_no_figure_but_that_what_never_ran_has_none():
    assert fold(RECORD, [state(KEYS[0], "succeeded")]).trials[KEYS[0]].figure is None
    assert fold(RECORD, [state(KEYS[0], "cancelled")]).trials[KEYS[0]].figure == JournaledFigure()


@pytest.mark.parametrize(
    "event",
    [Event("1", "from_the_future"), Event("1", "measured", "z/1", data=figure_data(1.0, "")), Event("1", "measured")],
)
def test_what_is_said_of_nothing_known_changes_nothing(event):
    assert fold(RECORD, [event]) == fold(RECORD, [])


@pytest.mark.parametrize(
    "event",
    [Event("1", "from_the_future"), Event("1", "state", "a/1", "levitating"), Event("1", "state", "no key", "failed")],
)
def test_what_this_version_does_not_know_changes_nothing(event):
    assert fold(RECORD, [event]) == fold(RECORD, [])


def test_ten_thousand_trials_fold_in_one_pass():
    keys = tuple(TrialKey("a", number) for number in range(10_000))
    record = replace(RECORD, trials=keys)
    events = [state(key, name) for name in ("submitted", "running", "succeeded") for key in keys]
    assert fold(record, events).count(State.SUCCEEDED) == 10_000


def test_a_line_that_a_crash_cut_is_passed_over_and_the_next_one_stands_alone(paths):
    append_records(paths.journal, [state(KEYS[0], "submitted")])
    with paths.journal.open("ab") as stream:
        stream.write(b'{"time":"2","event":"sta')
    append_records(paths.journal, [state(KEYS[0], "running")])
    assert campaign_status(paths).trials[KEYS[0]].state is State.RUNNING


def test_a_reader_sees_what_was_added_once(paths):
    reader = CampaignReader(paths)
    before = reader.refresh()
    assert reader.refresh() is before
    append_records(paths.journal, [state(KEYS[0], "running")])
    assert reader.refresh().trials[KEYS[0]].state is State.RUNNING
    assert before.trials[KEYS[0]].state is State.PLANNED


def test_a_reader_begins_anew_when_the_campaign_was_made_again(paths):
    append_records(paths.journal, [state(KEYS[0], "running")] * 3)
    reader = CampaignReader(paths)
    reader.refresh()
    paths.journal.unlink()
    write_campaign(paths, replace(RECORD, trials=(TrialKey("c", 1),)))
    append_records(paths.journal, [state(TrialKey("c", 1), "running")])
    assert list(reader.refresh().trials) == [TrialKey("c", 1)]


def test_an_unfinished_last_line_is_left_for_the_next_look(paths):
    with paths.journal.open("ab") as stream:
        stream.write(b'{"time":"1","event":"paused"}\n{"time":"2",')
        stream.flush()
        events, offset = read_records(paths.journal, Event)
        stream.write(b'"event":"unpaused"}\n')
    assert [event.event for event in events] == ["paused"]
    assert [event.event for event in read_records(paths.journal, Event, offset)[0]] == ["unpaused"]


def test_a_long_journal_is_read_to_its_last_line_whatever_was_cut_in_it(paths):
    for part in range(3):
        append_records(paths.journal, [Event(f"{part}", "note", cause=quoted("x" * 500)) for _ in range(1000)])
        with paths.journal.open("ab") as stream:
            stream.write(b'{"time":"2","event":"sta')
    append_records(paths.journal, [state(KEYS[0], "running")])
    events, offset = read_records(paths.journal, Event)
    assert [len([event for event in events if event.time == time]) for time in ("0", "1", "2", "t")] == [1000] * 3 + [1]
    assert offset == paths.journal.stat().st_size


def test_two_writers_do_not_mix_their_lines(paths):
    writer = (
        "import sys; from pathlib import Path; from dlperf.runs.records import Event;"
        "from dlperf.runs.store import append_records; from dlperf.messages import quoted\n"
        "for n in range(50): append_records(Path(sys.argv[1]), [Event('t', sys.argv[2], cause=quoted('x' * 5000))])"
    )
    writers = [subprocess.Popen([sys.executable, "-c", writer, paths.journal, name]) for name in ("one", "two")]
    assert [process.wait() for process in writers] == [0, 0]
    events = [event.event for event in read_records(paths.journal, Event)[0]]
    assert (events.count("one"), events.count("two")) == (50, 50)


def test_a_full_disk_is_said_in_one_line(small_disk):
    with pytest.raises(DlperfError, match=r"journal\.jsonl: cannot be written \(No space left on device\)"):
        append_records(small_disk / "journal.jsonl", [Event("t", "note", cause=quoted("x" * (2 << 20)))])


def test_keys_are_read_back_from_their_text():
    assert trial_key(str(KEYS[0])) == KEYS[0]
    with pytest.raises(ValueError, match="invalid literal"):
        trial_key("a/b")


def test_a_journal_that_cannot_be_opened_is_said_in_one_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DlperfError, match=r"journal\.jsonl: cannot be written \(File exists\)"):
        append_records(tmp_path / "file" / "journal.jsonl", [Event("t", "note")])

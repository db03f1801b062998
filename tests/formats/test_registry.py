"""Which formats there are, and a workspace's own."""

from __future__ import annotations

import pytest
from fixtures import LOGS

from dlperf.catalog.log_format import LogFormat
from dlperf.errors import RequestError
from dlperf.formats.recorder import RUN_LIMIT
from dlperf.formats.registry import describe, detect, format_ids, parser_for
from dlperf.formats.text.literals import SMALL, leading_text, texts_in

OURS = LogFormat(
    id="ours",
    title="Our trainer",
    unit="samples/s",
    scope="per_node",
    window="step",
    detect="^trainer v2",
    record=r"step (?P<step>\d+)/(?P<steps>\d+): (?P<milliseconds_per_step>[\d.]+) ms, loss (?P<loss>\S+)",
    metadata={"batch_size": (r"batch (\d+)",)},
)
LOG = b"trainer v2\nbatch 32\nstep 1/2: 250.0 ms, loss nan\nstep 2/2: 200.0 ms, loss 1.5\n"


def test_an_unknown_format_names_near_ones():
    with pytest.raises(RequestError, match="no log format 'dlloger': did you mean dllogger"):
        parser_for("dlloger")


def test_a_workspace_can_add_a_format():
    assert "ours" not in format_ids()
    assert "ours" in format_ids([OURS])
    assert describe("ours", [OURS]).scope == "per_node"
    assert detect(LOG, [OURS]) == "ours"
    assert detect(LOG) is None
    parser = parser_for("ours", [OURS])
    parser.feed(LOG)
    parser.finish()
    (run,) = parser.runs
    assert list(run.samples.seconds_per_step) == [0.25, 0.2]
    assert (run.metadata.batch_size, run.complete, run.notes) == (32, True, ["nan_loss"])


def test_a_field_can_be_declared_in_several_ways():
    ways = OURS.model_validate(OURS.model_dump() | {"metadata": {"batch_size": ("samples (\\d+)", "batch (\\d+)")}})
    parser = parser_for("ours", [ways])
    parser.feed(LOG)
    assert parser.runs[0].metadata.batch_size == 32


def test_a_workspace_can_replace_a_format():
    assert describe("mmseg", [OURS.model_copy(update={"id": "mmseg"})]).title == "Our trainer"


def test_a_format_whose_record_of_a_whole_run_has_no_rate_is_read():
    record = r"took (?P<seconds_per_step>[\d.]+) s a step"
    parser = parser_for("ours", [OURS.model_copy(update={"window": "run", "stated_once": True, "record": record})])
    parser.feed(b"trainer v2\ntook 0.25 s a step\ntook 0.25 s a step\n")
    parser.finish()
    assert [list(run.samples.seconds_per_step) for run in parser.runs] == [[0.25, 0.25]]


def test_ranks_of_torchtitan_behind_an_unknown_prefix_are_no_records():
    """Each would count as a step of its own."""
    parser = parser_for("torchtitan")
    line = "pod-{} [titan] 2025-10-10 10:00:10,000 - root - INFO - step: 10  loss:  7.5  memory: 29GiB  tps: 8,192\n"
    parser.feed((line.format(0) + line.format(1)).encode())
    parser.finish()
    assert parser.runs == []


def test_a_format_is_recognised_only_where_its_mark_is_in_the_log():
    assert detect(LOG.replace(b"trainer v2", b"trainer v1"), [OURS]) is None


def test_a_log_without_records_yet_is_not_recognised():
    assert detect(b"") is None
    assert detect(b"ips: None\n--ips:0,1,2,3 will change\nips: 127.0.0.1\n") is None


def test_every_format_says_what_it_is():
    for format_id in format_ids():
        info = describe(format_id)
        assert info.id == format_id
        assert info.title
        assert info.unit.endswith("/s") or info.id == "mllog"


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"total step: (?P<step>\d+)", "total step: "),
        (r"^\+ num_gpus=(\d+)$", "+ num_gpus="),
        (r"Namespace\(.*?\bbatch_size=(\d+)", "Namespace("),
        (r"abc*d", "ab"),
        (r"abc\.?", "abc"),
        (r"abc|def", ""),
        (r"abc(x)|def", ""),
        (r"abc(x|y)", "abc"),
        (r"abc[|]", "abc"),
        (r"abc\|d", "abc|d"),
        (r"(?i)abc", ""),
        (r"\babc=(\d+)", "abc="),
        (r"\b.*?abc", "abc"),
        (r"^ +abc: (\d+)", "abc: "),
        (r"^ *\"abc\": (\d+)", '"abc": '),
        (r"^ *a?bc", ""),
        (r"\Babc", ""),
        (r"\d+ abc", ""),
    ],
)
def test_the_text_that_a_match_begins_with_is_found_where_it_is_plain(pattern, text):
    assert leading_text(pattern) == text


@pytest.mark.parametrize("format_id", format_ids())
def test_no_builtin_rule_has_to_search_every_line(format_id):
    rules = parser_for(format_id)._rules
    # what ends a dumped section is any line that is less indented: it is seen up to the first record alone
    assert all(len(rule.contains) > 2 for rule in (*rules.events, *rules.declarations))


def test_a_declared_format_starts_every_log_anew():
    first, second = parser_for("ours", [OURS]), parser_for("ours", [OURS])
    first.feed(LOG)
    assert second.runs == []


def test_logs_of_one_format_are_not_taken_for_another():
    found = {log.parent.name: detect(log.read_bytes()) for log in LOGS}
    assert all(expected == actual for expected, actual in found.items())


def test_a_log_of_any_number_of_runs_is_read_and_the_last_run_says_so():
    line = "DLPERF 2026-01-31T12:00:0{}.0Z step={} throughput=5.0\n"
    log = (line.format(1, 1) + line.format(2, 2)) * (RUN_LIMIT + 2)
    parser = parser_for("dlperf")
    parser.feed(log.encode())
    parser.finish()
    assert [len(run.samples) for run in parser.runs] == [2] * (RUN_LIMIT - 1) + [6]
    assert [run.notes for run in parser.runs[-2:]] == [[], ["run_limit"]]


def test_texts_are_found_in_one_pass_as_one_by_one():
    formats = [parser_for(format_id)._rules for format_id in format_ids()]
    texts = frozenset({rule.contains for rules in formats for rule in rules.events} | {b"", b"\xff(", b"absent"})
    block = b"\n".join(sorted(texts - {b"absent"})[::2]) + b"\0" * SMALL
    assert texts_in(block, texts) == {text for text in texts if text in block}


@pytest.mark.parametrize(
    ("loss", "notes"),
    [("nan", True), ("-nan", True), ("NaN", True), ("inf", True), ("-inf", True), ("Infinity", True), ("2.5", False)],
)
def test_a_loss_that_is_no_finite_number_is_noted(loss: str, notes: bool) -> None:
    parser = parser_for("dlperf")
    lines = (f"DLPERF 2026-01-31T12:00:{step:02}.000000Z step={step} samples={step} loss={loss}\n" for step in (10, 20))
    parser.feed("".join(lines).encode())
    parser.finish()
    assert [run.notes for run in parser.runs] == [["nan_loss"] if notes else []]


@pytest.mark.parametrize(
    "rest",
    [
        "| val loss 2.3 | 500 tok/s",
        "| loss 2.3 | 500 tok/s/gpu",
        "| loss 2.3 | 500 tok/s per GPU",
        "| loss 2.3 | load time 3 ms",
        "| 500 tok/s",
    ],
)
def test_lines_of_no_known_program_are_read_only_where_their_words_leave_no_doubt(rest: str) -> None:
    lines = "".join(f"step {step} {rest}\n" for step in range(20))
    assert detect(lines.encode()) is None


def test_lines_of_no_known_program_count_only_where_no_known_format_has_records() -> None:
    own = "".join(f"step {step} | loss 2.3 | 500 tok/s\n" for step in range(20))
    known = "DLPERF 2026-01-31T12:00:00.0Z step=1 throughput=5.0\n"
    assert (detect(own.encode()), detect((own + known).encode())) == ("step-lines", "dlperf")


@pytest.mark.parametrize(
    ("steps", "total", "complete"),
    [
        (range(10, 101, 10), 105, True),
        (range(10, 101, 10), 100, True),
        (range(10, 91, 10), 100, False),
        (range(0, 91, 10), 100, True),
        (range(0, 81, 10), 100, False),
        (range(1, 100), 100, False),
        (range(100), 100, True),
    ],
)
def test_a_run_is_complete_where_its_next_record_would_lie_beyond_its_end(
    steps: range, total: int, complete: bool
) -> None:
    line = '{{"current_steps": {0}, "total_steps": {1}, "loss": 0.7, "lr": 1e-5, "elapsed_time": "0:{0:02}:00"}}\n'
    parser = parser_for("llamafactory")
    parser.feed("".join(line.format(step, total) for step in steps).encode())
    parser.finish()
    assert [run.complete for run in parser.runs] == [complete]

"""Published figures against raw logs."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from math import nan
from typing import Any

import pytest

from dlperf.formats.samples import Run, Samples
from dlperf.runs.published import LocalizedText, PublishedFigure, PublishedReport
from dlperf.verification.audit import AuditRow, audit, verdict_of, verdicts_of
from dlperf.verification.raw_logs import LocalLog, same_log

FIGURE = PublishedFigure(
    model="ResNet50V1.5",
    framework="NGC PyTorch",
    hardware="Tesla V100",
    nodes=1,
    gpus=8,
    precision="FP32",
    batch_size=256,
    metric="throughput",
    unit="images/sec",
    value=800.5,
    printed="800.5",
    source="owner/repository@abc:README.md",
    log="owner/repository@abc:logs/a.txt",
    rule="skipmean(1) x8",
    estimator="skipmean(1)",
)
HERE = LocalLog("runs/logs/a.txt", "runs/x/out.log")


def a_run(*values: float) -> Run:
    missing = array("d", [nan] * len(values))
    columns = dict.fromkeys(("seconds_per_step", "step", "epoch", "time", "loss", "reader_share", "samples"), missing)
    samples = Samples(value=array("d", values), line=array("q", range(1, len(values) + 1)), **columns)
    return Run("test", "images/s", "per_gpu", "interval", samples=samples)


def rows(
    *figures: PublishedFigure, logs: Sequence[LocalLog] = (HERE,), runs: Sequence[Run] = (), **more: Any
) -> list[AuditRow]:
    report = PublishedReport(
        "a", LocalizedText(), "en", "", "", None, None, LocalizedText(), LocalizedText(), (), "", (), (), figures
    )
    return audit([report], logs, lambda _: runs or (a_run(1.0, 100.0, 100.125),), digest=lambda log: log.source, **more)


def test_a_log_that_gives_the_figure_is_exact():
    (row,) = rows(FIGURE)
    assert (str(row.verdict), row.rule, row.recomputed) == ("exact", "skipmean(1)", 800.5)
    assert (row.difference, row.local_log, row.published) == (0.0, "runs/x/out.log", "800.5")
    assert (row.case, row.framework, row.gpus, row.unit) == ("resnet50", "ngc-pytorch", 8, "images/s")


def test_a_log_that_gives_another_figure_says_by_how_much():
    (row,) = rows(replace(FIGURE, value=790.0, printed="790.0"))
    assert str(row.verdict) == "+1.329 %"
    assert row.difference == pytest.approx(800.5 / 790 - 1)


def test_the_hash_is_of_the_log_that_was_read_where_two_folders_have_one_of_its_name():
    old, new = (LocalLog(f"owner/repository@{commit}:logs/a.txt", "logs/a.txt") for commit in ("abc", "def"))
    found = rows(FIGURE, replace(FIGURE, log="owner/repository@def:logs/a.txt"), logs=(old, new))
    assert [row.log_sha256 for row in found] == [old.source, new.source]


def test_an_imported_log_of_another_hash_than_the_one_of_a_verdict_is_not_counted():
    kept = verdicts_of(replace(row, date="2026-01-01") for row in rows(FIGURE))
    sent = replace(HERE, imported=True)
    problems: list[str] = []
    (same,) = rows(FIGURE, logs=[sent], kept=kept)
    (other,) = rows(FIGURE, logs=[replace(sent, source="x/logs/a.txt")], kept=kept, complain=problems.append)
    assert (same.local_log, same.date, other.local_log, other.date) == ("runs/x/out.log", "", None, "2026-01-01")
    assert problems == ["runs/x/out.log: not the log that gave 800.5 on 2026-01-01: not counted"]


def test_a_verdict_says_nothing_of_a_figure_of_another_hardware():
    kept = verdicts_of(replace(row, date="2026-01-01") for row in rows(FIGURE))
    (same,), (moved,) = (rows(each, logs=(), kept=kept) for each in (FIGURE, replace(FIGURE, hardware="H100")))
    assert (str(same.verdict), str(moved.verdict)) == ("exact", "no raw log here")


def test_one_unit_of_the_last_printed_digit_is_exact():
    assert str(verdict_of("415.786", 415.7865)) == "exact"
    assert str(verdict_of("6.13", 6.1358)) == "exact"
    assert str(verdict_of("10336", 10336.4)) == "exact"
    assert verdict_of("415.786", 415.7881) != "exact"


def test_figures_without_a_log_say_so():
    unpublished, elsewhere = rows(replace(FIGURE, log=""), replace(FIGURE, log="owner/repository@abc:logs/b.txt"))
    assert str(unpublished.verdict) == "no raw log was published"
    assert str(elsewhere.verdict) == "no raw log here"
    assert (elsewhere.recomputed, elsewhere.difference, elsewhere.local_log) == (None, None, None)


def test_a_figure_whose_estimator_is_not_known_says_so():
    assert [str(row.verdict) for row in rows(replace(FIGURE, estimator=""))] == ["unknown rule"]


def test_a_log_that_is_too_short_for_the_estimator_says_so():
    (row,) = rows(replace(FIGURE, estimator="tipc(skip=10)"))
    assert row.recomputed is None
    assert str(row.verdict).startswith("too few samples")


def test_a_log_of_another_version_is_not_held_against_a_figure():
    older = replace(FIGURE, log="owner/repository@old:logs/a.txt", value=790.0, printed="790.0")
    new, old = rows(FIGURE, older)
    assert str(new.verdict) == "exact"
    assert str(old.verdict).startswith("no raw log here")
    assert old.recomputed is None


def test_a_log_whose_commit_is_known_belongs_to_the_figures_of_that_commit_alone():
    older = replace(FIGURE, log="owner/repository@old:logs/a.txt", value=790.0, printed="790.0")
    new, old = rows(FIGURE, older, logs=[LocalLog("owner/repository@old:x/logs/a.txt", "here")])
    assert (str(new.verdict), str(old.verdict)) == ("no raw log here", "+1.329 %")


def test_speed_ups_are_no_figures_of_a_log():
    assert rows(replace(FIGURE, metric="speedup")) == []


def test_logs_are_the_same_where_the_shorter_path_ends_the_longer():
    assert same_log("o/r@c:a/b/x.log", "b/x.log")
    assert same_log("o/r@c:b/x.log", "logs/a/b/x.log")
    assert not same_log("o/r@c:a/b/x.log", "c/x.log")
    assert not same_log("o/r@c:x.log", "o/r@d:x.log")
    assert not same_log("o/r@c:ax.log", "x.log")

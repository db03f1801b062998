"""A value, its curve, the live rate, the terminal's curve, parsed output and the page say the same of a log."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate, pairwise
from math import isfinite
from pathlib import Path
from statistics import mode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlperf.app.model.curve import Series
from dlperf.app.series import SeriesReader, log_run_of
from dlperf.app.watching import WatchedCampaign
from dlperf.campaign.live import RECENT, LiveLog
from dlperf.catalog.files.load import load_catalog
from dlperf.catalog.patterns import BY_TIME
from dlperf.derived.parsing import ParsedRun, ParseOptions, parse_logs
from dlperf.derived.timeline import Timeline
from dlperf.evidence.gather import run_that_counts
from dlperf.evidence.logs import BUILTIN_FORMATS, is_plain
from dlperf.formats.samples import Run
from dlperf.measured.model import TrialResult
from dlperf.plan import PlannedConfiguration, PlannedProtocol, TrialKey
from dlperf.report.figures import value_text
from dlperf.table.load import load_results
from dlperf.table.model import ConfigurationResult
from handmade_trials import end_trial, planned, workspace_in, write_planned
from kept_records import read_record
from real_logs import packed_logs, plain_logs, unpack_logs

TOLERANCE = 0.001
PLAN = replace(planned(8, repeats=1), protocol=PlannedProtocol())
"""Of every log: 8 GPUs, batch size 4, the log's natural estimator."""


OF_SEVERAL_LINES = {entry.id for entry in load_catalog().formats.values() if entry.continues}
"""Formats whose records go on in further lines."""
AVERAGES = ("mean", "skipmean", "tailmean", "window", "tipc")
"""Rules whose value is not work over time."""


@dataclass
class Shown:
    """What the product shows of the run of a log that is a trial's."""

    campaign: WatchedCampaign
    log: Path
    plan: PlannedConfiguration
    parsed: ParsedRun | None
    """None where the log holds no run."""
    run: Run | None
    result: TrialResult
    timeline: Timeline
    row: ConfigurationResult

    @property
    def page(self) -> str:
        """The value as a page prints it."""
        return value_text(self.row)

    @property
    def key(self) -> TrialKey:
        return TrialKey(self.row.id, 1)

    @property
    def terminal(self) -> str:
        """The value in the terminal's list of trials."""
        return self.campaign.trial_row(self.key, None, 0.0).cells[3]

    @property
    def series(self) -> Series | None:
        """The terminal's curve."""
        return SeriesReader(self.log, self.plan, BUILTIN_FORMATS, log_run_of(self.campaign, self.key)).whole()

    @property
    def growing(self) -> Series | None:
        """The terminal's curve while the log grew."""
        return SeriesReader(self.log, self.plan, BUILTIN_FORMATS).advance()

    @property
    def live(self) -> list[float]:
        """The last rates that the engine saw while the log grew."""
        live = LiveLog(self.log, self.plan)
        while live.read():
            pass
        assert live.progress.value == (live.progress.recent[-1] if live.progress.recent else None)
        return list(live.progress.recent)


def shown(folder: Path, log: Path | str, plan: PlannedConfiguration | None = None, log_run: int | None = None) -> Shown:
    """Measure the last run of a log, or another one, as a trial, in its own format and unit unless a plan is given."""
    source = folder / "out.log"
    source.write_text(log) if isinstance(log, str) else shutil.copyfile(log, source)
    if is_plain(source) and not source.read_bytes().endswith(b"\n"):
        source.write_bytes(source.read_bytes() + b"\n")  # nobody knows whether the last line of a growing log is whole
    runs = parse_logs([source], ParseOptions(gpus=8, batch_size=4)).runs
    parsed = runs[log_run - 1 if log_run else -1] if runs else None
    plan = plan or (replace(PLAN, format=parsed.run.format, unit=parsed.run.unit) if parsed else PLAN)
    workspace = workspace_in(folder)
    campaign = write_planned(workspace, "a", [plan])
    trial = campaign.trial(TrialKey(plan.configuration.id, 1))
    archived = trial.directory / "nodes" / "n0" / "out.log"
    archived.parent.mkdir(parents=True)
    shutil.copyfile(source, archived)
    end_trial(campaign, plan, 1, {}, log_run=log_run)
    result, timeline = read_record(trial.result, TrialResult), read_record(trial.timeline, Timeline)
    run = run_that_counts(BUILTIN_FORMATS.read(source, plan.format), log_run)
    assert (run is None) == (parsed is None)
    watched = WatchedCampaign(campaign)
    return Shown(watched, source, plan, parsed, run, result, timeline, load_results(workspace)[0])


def assert_agreement(found: Shown, length: int = 1) -> None:
    """Compare every place that shows a number of the log, of whose samples the plan makes so many tokens."""
    figure = found.parsed.figure if found.parsed else None
    result, series = found.result, found.series
    # nobody knows whether the last record of a growing log is whole where a record has several lines
    seen = len(growing.values) if is_plain(found.log) and (growing := found.growing) else 0
    behind = len(series.values) - seen if series and found.plan.format in OF_SEVERAL_LINES else 0
    assert behind in (0, 1)
    whole = -behind or None
    rates = [rate for rate in series.values[:whole] if isfinite(rate)] if series else []
    if is_plain(found.log) and log_run_of(found.campaign, found.key) is None:
        assert found.live == pytest.approx(rates[-RECENT:], rel=TOLERANCE)
        growing = found.growing
        drawn = list(growing.values) if growing else []
        assert drawn == pytest.approx(list(series.values[:whole]) if series else [], rel=TOLERANCE, nan_ok=True)
    if figure is None or result.value is None or not result.usable:
        assert result.value is None or result.errors
        assert (found.row.value, found.terminal != "") == (None, result.value is not None)
        return
    assert result.value == pytest.approx(figure.value * length, rel=TOLERANCE)
    for text in (found.page, found.terminal.split()[0]):
        assert float(text.replace(",", "")) == pytest.approx(result.value, rel=TOLERANCE)
    if series is None:
        assert found.timeline.throughput == ()
        return
    if figure.estimate.records and not result.estimator.startswith(AVERAGES):
        assert mean_over_time(found, series) == pytest.approx(result.value, rel=TOLERANCE)
    by_step: dict[float, list[float]] = {}
    for step, rate in series.points():
        by_step.setdefault(step, []).append(rate)
    assert all(pytest.approx(rate, rel=TOLERANCE) in by_step[step] for step, rate in found.timeline.throughput)


def mean_over_time(found: Shown, series: Series) -> float:
    """Return the mean of a curve over the records that gave the value, each weighted by its seconds."""
    samples, used = found.run.samples, found.parsed.figure.estimate.records
    if found.result.estimator.startswith(BY_TIME):
        timed = (index for index, time in enumerate(samples.time) if isfinite(time))
        known = [index for index in timed if index not in used or isfinite(series.values[index])]
        gaps = {later: samples.time[later] - samples.time[index] for index, later in pairwise(known)}
    else:
        usual = mode([later - step for step, later in pairwise(samples.step) if later > step] or [1.0])
        covered = [min(later - step, usual) if later > step else usual for step, later in pairwise(series.steps)]
        times = zip(samples.seconds_per_step, series.values, strict=True)
        seconds = [time if time > 0 else 1 / rate for time, rate in times]
        gaps = {index: [usual, *covered][index] * seconds[index] for index in used}
    shares = [(series.values[index], gaps[index]) for index in used if isfinite(series.values[index])]
    return sum(rate * seconds for rate, seconds in shares) / sum(seconds for _, seconds in shares)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus2")
    unpack_logs(folder)
    return folder


@pytest.mark.parametrize("log", plain_logs(), ids=lambda path: path.name)
def test_everything_agrees_on_public_logs(tmp_path: Path, log: Path) -> None:
    assert_agreement(shown(tmp_path, log))


@pytest.mark.parametrize("name", packed_logs())
def test_everything_agrees_on_packed_logs(tmp_path: Path, unpacked: Path, name: str) -> None:
    assert_agreement(shown(tmp_path, unpacked / name))


@settings(max_examples=25, deadline=None)
@given(
    seconds=st.lists(st.floats(0.2, 3.0), min_size=40, max_size=120),
    printed=st.sampled_from([0.5, 0.97, 1.0, 1.2]),
    length=st.sampled_from([None, 4096]),
)
def test_everything_agrees_on_any_log_that_prints_rates_and_times(
    tmp_path_factory: pytest.TempPathFactory, seconds: list[float], printed: float, length: int | None
) -> None:
    plan = replace(PLAN, format="megatron", unit="tokens/s" if length else "samples/s")
    found = shown(tmp_path_factory.mktemp("log"), megatron_log(seconds, printed, length), plan)
    assert_agreement(found, length or 1)


@pytest.mark.parametrize("log_run", [1, 2, None])
def test_everything_agrees_on_each_run_of_a_log_that_holds_several(tmp_path: Path, log_run: int | None) -> None:
    plan = replace(PLAN, format="megatron", unit="samples/s")
    found = shown(tmp_path, megatron_log([1.0] * 60) + megatron_log([2.0] * 60), plan, log_run)
    assert found.result.value == pytest.approx(32 if log_run == 1 else 16)
    assert_agreement(found)


def test_the_curve_of_a_log_that_counts_samples_is_in_the_tokens_of_its_value(tmp_path: Path) -> None:
    plan = replace(PLAN, format="megatron", unit="tokens/s", protocol=PlannedProtocol(estimator="rate(skip=20)"))
    found = shown(tmp_path, megatron_log([1.0] * 150, length=4096), plan)
    assert (found.result.value, found.timeline.unit) == (pytest.approx(32 * 4096), "tokens/s")
    assert found.timeline.throughput[-1][1] == pytest.approx(32 * 4096, rel=TOLERANCE)


def megatron_log(seconds: Sequence[float], printed: float = 1.0, length: int | None = None) -> str:
    """Steps of 32 samples that take these seconds, and print another multiple of them."""
    settings = {"world_size": 8} | ({"seq_length": length} if length else {})
    lines = [f"  {name} .......... {value}" for name, value in settings.items()]
    for step, (time, duration) in enumerate(zip(accumulate(seconds), seconds, strict=True), 1):
        lines.append(
            f" [{datetime.fromtimestamp(1e9 + time):%Y-%m-%d %H:%M:%S.%f}] iteration {step:8}/ 150 | consumed samples:"
            f" {32 * step:12} | elapsed time per iteration (ms): {1000 * duration * printed:.3f} |"
            f" learning rate: 1.0E-04 | global batch size:    32 | lm loss: 1.0E+00 | number of skipped: 0 |"
        )
    return "\n".join([*lines, ""])


def test_what_a_log_does_not_state_is_the_plans_and_is_named(tmp_path: Path) -> None:
    point = replace(PLAN.configuration, nodes=2, axes=(("sequence_length", 64),))
    plan = replace(PLAN, configuration=point, format="torchtitan", unit="tokens/s")
    log = "\n".join(
        f"[rank0]:[titan] 2026-01-31 12:00:{step:02},000 - root - INFO - step: {step:2}  loss:  7.9  "
        f"memory:  0.66GiB(1.00%)  tps: 512  tflops: 0.1  mfu: 0.1%"
        for step in range(1, 60)
    )
    found = shown(tmp_path, log + "\n", replace(plan, protocol=PlannedProtocol(estimator="rate(skip=20)")))
    assert found.result.value == pytest.approx(64 * 4 * 16)
    (declared,) = [item for item in found.result.findings if item.code == "declared_not_logged"]
    assert str(declared.message) == "declared, not logged: GPUs: 16; batch size per GPU: 4; sequence length: 64"
    assert declared.severity == "note"


def test_a_log_of_samples_whose_length_nobody_states_gives_no_tokens(tmp_path: Path) -> None:
    plan = replace(PLAN, format="megatron", unit="tokens/s")
    found = shown(tmp_path, megatron_log([1.0] * 60), plan)
    assert found.result.value is None
    assert "neither the log nor the plan states a sequence length" in str(found.result.findings[0].message)

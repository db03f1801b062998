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
from dlperf.app.screens.trial import SeriesReader
from dlperf.campaign.live import RECENT, LiveLog
from dlperf.catalog.patterns import BY_TIME
from dlperf.derived.parsing import ParsedRun, ParseOptions, parse_logs
from dlperf.derived.timeline import Timeline
from dlperf.evidence.logs import BUILTIN_FORMATS, is_gzip
from dlperf.formats.samples import Run
from dlperf.measured.model import TrialResult
from dlperf.plan import PlannedConfiguration, PlannedProtocol, TrialKey
from dlperf.report.figures import value_text
from dlperf.table.load import load_results
from handmade_trials import end_trial, planned, workspace_in, write_planned
from kept_records import read_record
from real_logs import packed_logs, plain_logs, unpack_logs

TOLERANCE = 0.001
PLAN = replace(planned(8, repeats=1), protocol=PlannedProtocol())
"""Of every log: 8 GPUs, batch size 4, the log's natural estimator."""


AVERAGES = ("mean", "skipmean", "tailmean", "window", "tipc")
"""Rules whose value is not work over time."""


@dataclass
class Shown:
    """What the product shows of the last run of a log."""

    log: Path
    plan: PlannedConfiguration
    parsed: ParsedRun
    run: Run
    result: TrialResult
    timeline: Timeline
    page: str
    """The value as a page prints it."""

    @property
    def series(self) -> Series | None:
        """The terminal's curve."""
        return SeriesReader(self.log, self.plan, BUILTIN_FORMATS).whole()

    @property
    def live(self) -> list[float]:
        """The last rates that the engine saw while the log grew."""
        live = LiveLog(self.log, self.plan)
        while live.read():
            pass
        return list(live.progress.recent)


def shown(folder: Path, log: Path | str, plan: PlannedConfiguration | None = None) -> Shown | None:
    """Measure a log as a trial, in its own format and unit unless a plan is given; None where it holds no run."""
    source = folder / "out.log"
    source.write_text(log) if isinstance(log, str) else shutil.copyfile(log, source)
    runs = parse_logs([source], ParseOptions(gpus=8, batch_size=4)).runs
    if not runs or not BUILTIN_FORMATS.read(source, runs[-1].run.format):
        return None
    plan = plan or replace(PLAN, format=runs[-1].run.format, unit=runs[-1].run.unit)
    workspace = workspace_in(folder)
    campaign = write_planned(workspace, "a", [plan])
    trial = campaign.trial(TrialKey(plan.configuration.id, 1))
    archived = trial.directory / "nodes" / "n0" / "out.log"
    archived.parent.mkdir(parents=True)
    shutil.copyfile(source, archived)
    end_trial(campaign, plan, 1, {})
    result, timeline = read_record(trial.result, TrialResult), read_record(trial.timeline, Timeline)
    page = value_text(load_results(workspace)[0])
    return Shown(source, plan, runs[-1], BUILTIN_FORMATS.read(source, plan.format)[-1], result, timeline, page)


def assert_agreement(found: Shown, length: int = 1) -> None:
    """Compare every place that shows a number of the log, of whose samples the plan makes so many tokens."""
    figure, result, series = found.parsed.figure, found.result, found.series
    if figure is None or result.value is None or not result.usable:
        assert result.value is None or result.errors or figure is None
        return
    assert result.value == pytest.approx(figure.value * length, rel=TOLERANCE)
    assert float(found.page.replace(",", "")) == pytest.approx(result.value, rel=TOLERANCE)
    if series is None:
        assert found.timeline.throughput == ()
        return
    if figure.estimate.records and not result.estimator.startswith(AVERAGES):
        assert mean_over_time(found, series) == pytest.approx(result.value, rel=TOLERANCE)
    drawn: dict[float, list[float]] = {}
    for step, rate in series.points():
        drawn.setdefault(step, []).append(rate)
    assert all(pytest.approx(rate, rel=TOLERANCE) in drawn[step] for step, rate in found.timeline.throughput)
    if not is_gzip(found.log):
        growing = SeriesReader(found.log, found.plan, BUILTIN_FORMATS).advance()
        rates = [rate for rate in growing.values if isfinite(rate)] if growing else []
        assert found.live == pytest.approx(rates[-RECENT:], rel=TOLERANCE)


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
    if found := shown(tmp_path, log):
        assert_agreement(found)


@pytest.mark.parametrize("name", packed_logs())
def test_everything_agrees_on_packed_logs(tmp_path: Path, unpacked: Path, name: str) -> None:
    if found := shown(tmp_path, unpacked / name):
        assert_agreement(found)


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
    assert found is not None
    assert_agreement(found, length or 1)


def test_the_curve_of_a_log_that_counts_samples_is_in_the_tokens_of_its_value(tmp_path: Path) -> None:
    plan = replace(PLAN, format="megatron", unit="tokens/s", protocol=PlannedProtocol(estimator="rate(skip=20)"))
    found = shown(tmp_path, megatron_log([1.0] * 150, length=4096), plan)
    assert found is not None
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
    assert found is not None
    assert found.result.value == pytest.approx(64 * 4 * 16)
    (declared,) = [item for item in found.result.findings if item.code == "declared_not_logged"]
    assert str(declared.message) == "declared, not logged: GPUs: 16; batch size per GPU: 4; sequence length: 64"
    assert declared.severity == "note"


def test_a_log_of_samples_whose_length_nobody_states_gives_no_tokens(tmp_path: Path) -> None:
    plan = replace(PLAN, format="megatron", unit="tokens/s")
    found = shown(tmp_path, megatron_log([1.0] * 60), plan)
    assert found is not None
    assert found.result.value is None
    assert "neither the log nor the plan states a sequence length" in str(found.result.findings[0].message)

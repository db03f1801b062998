"""How long a training program trains: so many steps, and on until so much time has passed."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from types import SimpleNamespace

import pytest
from interpreters import WORKLOADS

TIMES = {
    "without a time": (0, 0.0, [10, 20, 25]),
    "with a time that is over before": (20, 0.0, [10, 20, 25]),
    "with a longer time": (45, 0.0, [10, 20, 25, 35, 45]),
    "where other ranks began later": (45, 10.0, [10, 20, 25, 35, 45, 55]),
}


@pytest.mark.parametrize("name", TIMES)
def test_a_program_trains_its_steps_and_on_until_its_time_is_over_on_all_ranks(name, monkeypatch, capsys):
    seconds, behind, steps = TIMES[name]
    spec = spec_from_file_location("reporting", WORKLOADS / "reporting.py")
    assert spec
    assert spec.loader
    reporting = module_from_spec(spec)
    spec.loader.exec_module(reporting)
    now = [0.0]
    monkeypatch.setattr(reporting, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    def step() -> float:
        now[0] += 1.0
        return 2.0

    options = SimpleNamespace(steps=25, log_interval=10, seconds=seconds, batch_size=4)
    report = reporting.Reporter(options)
    report.train(step, lambda losses: sum(losses) / len(losses), agree=lambda passed: passed - behind)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [int(line[2].removeprefix("step=")) for line in lines] == steps
    assert lines[-1][4:] == [f"samples={4 * steps[-1]}", "loss=2.000000", "throughput=4.000"]

"""Parts that an installed package adds: a log format, an estimator, a metric and a launcher, as in ``docs/plugin``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlperf.catalog import plugins
from dlperf.catalog.files.load import load_catalog
from dlperf.catalog.files.problem import CatalogError
from dlperf.cli import main
from dlperf.errors import DlperfError, RequestError
from dlperf.executors.scheduler import find_scheduler
from dlperf.measured.throughput.estimators import parse_estimator
from plugins import forget_plugins, install_example

ENTRIES = """\
metrics:
  - {id: jitter, title: Jitter, unit: ratio, direction: lower, estimator: step_jitter}
protocols:
  - {id: best-rates, title: Best rates, estimator: best(2)}
cases:
  - {id: counting, title: Counting, model: counting, dataset: none, unit: images/s, metrics: [jitter],
     protocol: best-rates, precisions: [fp32], batch_sizes: [4], scales: [1n1g]}
frameworks:
  - id: hexadecimal
    title: Hexadecimal
    version: "1.0"
    format: hexlog
    devices: [cpu]
    recipes:
      - {case: counting, precisions: [fp32], interpreter: [sh, -c], launcher: numbered,
         command: ['echo "node $NODE_NUMBER"; printf "#hex 0x%x 0x%x 0x%x\\n" 10 16 200000 20 32 100000 30 48 300000']}
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    install_example("plugin", tmp_path / "site-packages", monkeypatch)
    yield
    forget_plugins()


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder in ("runs", "catalog"):
        (tmp_path / "bench" / folder).mkdir(parents=True)
    (tmp_path / "bench" / "mkdocs.yml").touch()
    (tmp_path / "bench" / "catalog" / "all.yaml").write_text(ENTRIES)
    return tmp_path / "bench"


def typed(*words: str) -> int:
    with pytest.raises(SystemExit) as leaving:
        main(["--workspace", "bench", *words])
    return int(leaving.value.code or 0)


def test_a_trial_runs_with_every_part_of_the_example(installed: None, bench: Path, capsys: pytest.CaptureFixture[str]):
    assert typed("run", "-H", "local", "-f", "hexadecimal", "--name", "a", "--yes") == 0, capsys.readouterr().err
    capsys.readouterr()
    assert typed("results", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["value"], row["trials"][0]["estimator"]) == (40.0, "best(2)")
    assert {metric["id"]: metric["value"] for metric in row["metrics"]}["jitter"] == pytest.approx(1.5)
    (log,) = (bench / "runs" / "a").rglob("out.log")
    assert "node 0" in log.read_text()


def test_a_log_in_the_format_of_a_package_is_recognised(
    installed: None, bench: Path, capsys: pytest.CaptureFixture[str]
):
    (bench / "a.log").write_text("#hex 0xa 0x10 0x20\n#hex 0x14 0x20 0x20\n")
    assert typed("parse", str(bench / "a.log"), "--json") == 0
    assert '"hexlog"' in capsys.readouterr().out


def test_without_the_package_its_names_are_mistakes_of_the_catalogue(bench: Path):
    with pytest.raises(CatalogError) as found:
        load_catalog(bench / "catalog")
    text = "\n".join(found.value.lines)
    assert "estimator: 'step_jitter' is not one of 'protocol', " in text
    assert "launcher: 'numbered' is not one of 'plain', " in text
    with pytest.raises(RequestError, match="estimator 'best\\(2\\)' is unknown"):
        parse_estimator("best(2)")
    with pytest.raises(RequestError, match="unknown executor 'moon'"):
        find_scheduler("moon")


def test_wrong_arguments_of_an_estimator_of_a_package_are_said(installed: None):
    with pytest.raises(RequestError, match=r"write best\(n\) with whole numbers"):
        parse_estimator("best()")


def test_a_package_that_cannot_be_imported_is_named(installed: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "dlperf_example.py").write_text("import nothing_of_this_name")
    monkeypatch.syspath_prepend(str(tmp_path / "broken"))
    said = r"package dlperf-example: 'best' of dlperf.estimators cannot be loaded \(ModuleNotFoundError: .*\): update"
    with pytest.raises(DlperfError, match=said):
        plugins.load_plugin(plugins.ESTIMATORS, "best")

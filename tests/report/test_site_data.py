"""The files of data say what the guide says of them."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from io import BytesIO
from pathlib import Path

import pytest
from pyarrow import types
from pyarrow.parquet import read_table
from site_rows import measured, published
from site_sample import pages, sample

from dlperf.cli.output import print_json
from dlperf.measured.model import TrialResult
from dlperf.messages import ENGLISH
from dlperf.messages.finding import note
from dlperf.plan import PlannedAccelerator
from dlperf.report.build import tables
from dlperf.report.data import SiteData
from dlperf.report.figures import axes_text, precision_text
from dlperf.report.files.downloads import SiteRow, audit_columns, results_json, site_rows
from dlperf.report.pages.explorer import explorer_document
from dlperf.report.pages.models import model
from dlperf.report.pages.reports.tables import contested
from dlperf.report.site import locations as at
from dlperf.table.columns import DATA_SCHEMA, flat_columns, parquet
from dlperf.verification.audit import AuditRow

ROOT = Path(__file__).parents[2]
NOT_WRITTEN = {"axes", "metrics", "options"}
RECORDS = tuple({field.name for field in fields(record)} - NOT_WRITTEN for record in (SiteRow, TrialResult, AuditRow))
DESCRIBED = (
    RECORDS[0] | {"caveats", "configuration"},
    RECORDS[1],
    set(note("nan_loss").as_data()),
    RECORDS[2] - {"numerics"},
)
"""What the guide's tables of columns describe, in their order."""
KINDS = {"text": "text", "integer": "integer", "number": "number", "list, text": "text"}
IN_ENGLISH = {
    "文本": "text",
    "整数": "integer",
    "数字": "number",
    "列表、文本": "list, text",
    "列表": "list",
    "对象": "object",
}


@pytest.mark.parametrize("guide", ["guide/data.md", "zh/guide/data.md"])
def test_the_guide_describes_every_column_with_its_type(guide: str) -> None:
    described = _described(ROOT / "site/docs" / guide)
    assert [set(table) for table in described] == [*DESCRIBED]
    data = sample()
    of_rows = _stored(parquet(flat_columns(site_rows(data, data.ordered), SiteRow)))
    of_audit = _stored(parquet(audit_columns(data.audit)))
    assert {name: KINDS[kind] for name, kind in described[0].items()} == of_rows
    assert {name: KINDS[kind] for name, kind in described[-1].items()} == of_audit


@pytest.mark.parametrize("guide", ["guide/data.md", "zh/guide/data.md"])
def test_the_guide_names_every_file_by_its_path(guide: str) -> None:
    text = (ROOT / "site/docs" / guide).read_text("utf-8")
    for path in (at.RESULTS_JSON, at.RESULTS_CSV, at.FEED):
        assert re.search(rf"\[`{path}`\]\(|<code>{path}</code></a>", text), path


@pytest.mark.parametrize("guide", ["guide/data.md", "zh/guide/data.md"])
def test_the_guide_and_the_files_name_the_version_of_the_schema(guide: str) -> None:
    assert f"schema {DATA_SCHEMA}" in (ROOT / "site/docs" / guide).read_text()
    assert read_table(BytesIO(parquet({"case": ["a"]}))).schema.metadata == {b"schema": b"%d" % DATA_SCHEMA}


def test_the_rows_of_the_site_are_those_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    data = SiteData((measured("alpha", axes=(("sequence_length", 8192),), date="2026-01-02T03:04:05Z"),))
    (found,) = json.loads(results_json(site_rows(data, data.ordered)))["results"]
    print_json(data.results)
    (row,) = json.loads(capsys.readouterr().out)
    own = {"roofline", "address", "caveats"}
    assert {name: value for name, value in found.items() if name not in own} == {
        name: value for name, value in row.items() if name not in own
    }
    assert found["axes"] == {"sequence_length": 8192}


def test_history_and_audit_offer_their_tables_as_data() -> None:
    older, newer = measured("alpha", 1, 400.0), measured("alpha", 1, 380.0, campaign="second")
    data = replace(sample(), results=(older, newer))
    told = dict(tables(data))
    assert sorted(told[at.HISTORY]["campaign"]) == ["first", "second"]
    assert told[at.AUDIT]["published"] == ["393.561", "1438.518"]
    for page in (at.HISTORY, at.AUDIT):
        assert f"{at.page_data(page, 'csv').removeprefix('data/')}" in pages(data)[page]


def test_one_gpu_has_no_speedup_and_no_efficiency_among_the_figures_of_the_charts() -> None:
    rows = (
        measured("alpha", 1, speedup=1.0, efficiency=1.0),
        measured("alpha", 8, speedup=7.5, efficiency=0.9375),
    )
    figures = explorer_document(ENGLISH, SiteData(rows))
    places = [figures["columns"].index(name) for name in ("speedup", "efficiency")]
    assert {tuple(row[place] for place in places) for row in figures["rows"]} == {(None, None), (7.5, 0.9375)}


def test_an_axis_that_divides_nothing_is_no_condition_of_a_chart_or_of_your_number() -> None:
    row = replace(measured("alpha"), axes=(("tensor_parallel", 1), ("sequence_length", 8192)))
    figures = explorer_document(ENGLISH, SiteData((row,)))
    assert figures["names"]["settings"] == ("sequence length 8,192",)


def test_fp8_is_named_with_its_recipe_where_it_is_known() -> None:
    own = replace(measured("alpha", precision="fp8"), numerics={"weights": "fp32", "compute": "fp8"})
    theirs = replace(published("paddle", 8, 1.0, precision="fp8"), axes=(("scaling", "tensor"), ("fsdp", 8)))
    wide = replace(measured("alpha", precision="bf16"), numerics={"weights": "fp32"})
    said = [precision_text(ENGLISH, row) for row in (own, theirs, wide, measured("alpha", precision="fp8"))]
    assert said == ["FP8 (FP32 weights)", "FP8 (per-tensor scaling)", "BF16", "FP8"]
    assert axes_text(ENGLISH, theirs.axes) == "8-way FSDP"
    other = replace(measured("beta", value=100.0, precision="fp8"), numerics={"weights": "bf16"})
    assert [*map(len, contested([own, other, replace(own, framework="beta")]))] == [2]  # and never below its name alone
    half = [replace(row, framework="gamma", value=(row.value or 0.0) / 2) for row in (own, other)]
    text = model(ENGLISH, sample(), own.case, (own, other, *half))
    assert (text.count("100.0 %"), text.count("50.0 %")) == (2, 2), "of the best of each recipe"


def test_the_share_of_the_roofline_is_among_the_data() -> None:
    data = sample()
    case = data.cases["resnet50-imagenet"].model_copy(update={"bytes_per_sample": 367.0e6})
    row = measured("alpha", 1, 1200.0, precision="amp")
    record = data.campaigns["first"]
    plans = tuple(
        replace(
            plan,
            configuration=replace(plan.configuration, precision="amp"),
            gflops_per_sample=24.5,
            accelerator=PlannedAccelerator(peak_tflops={"amp": 125.0}, bandwidth_gb_per_s=900.0),
        )
        for plan in record.configurations[:1]
    )
    data = replace(
        data,
        results=(row,),
        campaigns={"first": replace(record, configurations=plans)},
        cases={"resnet50-imagenet": case},
    )
    assert data.roofline(row) == pytest.approx(1200.0 / (900e9 / 367e6))
    assert [told.roofline for told in site_rows(data, data.ordered)] == [data.roofline(row)]


def _described(guide: Path) -> list[dict[str, str]]:
    """Of each table of columns: column → its type."""
    found = []
    for table in re.findall(r"(?m)^\| (?:column|列) \|.*\n\|.*\n((?:\|.*\n)+)", guide.read_text()):
        cells = [line.split(" | ")[:2] for line in table.splitlines()]
        found.append(
            {name: IN_ENGLISH.get(kind, kind) for names, kind in cells for name in re.findall("`(.*?)`", names)}
        )
    return found


def _stored(content: bytes) -> dict[str, str]:
    """Column → its type in a Parquet file."""
    told = ((types.is_string, "text"), (types.is_integer, "integer"), (types.is_floating, "number"))
    schema = read_table(BytesIO(content)).schema
    return {field.name: next(kind for matches, kind in told if matches(field.type)) for field in schema}

"""What a report says of the machines, programs and settings behind its results."""

from __future__ import annotations

import re
from dataclasses import replace

from html_text import Document, rows_of
from site_rows import measured
from site_sample import pages, sample

from dlperf.catalog.entry import Translation
from dlperf.messages import CHINESE, ENGLISH
from dlperf.report.build import overview_pages
from dlperf.report.machine import Probed
from dlperf.report.pages.page import Page
from dlperf.report.pages.reports.conditions import declared_of
from dlperf.report.site import locations as at
from dlperf.runs.published import Conditions, Fact, LocalizedText, PublishedFigure, Step
from dlperf.table.model import Status


def test_a_report_shows_what_was_probed_on_its_machines() -> None:
    environment = {"os": "Debian 12", "gpus.0.name": "V100", "gpus.1.name": "V100", "driver": "550.1"}
    probed = {("first", "box", "alpha"): Probed(environment, {"framework_version": "2.11"}, "GPU0 X NV2")}
    text = pages(replace(sample(), probed=probed))[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]
    for row in (["System", "Debian 12"], ["GPUs in the machine", "2 × V100"], ["Driver", "550.1"]):
        assert row in rows_of(text)
    assert "GPU0 X NV2" in text
    assert "2.11" in text


def test_a_report_shows_which_cores_a_trial_was_held_to() -> None:
    for usable, shown in (("16", True), ("64", False)):
        environment = {"cpu.model": "Xeon", "cpu.threads": "64", "cpu.usable": usable}
        data = replace(sample(), probed={("first", "box", "alpha"): Probed(environment)})
        text = pages(data)[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]
        assert (["Processor cores", "16 / 64"] in rows_of(text)) == shown


def test_a_fact_that_became_known_later_stands_in_place_of_what_a_campaign_was_planned_with() -> None:
    data = sample()
    told = {"fir": {"cores": "some"}, "first": {"cores": "16"}, "second": {"cores": "64"}}
    zh = Translation(told_later={"first": {"cores": "十六"}})
    box = data.hardware["box"].model_copy(update={"told_later": told, "zh": zh})
    record = data.campaigns["first"]
    planned = tuple(replace(plan, facts=plan.facts | {"cores": "8"}) for plan in record.configurations)
    data = replace(data, hardware={"box": box}, campaigns={"first": replace(record, configurations=planned)})
    path = at.report_page("measured/dlperf-v1", "resnet50-imagenet")
    assert ["cores", "16"] in rows_of(pages(data)[path])
    assert ["cores", "十六"] in rows_of(dict(overview_pages(CHINESE, data))[path])


def test_a_training_stack_has_the_version_that_its_lock_pins_not_one_that_it_prints_of_pytorch() -> None:
    assert Probed({}, {"framework_version": "2.11"}, pinned="2.6.6").framework_version == "2.6.6"


def test_machines_of_a_report_stand_side_by_side() -> None:
    data = sample()
    box = data.hardware["box"]
    other = box.model_copy(update={"id": "other", "title": "Another box", "facts": {"cpu": "EPYC"}})
    rows = (measured("alpha"), measured("alpha", hardware="other"))
    data = replace(data, results=rows, hardware={"box": box, "other": other})
    text = pages(data)["results/reports/measured/dlperf-v1/resnet50-imagenet.md"]
    assert ["Item", "A box", "Another box"] in rows_of(text)
    assert {"../../../hardware/box.html", "../../../hardware/other.html"} <= set(Document(text).links)
    assert ["CPU", "Xeon", "EPYC"] in rows_of(text)


def test_what_a_published_report_says_of_each_framework_stands_side_by_side() -> None:
    text = pages(sample())[at.report_page("published/perf", "resnet50-imagenet")]
    section = text[text.index("Why? Compare settings") : text.index("How to reproduce")]
    assert "the source does not state" in section


def test_what_the_logs_of_a_published_report_say_of_a_framework_stands_beside_the_others() -> None:
    data = sample()
    told = tuple(
        Conditions(name, (Fact("DALI", "DALI", value="on"), Fact("AMP level (log)", "AMP 级别（日志）", value=level)))
        for name, level in (("paddle", "O2"), ("pytorch", "O1"))
    )
    report_of = replace(data.published["published/perf"], conditions=told, figures=_figures("paddle", "pytorch"))
    text = pages(replace(data, published={"published/perf": report_of}))[
        "results/reports/published/perf/resnet50-imagenet.md"
    ]
    section = text[text.index("Why? Compare settings") : text.index("How to reproduce")]
    assert ["AMP level (log)", "O2", "O1"] in rows_of(section)
    assert "Equal for all frameworks: DALI" in section


def test_steps_that_prepare_a_machine_stand_apart_from_those_of_the_test() -> None:
    data = sample()
    steps = (
        Step(LocalizedText("Start"), commands="docker pull paddle\n", setup=True),
        Step(LocalizedText("Run"), commands="bash test.sh\n"),
    )
    report_of = replace(data.published["published/perf"], steps=steps)
    text = pages(replace(data, published={"published/perf": report_of}))[
        "results/reports/published/perf/resnet50-imagenet.md"
    ]
    rest, _, setup = text.partition("How to reproduce {")[2].partition("Set-up {")
    assert "### 1. Start" in setup
    assert "### 1. Run" in rest


def test_the_clocks_at_which_frameworks_were_measured_stand_side_by_side() -> None:
    rows = [
        replace(row, trials=tuple(replace(trial, sm_clock_mhz=first + trial.number) for trial in row.trials))
        for row, first in ((measured("alpha"), 1840.2), (measured("beta"), 1974.9))
    ]
    text = pages(replace(sample(), results=tuple(rows), published={}))[
        at.report_page("measured/dlperf-v1", "resnet50-imagenet")
    ]
    assert ["SM clock while measured", "1,841–1,845 MHz", "1,976–1,980 MHz"] in rows_of(text)


def test_machines_on_which_no_framework_is_beside_another_do_not_differ_between_the_frameworks() -> None:
    beside = (measured("alpha"), measured("beta"))
    alone = measured("alpha", hardware="larger")
    probed = {
        ("first", row.hardware, row.framework): Probed({"driver": "550" if row.hardware == "box" else "560"})
        for row in (*beside, alone)
    }
    data = replace(sample(), results=(*beside, alone), published={}, probed=probed)
    text = pages(data)[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]
    section = text[text.index("Why? Compare settings") : text.index("How to reproduce")]
    assert "560" not in section
    assert "Driver" in section.partition("Equal for all frameworks: ")[2]
    (command,) = re.findall(r"dlperf compare .*?</code>", text)
    assert [word.split("/")[0] for word in Document(command).text.split()[2:]] == ["first", "first"]


def test_settings_are_compared_of_frameworks_with_a_value_and_where_two_of_them_state_one() -> None:
    rows = [measured(name, precision=form) for name, form in (("alpha", "fp32"), ("beta", "amp"), ("gamma", "tf32"))]
    failed = measured("delta", value=None, status=Status("out_of_memory"))
    drivers = {"alpha": {"driver": "550", "python": "3.12.9"}, "beta": {"driver": "560"}, "gamma": {"driver": "560"}}
    probed = {("first", "box", name): Probed(facts) for name, facts in drivers.items()}
    data = replace(sample(), results=(*rows, failed), published={}, probed=probed)
    text = pages(data)[at.report_page("measured/dlperf-v1", "resnet50-imagenet")]
    section = text[text.index("Why? Compare settings") : text.index("How to reproduce")]
    assert ["Driver", "550", "560", "560"] in rows_of(section)
    assert "delta" not in section
    assert "3.12.9" not in section
    assert "Python" in section.partition("Stated for one framework only: ")[2]


def test_what_a_log_states_of_its_data_is_said_in_the_words_of_what_is_planned() -> None:
    row = measured("alpha")
    probed = {("first", "box", "alpha"): Probed({}, {"data": "made text"})}
    data = replace(sample(), results=(row,), probed=probed)
    for language in (ENGLISH, CHINESE):
        page = Page(language, data, at.HOME)
        assert declared_of(page, [row]) == {"data": page.option("made text")}
    assert page.option("made text") == "生成的文本"


def _figures(*frameworks: str) -> tuple[PublishedFigure, ...]:
    cell = PublishedFigure(
        "ResNet50V1.5", "", "v100", 1, 1, "FP32", 256, "throughput", "images/s", 1.0, "1", "readme", "", ""
    )
    return tuple(replace(cell, framework=name) for name in frameworks)

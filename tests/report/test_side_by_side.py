"""Stacks that have settings of their own stand in one list, by precision and speed."""

from __future__ import annotations

import re
from dataclasses import replace

from html_text import rows_of
from site_rows import measured
from site_sample import sample

from dlperf.messages import ENGLISH
from dlperf.messages.finding import warning
from dlperf.report.pages.models import model
from dlperf.report.pages.reports.report import report
from dlperf.report.pages.your_number import your_number
from dlperf.table.model import ConfigurationResult, Status


def report_on(*rows: ConfigurationResult) -> str:
    data = replace(sample(), results=rows)
    ((source, case), results) = next(iter(data.reports.items()))
    return report(ENGLISH, data, source, case, results)


def stack(framework: str, value: float | None, **other: object) -> ConfigurationResult:
    return measured(framework, 1, value, axes=(("checkpointing", framework),), **other)


def test_stacks_of_which_each_has_its_own_settings_are_one_list_with_the_share_of_the_best() -> None:
    failed = stack("gamma", None, status=Status("out_of_memory"))
    text = report_on(stack("alpha", 300.0), failed, stack("beta", 400.0))
    section = text[text.index("### Frameworks side by side") :]
    shown = [row[:3] for row in rows_of(section)]
    assert [(row[0], row[1].split()[0], row[2]) for row in shown[1:4]] == [
        ("Beta", "400", "100.0 %"),
        ("Alpha", "300", "75.0 %"),
        ("gamma", "out", ""),
    ]
    assert "### Training throughput" not in text
    opening = text[: text.index("## ")]
    assert "No other framework ran this" not in opening
    assert "programs whose settings differ, [side by side](#s_side_by_side)" in opening
    assert "not planned" not in text


def test_the_precision_of_most_stacks_comes_before_a_faster_one() -> None:
    faster = replace(stack("alpha", 900.0, precision="fp8"), axes=(("checkpointing", "other"),))
    text = report_on(stack("alpha", 300.0), faster, stack("beta", 400.0), stack("gamma", 200.0))
    section = text[text.index("### Frameworks side by side") :]
    assert [row[0] for row in rows_of(section)[1:5]] == ["FP32", "FP32", "FP32", "FP8"]


def test_stacks_with_equal_settings_are_a_grid() -> None:
    text = report_on(*(measured(name, 1, value) for name, value in (("alpha", 300.0), ("beta", 400.0), ("gamma", 9.0))))
    assert "Frameworks side by side" not in text


def test_padding_does_not_count_in_the_order_of_stacks_which_is_said() -> None:
    padded = stack("alpha", 400.0, findings=(warning("padded_tokens"),))
    text = report_on(padded, stack("beta", 399.0), stack("gamma", 200.0))
    section = text[text.index("### Frameworks side by side") :]
    assert [row[0] for row in rows_of(section)[1:4]] == ["Beta", "Alpha", "gamma"]
    assert "by throughput, in which padding does not count" in section


def test_of_several_precisions_each_setting_of_a_framework_names_its_own() -> None:
    at_fp8 = measured("alpha", precision="fp8", batch_size=128, numerics={"weights": "bf16"})
    others = (measured("alpha", precision="bf16"), *(measured("beta", precision=name) for name in ("bf16", "fp8")))
    text = report_on(at_fp8, *others)
    facts = {row[0]: row[1:] for row in rows_of(text[text.index("{ #fairness ") :]) if len(row) == 3}
    assert facts["Batch per GPU"] == ["FP8 (BF16 weights): 128; BF16: 256", "256"]


def chosen(*rows: ConfigurationResult) -> list[str]:
    """The paragraphs and points of the section on which stack to use; empty without one."""
    text = report_on(*rows)
    found = re.search(r"{ #which }\n(.*?)\n## ", text, re.DOTALL)
    return [re.sub("<[^>]*>", "", line) for line in found[1].splitlines() if line.strip()] if found else []


def released(framework: str, value: float, **other: object) -> ConfigurationResult:
    return replace(stack(framework, value, trials=1, **other), options={"stack": True})


def test_a_report_on_stacks_begins_with_the_fastest_released_one_and_that_no_claim_rests_on_it() -> None:
    own = stack("gamma", 500.0, trials=1)
    opening, point, memory = chosen(released("alpha", 300.0), released("beta", 400.0), own)
    assert "recommend none: n = 1" in opening
    assert "no claim rests on them" in opening
    assert "Beta**: 400 images/s with beta activation checkpointing: the fastest of 2 released stacks." in point
    assert "The next, Alpha, has 75.0 % of it" in point
    assert "dlperf's own program gamma has 500 images/s" in point
    assert "Another precision" not in memory


def test_a_faster_stack_that_has_a_known_fault_or_pads_is_not_the_fastest() -> None:
    faulty = released("gamma", 900.0, findings=(warning("one_synthetic_batch"),))
    padded = released("beta", 310.0, findings=(warning("padded_tokens"),))
    _, point, _ = chosen(released("alpha", 300.0), padded, faulty)
    assert "Alpha**: 300 images/s" in point
    assert "Higher, but left out for a caveat of the program: gamma 900 images/s." in point


def test_where_one_stack_ran_there_is_no_choice_and_programs_of_ours_give_none() -> None:
    own = stack("beta", 400.0), stack("gamma", 500.0)
    assert "the only released stack here, so there is no choice" in chosen(released("alpha", 300.0), *own)[1]
    assert chosen(stack("alpha", 300.0), *own) == []


def test_the_page_of_a_model_and_your_number_lead_to_which_stack_to_use() -> None:
    own = stack("beta", 400.0), stack("gamma", 500.0)
    for rows, said in (((released("alpha", 300.0), *own), True), ((stack("alpha", 300.0), *own), False)):
        data = replace(sample(), results=rows)
        for text in (model(ENGLISH, data, rows[0].case, rows), your_number(ENGLISH, data)):
            assert ("Which stack should I use?" in text) is said
            assert ('.html#which"' in text) is said

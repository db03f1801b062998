"""Who is fastest and how sure that is."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from html_text import Document
from site_rows import measured, published
from site_sample import sample

from claimable import claimable
from dlperf.catalog.files.load import load_catalog
from dlperf.derived.health import CASE as DIAGNOSIS
from dlperf.messages import CHINESE, ENGLISH, message, quoted
from dlperf.messages.finding import warning
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.answer import ALONE, Answer, answers, gpus_of
from dlperf.report.build import overview_pages
from dlperf.report.data import SiteData
from dlperf.report.machine import Probed
from dlperf.report.pages.frameworks import frameworks_index
from dlperf.report.pages.home import best_of_cases, by_weight, every_answer, home
from dlperf.report.pages.page import Page
from dlperf.report.pages.reports.lead import lead
from dlperf.report.pages.reports.report import report, reports_index
from dlperf.report.pages.results.pictures import comparison_chart, ranked_bars
from dlperf.report.site import locations as at
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import Claim
from dlperf.verdicts.conditions import NOT_STATED
from dlperf.verdicts.losses import alike_losses


def test_the_largest_scale_on_which_two_frameworks_have_a_figure_is_shown() -> None:
    (answer,) = answers([measured("alpha", 1, 400.0), measured("beta", 1, 410.0), measured("alpha", 8, 3000.0)])
    assert (answer.best.framework, answer.best.gpus) == ("beta", 1)


def test_equal_precisions_are_compared_rather_than_higher_numbers_of_unequal_ones() -> None:
    rows = [measured("alpha", value=900.0, precision="bf16-pure"), measured("alpha", value=700.0, precision="bf16")]
    (answer,) = answers([*rows, measured("beta", value=710.0, precision="bf16")])
    assert [(row.framework, row.precision) for row in answer.ranked] == [("beta", "bf16"), ("alpha", "bf16")]


def test_a_comparison_stands_before_results_that_nothing_is_compared_with() -> None:
    alone = [measured("alpha", value=900.0, precision="bf16"), measured("alpha", value=950.0, precision="fp16")]
    data = SiteData((*alone, measured("alpha", value=400.0), measured("beta", value=390.0)))
    found = by_weight(every_answer(data))
    assert found[0].best.precision == "fp32"


def test_two_that_more_trials_would_decide_stand_before_two_that_lack_a_condition() -> None:
    values = {"alpha": (400.0, 420.0, 380.0, 410.0, 396.0), "beta": (402.0, 417.0, 383.0, 408.0, 397.0)}
    tested = [
        claimable(measured(name, precision="bf16"), *each, turn=turn)
        for turn, (name, each) in enumerate(values.items())
    ]
    data = SiteData((*tested, measured("alpha", value=900.0), measured("beta", value=890.0)))
    found = by_weight(every_answer(data))
    assert [one.best.precision for one in found] == ["bf16", "fp32"]


def test_indexes_begin_with_what_was_measured_here_most() -> None:
    failed = [replace(measured("gamma", gpus), value=None) for gpus in (2, 4, 8)]
    data = SiteData((published("alpha", 1, 500.0), measured("gamma"), measured("beta"), measured("beta", 8), *failed))
    text = Document(frameworks_index(ENGLISH, data)).text
    assert sorted(("alpha", "beta", "gamma"), key=text.index) == ["beta", "gamma", "alpha"]


def test_the_index_of_reports_ends_with_diagnoses_of_machines() -> None:
    health = replace(measured("alpha"), case=DIAGNOSIS)
    data = SiteData((health, replace(health, campaign="second"), measured("beta")))
    page = reports_index(ENGLISH, data)
    text = Document(page).text
    assert text.index("resnet50-imagenet") < text.index(DIAGNOSIS)
    assert re.search(r'<td class="words"><a href="[^"]+">resnet50-imagenet</a>', page)


def test_the_summary_counts_models() -> None:
    assert "training 1 model on" in said(measured("alpha"), measured("beta"))


def test_the_summary_names_the_frameworks_with_most_results_and_counts_the_others() -> None:
    assert "of a, b, c, d and 2 more training" in said(*map(measured, "abcdef"))
    assert "of a, b, c, d and e training" in said(*map(measured, "abcde"))
    data = replace(sample(), results=tuple(map(measured, "abcdef")))
    assert "a、b、c、d 和另外 2 个框架训练 1 个模型" in " ".join(Document(home(CHINESE, data)).text.split())


def test_all_claims_that_pages_make_hold_together_and_not_only_those_of_the_first_two_at_the_largest_scale() -> None:
    names = ("alpha", "beta", "gamma")
    rows = [claimable(measured(name, gpus, 400.0), turn=turn) for gpus in (1, 8) for turn, name in enumerate(names)]
    assert SiteData(tuple(rows)).context.level == pytest.approx(0.01 / 6), "three pairs on each of two scales"


def said(*rows: ConfigurationResult) -> str:
    """The sentences on these results."""
    return " ".join(Document(home(ENGLISH, SiteData(rows))).text.partition("How it was measured")[0].split())


def test_a_claim_says_by_how_much_and_with_which_test() -> None:
    text = said(claimable(measured("alpha", value=430.0)), claimable(measured("beta", value=400.0), turn=1))
    assert re.search(
        r"alpha n=5.* 430 beta n=5.* 400 "
        r"alpha is 7.5 % ahead of beta on one box [(]p = \d[.]?\d?e-1\d, Welch's t test, 5 trials",
        text,
    )


def test_the_page_of_a_framework_that_is_behind_says_the_lead_as_home_does() -> None:
    rows = (claimable(measured("alpha", value=430.0)), claimable(measured("beta", value=400.0), turn=1))
    text = dict(overview_pages(ENGLISH, SiteData(rows)))
    assert "the other is 7.5 % ahead on one box<br>" in text[at.framework_page("beta")]
    assert ">7.5 % ahead on one box<br>" in text[at.framework_page("alpha")]


def test_a_claim_names_the_version_of_each() -> None:
    rows = (claimable(measured("alpha", value=430.0)), claimable(measured("beta", value=400.0), turn=1))
    probed = {("first", "box", name): Probed(pinned=version) for name, version in (("alpha", "2.1"), ("beta", "0.4"))}
    text = " ".join(Document(home(ENGLISH, SiteData(rows, probed=probed))).text.split())
    assert "alpha 2.1 is 7.5 % ahead of beta 0.4 on one box" in text
    assert "on the same hardware: alpha 2.1 in 1." in text


def test_the_headline_of_a_case_is_at_the_precision_of_most_frameworks() -> None:
    rows = [measured(name, value=400.0) for name in ("alpha", "beta", "gamma")]
    faster = [measured(name, value=900.0, precision="fp8") for name in ("alpha", "beta")]
    assert best_of_cases(answers([*faster, *rows]))[0].best.precision == "fp32"


def test_two_that_do_not_differ_are_said_to_be_the_same_within_what_was_sought() -> None:
    text = said(claimable(measured("alpha", value=400.01)), claimable(measured("beta", value=400.0), turn=1))
    assert "The first two are the same within 0.1 % on one box." in text


def test_two_that_are_the_same_stand_before_higher_ones_of_which_nothing_can_be_told() -> None:
    same = [claimable(measured("alpha", value=400.01)), claimable(measured("beta", value=400.0), turn=1)]
    axes = (("checkpointing", "none"),)
    higher = [measured(name, value=900.0, trials=1, axes=axes, campaign="newer") for name in ("alpha", "beta")]
    assert best_of_cases(every_answer(SiteData((*higher, *same))))[0].best.value == 400.01


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (measured("alpha", trials=3), measured("beta", trials=3), "a new campaign of about 5 trials each would decide"),
        (
            measured("alpha", trials=1),
            measured("beta"),
            "one side has a single trial, so that its run-to-run variation is not known",
        ),
        (published("paddle", 1, 393.5), published("pytorch", 1, 370.2), "third-party results."),
        (measured("alpha"), measured("beta", precision="fp32-pure"), "different numerics: FP32 / FP32-PURE"),
    ],
)
def test_where_nothing_may_be_claimed_the_numbers_stand_with_what_is_missing(
    one: ConfigurationResult, other: ConfigurationResult, why: str
) -> None:
    text = said(one, other)
    assert f" Cannot tell: {why}" in text
    assert "ahead" not in text
    assert 'class="claim"' not in home(ENGLISH, SiteData((one, other)))


def test_a_refusal_names_the_command_whose_trials_would_decide() -> None:
    axes = (("sequence_length", 1024),)
    text = said(measured("alpha", trials=1, value=2.0, axes=axes), measured("beta", trials=1, value=1.0, axes=axes))
    command = (
        "dlperf run --hardware MACHINE --framework alpha,beta --case resnet50-imagenet --precision fp32"
        " --batch-size 256 --gpus 1n1g --set sequence_length=1024 --repeats 5 --protocol dlperf-v1"
    )
    assert f"To decide it, run both in turns: {command}." in text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (published("paddle", 1, 393.5), published("pytorch", 1, 370.2)),
        (measured("alpha"), measured("beta", precision="fp32-pure")),
        (measured("alpha", findings=(warning("layers_scanned"),)), measured("beta")),
    ],
)
def test_no_command_is_named_where_no_trials_would_decide(one: ConfigurationResult, other: ConfigurationResult) -> None:
    assert "To decide it" not in said(one, other)


def test_bars_of_unequal_numerics_name_the_precision_of_each() -> None:
    (answer,) = answers([measured("alpha"), measured("beta", precision="fp32-pure")])
    chart = comparison_chart(Page(ENGLISH, SiteData(answer.ranked), "index.md"), answer)
    assert "FP32" in chart.title
    assert [bar.name for bar in chart.bars] == ["alpha (FP32)", "beta (FP32-PURE)"]


def test_unequal_batch_sizes_are_never_side_by_side() -> None:
    small, large = measured("alpha", value=400.0), measured("beta", value=900.0, batch_size=512)
    (answer,) = answers([small, large])
    assert answer.second is None
    (answer,) = answers([small, large, measured("beta", value=390.0)])
    assert (answer.best.framework, answer.second and answer.second.value) == ("alpha", 390.0)


def test_a_framework_is_no_rival_of_its_own_version_and_a_variant_that_does_less_is_apart() -> None:
    less = measured("oneflow-w-o-clip", value=500.0)
    found = answers([measured("oneflow"), measured("oneflow-2.0", value=450.0), less])
    assert [(answer.best.framework, answer.second) for answer in found] == [
        ("oneflow-2.0", None),
        ("oneflow-w-o-clip", None),
    ]


def test_the_home_page_names_who_leads_by_how_much_and_on_what() -> None:
    rows = (claimable(measured("alpha", value=430.0)), claimable(measured("beta", value=400.0), turn=1))
    lead = "A clear lead in 1 of 1 comparisons of two frameworks on the same hardware: alpha in 1."
    assert lead in said(*rows)
    assert "alpha ahead on resnet50-imagenet (one box) by 7.5 %" in said(*rows)
    assert "No framework leads everywhere" not in said(*rows)
    assert "No clear lead in 1 comparisons" in said(measured("alpha", trials=3), measured("beta", trials=3))


def test_results_that_no_other_framework_ran_are_counted_and_not_listed() -> None:
    alone, own = published("mxnet", 1, 100.0, case="vgg16-imagenet"), measured("alpha")
    page = home(ENGLISH, SiteData((published("paddle", 1, 393.5), published("pytorch", 1, 370.2), alone, own)))
    assert "mxnet" not in page.partition("Third-party results (1)")[2].partition("{ #how }")[0]
    assert "paddle" in page.partition("Third-party results (1)")[2].partition("{ #how }")[0]
    assert "Not listed: 2 results of a single framework" in page
    assert "(1)" in home(ENGLISH, SiteData((own,))).partition("## All comparisons")[2]


def test_of_our_results_under_several_settings_none_is_left_out() -> None:
    slow = measured("alpha", value=400.0, axes=(("checkpointing", "full"),), campaign="newer")
    data = SiteData((measured("beta", value=500.0, axes=(("checkpointing", "none"),)), slow))
    assert {answer.best.framework for answer in every_answer(data)} == {"alpha", "beta"}
    assert best_of_cases(every_answer(data))[0].best.framework == "beta"


def test_stock_and_tuned_programs_of_a_case_have_a_headline_each() -> None:
    tuned = [measured(name, value=430.0, tuning="tuned") for name in ("alpha", "beta")]
    stock = [measured(f"{name}-stock", value=400.0, tuning="stock", campaign="newer") for name in ("alpha", "beta")]
    found = best_of_cases(every_answer(SiteData((*tuned, *stock))))
    assert [answer.best.tuning for answer in found] == ["tuned", "stock"]


def test_a_claim_about_a_kind_says_on_how_many_gpus_or_machines_it_rests() -> None:
    a, b, many = measured("alpha"), measured("beta"), measured("beta", 8)
    kind, data = Claim(a, b, message("better"), machines=((a, b),) * 4), SiteData((a, b))
    assert gpus_of(ENGLISH, data, replace(kind, machines=())) == "one box"
    assert gpus_of(ENGLISH, data, kind) == "box, mean of 4 GPUs each on its own"
    assert gpus_of(CHINESE, data, kind) == "4 张 box（各自单独测试，取平均）"
    assert gpus_of(ENGLISH, data, replace(kind, b=many)) == "box, mean of 4 machines"


def test_a_claim_about_a_kind_states_the_lead_on_each_machine_and_its_trials_there() -> None:
    pairs = tuple(
        (
            at_clock(measured("alpha", value=400.0), 1650.0),
            at_clock(measured("beta", value=value, campaign=name), clock),
        )
        for value, clock, name in ((430.0, 1600.0, "of-430.0"), (440.0, 1800.0, "of-440.0"))
    )
    answer = Answer((pairs[0][1], pairs[0][0]), replace(ALONE, rows={}))
    answer.__dict__["claim"] = Claim(*pairs[0], message("better"), machines=pairs)
    found = lead(Page(ENGLISH, SiteData(answer.ranked), at.HOME), answer)
    assert [one.text for one in found.machines] == [f"+7.5{md.NO_BREAK}%", f"+10.0{md.NO_BREAK}%"]
    assert ["of-430.0" in found.machines[0].address, "of-440.0" in found.machines[1].address] == [True, True]
    assert found.trials == f"2 × {len(pairs[0][0].values)}"
    assert re.findall(r"[\d,]+ MHz", found.power) == ["1,700 MHz", "1,650 MHz"], "of all machines"


def test_a_claim_states_what_was_not_measured_of_both_the_side_behind_first() -> None:
    behind, ahead = measured("jax", value=400.0), measured("pytorch-compiled", value=430.0)
    cases = {behind.case: load_catalog(None).cases["bert-base"]}
    page = Page(ENGLISH, SiteData((behind, ahead), cases=cases), at.HOME)
    (claimed,) = answers([claimable(behind), claimable(ahead, turn=1)])
    found = lead(page, claimed)
    assert shown(found.explained) == (
        "Explained by estimates (4.0 %): about 4.0 % of 7.5 %; the rest is not explained."  # 5.3 - 1.3
    )
    assert found.untried == (
        "jax: GELU by erf, about 2.3 % by an estimate from instructions and bytes, about 5 % with jax.checkpoint, "
        "and flags of XLA; pytorch-compiled: max-autotune"
    )
    close = replace(ahead, value=410.0)
    claimed.__dict__["claim"] = Claim(behind, close, message("better"))
    assert shown(lead(page, claimed).explained).startswith("More than the lead is explained by estimates (4.0 %)")
    (untold,) = answers([behind, ahead])
    assert (lead(page, untold).untried, lead(page, untold).explained) == ("", "")


def shown(text: str) -> str:
    return text.replace(md.NO_BREAK, " ")


def test_a_claim_says_how_much_of_the_lead_is_waiting() -> None:
    behind = idle_for(measured("jax", value=431.0), 0.0452)
    ahead = idle_for(measured("pytorch-compiled", value=489.6), 0.0048)
    page = Page(ENGLISH, SiteData((behind, ahead), cases={}), at.HOME)
    answer = Answer((ahead, behind), replace(ALONE, rows={}))
    answer.__dict__["claim"] = Claim(behind, ahead, message("better"))
    found = lead(page, answer)
    assert shown(found.busy) == "While kernels ran, pytorch-compiled is 9.0 % ahead (means, not tested)."
    assert shown(found.explained) == (
        "Explained by the longer idle time (4.6 %): about 4.6 % of 13.6 %; the rest is not explained."
    )
    answer.__dict__["claim"] = Claim(behind, replace(ahead, value=432.0), message("cannot_tell"))
    found = lead(page, answer)
    assert (shown(found.busy), found.explained) == ("While kernels ran, jax is 4.0 % ahead (means, not tested).", "")


def test_a_claim_says_what_tuning_gave_each_side_and_what_it_changed() -> None:
    sides = [measured("jax", value=420.0, tuning="tuned"), measured("pytorch-compiled", value=450.0, tuning="tuned")]
    stock = [measured("jax-stock", value=400.0, tuning="stock"), measured("pytorch-stock", value=440.0, tuning="stock")]
    cases = {sides[0].case: load_catalog(None).cases["bert-base"]}
    answer = Answer((sides[1], sides[0]), replace(ALONE, rows={}))
    answer.__dict__["claim"] = Claim(*sides, message("better"))
    told = lead(Page(ENGLISH, SiteData((*sides, *stock), cases=cases), at.HOME), answer).tuning
    assert told == (
        "Tuned over stock: pytorch-compiled 1.023, jax 1.050. "
        "What tuning changed: pytorch-compiled: CUDA graph; jax: nothing, it is the stock program."
    )
    told = lead(Page(ENGLISH, SiteData(tuple(sides)), at.HOME), answer).tuning
    assert told == "", "without results of stock programs, and without a ledger"


def test_a_claim_of_stock_programs_says_that_they_leave_out_what_makes_tuned_ones_faster() -> None:
    sides = (measured("jax-stock", value=400.0), measured("pytorch-stock", value=430.0))
    sides = tuple(replace(row, tuning="stock") for row in sides)
    cases = {sides[0].case: load_catalog(None).cases["bert-base"]}
    (claimed,) = answers([claimable(row, turn=turn) for turn, row in enumerate(sides)])
    found = lead(Page(ENGLISH, SiteData(sides, cases=cases), at.HOME), claimed)
    assert found.untried.startswith("the changes that make the tuned programs faster")
    assert found.untried.endswith("and leave them out; jax-stock: the XLA_FLAGS of JAX's page on GPU performance")


def test_cards_say_of_tuned_programs_that_they_are() -> None:
    tuned = [
        replace(measured(name, value=value), tuning="tuned") for name, value in (("alpha", 430.0), ("beta", 400.0))
    ]
    answer = Answer(tuple(tuned), ALONE)
    page = Page(ENGLISH, SiteData(answer.ranked), at.HOME)
    assert [bar.aside.partition(md.BETWEEN)[0] for bar in ranked_bars(page, answer)] == ["tuned", "tuned"]
    found = lead(page, answer)
    assert found.first is not None
    assert found.first.aside == "tuned"


def test_a_claim_states_the_lead_of_the_same_two_on_other_gpus() -> None:
    pair = measured("beta", value=400.0), measured("alpha", value=430.0)
    others = [
        measured(framework, value=value, campaign=f"of-{lead}", hardware="larger", **axes)
        for lead, axes in ((600.0, {}), (602.0, {}), (900.0, {"batch_size": 8}))
        for framework, value in (("alpha", lead), ("beta", 600.0))
    ]
    (claimed,) = answers([claimable(row, turn=turn) for turn, row in enumerate(pair)])
    page = Page(ENGLISH, SiteData((*pair, *others)), at.HOME)
    assert lead(page, claimed).elsewhere.replace(md.NO_BREAK, " ") == "larger 0.0 % to +0.3 %, campaigns: 2"
    (untold,) = answers(pair)
    assert lead(page, untold).elsewhere == ""


def test_a_claim_says_how_far_losses_are_apart_and_how_far_seeds_make_them_differ() -> None:
    early, late = ([((20, 3.0 + n / 100), (100, 4.0 + n / 100)) for n in seeds] for seeds in ((0, 4, 2), (6, 10, 8)))
    found = alike_losses(early, late)
    assert found is not None
    assert (found.step, found.difference < found.limit) == (20, True), "0.06 of 3 is more than of 4"
    assert (found.a, found.b) == ((3.0, 3.04, 3.02), (3.06, 3.1, 3.08))
    assert alike_losses([()], [((100, 4.0),)]) is None


def test_a_claim_says_between_which_losses_its_trials_are_and_what_is_known_of_it() -> None:
    behind, ahead = measured("jax", value=400.0), measured("pytorch-compiled", value=430.0)
    (claimed,) = answers([claimable(behind), claimable(ahead, turn=1)])
    case = load_catalog(None).cases["bert-base"]
    page = Page(ENGLISH, SiteData((behind, ahead), cases={behind.case: case}), at.HOME)
    assert "pytorch-compiled 2 to 2 (5 trials), jax 2 to 2 (5 trials)" in lead(page, claimed).losses
    assert case.ledger is not None
    assert lead(page, claimed).losses.endswith(case.ledger.losses)


def test_reasons_against_a_claim_name_frameworks_by_their_titles() -> None:
    why = message("with_caveat", framework="alpha", why=quoted("alpha"))
    page = Page(ENGLISH, sample(), "index.md")
    assert page.reason(message("cannot_tell", why=(why,))).startswith("cannot tell: Alpha: ")
    tuning = message("unequal_setting", name="tuning", a=NOT_STATED, b="tuned")
    assert page.reason(tuning) == "tuning not stated against tuned"
    assert Page(CHINESE, sample(), "index.md").reason(tuning) == "调优程度：未说明与调优"


@pytest.mark.parametrize(
    ("clock", "shown"), [(1980.0, True), (1830.0, True), (1810.0, False), (1620.0, True), (None, False)]
)
def test_clocks_that_differ_are_said_with_the_power(clock: float | None, shown: bool) -> None:
    rows = at_clock(measured("alpha", value=410.0), clock), at_clock(measured("beta"), 1800.0)
    text = Document(report(ENGLISH, SiteData(rows), "measured/dlperf-v1", "resnet50-imagenet", rows)).text
    sides = f"GPU clock and power: alpha {clock or 0:,.0f} MHz at 690 W per GPU; beta 1,800 MHz at 690 W per GPU."
    assert (sides in text) == shown


@pytest.mark.parametrize(("idle", "shown"), [(0.045, True), (0.014, False), (None, False)])
def test_a_gpu_that_waited_longer_than_the_other_side_s_is_said(idle: float | None, shown: bool) -> None:
    rows = idle_for(measured("alpha", value=410.0), 0.02), idle_for(measured("beta"), idle)
    text = Document(report(ENGLISH, SiteData(rows), "measured/dlperf-v1", "resnet50-imagenet", rows)).text
    said = "No kernel ran on the GPU for a share of the window: alpha 2.0 %; beta 4.5 %."
    assert (said in text.replace("\N{NO-BREAK SPACE}", " ")) == shown


def idle_for(row: ConfigurationResult, share: float | None) -> ConfigurationResult:
    return replace(row, trials=tuple(replace(trial, idle=share) for trial in row.trials))


def at_clock(row: ConfigurationResult, clock: float | None) -> ConfigurationResult:
    return replace(row, trials=tuple(replace(trial, sm_clock_mhz=clock, power_watts=690.0) for trial in row.trials))


def test_the_summary_names_what_was_measured_most_before_a_quick_test() -> None:
    quick = measured("quick", hardware="laptop")
    text = home(ENGLISH, SiteData((quick, measured("alpha", 1), measured("alpha", 8))))
    summary = Document(text).text.partition("We measured 3 results of ")[2].partition(" from ")[0]
    assert summary.index("alpha") < summary.index("quick")
    assert summary.index("box") < summary.index("laptop")


def test_figures_of_different_sequence_lengths_are_never_compared() -> None:
    short = measured("alpha", value=420.0, axes=(("sequence_length", 2048),))
    long = measured("beta", value=400.0, axes=(("sequence_length", 8192),))
    assert [answer.second for answer in answers([short, long])] == [None, None]


def test_stock_programs_are_compared_with_stock_ones_and_tuned_ones_with_tuned_ones() -> None:
    speeds = {
        ("alpha", "tuned"): 500.0,
        ("beta", "tuned"): 480.0,
        ("alpha-stock", "stock"): 400.0,
        ("beta-stock", "stock"): 390.0,
    }
    found = answers([replace(measured(name, value=speed), tuning=how) for (name, how), speed in speeds.items()])
    pairs = [(answer.best.framework, answer.second and answer.second.framework) for answer in found]
    assert pairs == [("alpha", "beta"), ("alpha-stock", "beta-stock")]
    assert [figures.tuning_words(ENGLISH, answer.best) for answer in found] == [
        ("tuned programs",),
        ("stock programs",),
    ]


def test_figures_of_different_sources_are_never_compared() -> None:
    assert all(answer.second is None for answer in answers([measured("alpha"), published("paddle", 1, 393.5)]))

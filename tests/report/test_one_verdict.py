"""A pair of results has one verdict, one list of reasons and one sentence, whichever side and whichever page asks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from html_text import Document
from site_rows import measured
from site_sample import campaign, sample

from claimable import CONDITIONS, claimable, of_trials
from dlperf.messages import ENGLISH
from dlperf.messages.finding import warning
from dlperf.report.answer import answers_of_site, claims_of
from dlperf.report.build import overview_pages
from dlperf.report.data import SiteData
from dlperf.report.load import load_claim_data
from dlperf.report.pages.home import home
from dlperf.report.pages.methodology import methodology
from dlperf.report.pages.page import Page
from dlperf.report.site import locations as at
from dlperf.report.views import TextView
from dlperf.runs.paths import WorkspacePaths
from dlperf.verdicts.claims import claim


def test_both_sides_of_each_kept_pair_that_pages_compare_are_told_the_same() -> None:
    data = load_claim_data(WorkspacePaths(Path(__file__).parents[2]))
    found = claims_of(data, data.context)
    assert found
    page = Page(ENGLISH, data, at.HOME)
    for one in found:
        turned = data.context.claim(one.b, one.a)
        assert (turned.inverse.verdict, turned.p, turned.reasons) == (one.verdict, one.p, one.reasons)
        assert turned.inverse.ratio == pytest.approx(one.ratio)
        assert (turned.found and turned.found.more) == (one.found and one.found.more)
        if one.reasons:
            assert page.verdict(turned) == page.verdict(one)


def test_a_long_reason_is_cut_after_its_first_clause_and_whole_on_hover() -> None:
    faulty = replace(
        claimable(measured("beta"), turn=1), findings=(warning("head_not_compiled"), warning("drift", drift=0.03))
    )
    page = Page(ENGLISH, replace(sample(), results=(faulty,)), at.HOME)
    found = claim(claimable(measured("alpha", value=1000.0)), faulty)
    cell = page.verdict(found)
    assert isinstance(cell, TextView)
    assert cell.text == "cannot tell: Beta: PyTorch's program compiles the backbone only … (and 1 more)"
    assert cell.full == page.reason(found.brief)


def kind_of_gpus() -> SiteData:
    """Two frameworks on four GPUs: the one behind on the newest is ahead in the middle."""
    sides = {"alpha": (403.0, 400.0, 404.0, 396.0), "beta": (399.0, 399.0, 397.0, 401.0)}
    rows = [
        replace(
            of_trials(
                claimable(measured(name, campaign=f"on-{gpu}"), *(value + step / 100 for step in range(5)), turn=turn),
                conditions=CONDITIONS | {"gpu.uuid": f"GPU-{gpu}"},
            ),
            protocol="dlperf-v1",
        )
        for turn, (name, values) in enumerate(sides.items())
        for gpu, value in enumerate(values)
    ]
    records = {
        f"on-{gpu}": replace(
            campaign([one for one in rows if one.campaign == f"on-{gpu}"]), created=f"2026-01-02T00:0{gpu}:00Z"
        )
        for gpu in range(4)
    }
    return replace(sample(), results=tuple(rows), campaigns=records)


def test_who_is_first_and_by_how_much_is_that_of_the_kind_and_not_of_its_newest_gpu() -> None:
    data = kind_of_gpus()
    ((answer,),) = (answers_of_site(data, rows) for rows in data.reports.values())
    assert (answer.best.framework, answer.claim and len(answer.claim.machines)) == ("alpha", 4)
    told, page = (" ".join(Document(text).text.split()) for text in (home(ENGLISH, data), methodology(ENGLISH, data)))
    assert told.index("Alpha median of 4 GPUs") < told.index("Beta median of 4 GPUs")
    assert "Alpha 401.5 median of 4 GPUs" in page[page.index("Comparisons without") :]
    assert "1.004 (mean of 4 GPUs)" in page


def test_a_framework_does_not_rank_by_an_earlier_faulty_program_where_there_is_another() -> None:
    of_machines = {"h100-old": (warning("head_not_compiled"),), "h100-new": ()}
    rows = [
        replace(claimable(measured(name, value=value, hardware=machine), turn=turn), findings=found)
        for machine, found in of_machines.items()
        for turn, (name, value) in enumerate((("alpha", 430.0), ("beta", 400.0)))
    ]
    for listed, machines in ((rows[:2], ["h100-old"]), (rows, ["h100-new"])):
        text = dict(overview_pages(ENGLISH, SiteData(listed)))[at.framework_page("beta")]
        ranks = text[: text.index("{ #figures")]
        assert [name for name in of_machines if name in ranks] == machines

"""A pair of results has one verdict, one list of reasons and one sentence, whichever side and whichever page asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlperf.report.answer import claims_of
from dlperf.report.load import load_claim_data
from dlperf.runs.paths import WorkspacePaths


def test_both_sides_of_each_kept_pair_that_pages_compare_are_told_the_same() -> None:
    data = load_claim_data(WorkspacePaths(Path(__file__).parents[2]))
    found = claims_of(data, data.context)
    assert found
    for one in found:
        turned = data.context.claim(one.b, one.a)
        assert (turned.inverse.verdict, turned.p, turned.reasons) == (one.verdict, one.p, one.reasons)
        assert turned.inverse.ratio == pytest.approx(one.ratio)
        assert (turned.found and turned.found.more) == (one.found and one.found.more)

"""How the step counter goes on from record to record."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import pairwise
from math import isnan, nan

from hypothesis import given
from hypothesis import strategies as st

from dlperf.evidence.columns import spacings

STEPS = st.lists(st.sampled_from([nan, 0.0, 1.0, 2.0, 10.0, 20.0, 30.0]) | st.integers(0, 40).map(float), max_size=40)
EVEN = st.builds(lambda first, by, count: [first + by * index for index in range(count)], *[st.integers(1, 20)] * 3)


@given(STEPS | EVEN)
def test_spacings_are_those_of_every_two_records_that_follow_each_other(steps: list[float]) -> None:
    found = spacings(array("d", steps))

    gaps = [after - before for before, after in pairwise(steps)]
    assert dict(found.counts) == Counter(gap for gap in gaps if not isnan(gap))
    assert list(found.back) == [index for index, gap in enumerate(gaps, 1) if gap <= 0]


def test_the_usual_spacing_is_that_of_most_records_and_1_where_none_goes_on() -> None:
    assert spacings(array("d", [10, 20, 30, 40, 10, 20, 25])).usual == 10
    assert spacings(array("d", [nan, nan, 3, 3])).usual == 1

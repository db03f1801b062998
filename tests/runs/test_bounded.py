"""JSON that anything may have written: what is refused, wherever it stands."""

from __future__ import annotations

import pytest

from dlperf.runs.bounded import load_json

LARGE = ("1e999", "-1e999", "1.5E+400", "0.5e1000", "9" * 400)


@pytest.mark.parametrize("number", LARGE, ids=lambda text: text[:10])
@pytest.mark.parametrize("document", ["{}", "[{}]", '{{"a":{}}}', '{{"a": {}}}', '{{"a":\n{}}}', "[0,{}]"])
def test_a_number_that_is_no_finite_float_is_refused_wherever_it_stands(document: str, number: str):
    with pytest.raises(ValueError, match="too large a number"):
        load_json(document.format(number).encode())


@pytest.mark.parametrize("value", ['"4e12345"', "1e300", "1e-999", '"a: 1e999"', "9" * 300])
def test_finite_numbers_and_texts_that_look_like_numbers_are_read(value: str):
    assert load_json(f'{{"a": {value}}}'.encode())["a"] is not None

"""Timestamps → seconds."""

from __future__ import annotations

from math import isnan

import pytest

from dlperf.formats.text.numbers import Clock, floats, whole_ratio


@pytest.mark.parametrize(
    ("time_format", "first", "second", "apart"),
    [
        ("%Y/%m/%d %H:%M:%S", b"2023/12/31 23:59:59", b"2024/01/01 00:00:01", 2.0),
        ("%Y-%m-%d %H:%M:%S,%f", b"2024-02-28 23:59:59,250", b"2024-02-29 00:00:00,750", 1.5),
        ("%Y-%m-%dT%H:%M:%S.%f", b"2026-01-31T12:00:00.000001", b"2026-01-31T12:00:00.500001", 0.5),
        ("%m%d %H:%M:%S.%f", b"0229 10:00:00.000000", b"0301 10:00:00.000000", 86400.0),
        ("seconds", b"12.549", b"14.470", 1.921),
        ("elapsed", b"59:58", b"26:00:01", 90003.0),
        ("elapsed", b"23:59:59", b"1 day, 0:10:00", 601.0),
        ("elapsed", b"1 day, 23:59:59", b"12 days, 0:00:00", 864001.0),
    ],
)
def test_times_differ_by_the_seconds_between_them(time_format, first, second, apart):
    start, end = Clock(time_format).seconds([first, second])
    assert end - start == pytest.approx(apart, abs=1e-6)


@pytest.mark.parametrize("text", [b"nan", b"2023/13/01 10:00:00", b"2023/01/01 10:00:xx", b"", b"\xff:\xff"])
def test_what_is_no_time_is_nan_and_spoils_no_other(text):
    bad, good = Clock("%Y/%m/%d %H:%M:%S").seconds([text, b"2023/01/01 10:00:00"])
    assert isnan(bad)
    assert good == 1672567200.0


def test_times_are_utc():
    assert Clock("%Y-%m-%dT%H:%M:%S.%f").seconds([b"1970-01-01T00:01:00.5"]) == [60.5]


def test_numbers_written_for_people_are_read():
    assert floats([b"5,615", b"14.2K", b"1,005.5", b"3M", b"7"]) == [5615.0, 14200.0, 1005.5, 3e6, 7.0]
    assert all(map(isnan, floats([b"1,5", b"K", b"1.2.3", b""])))


def test_a_time_of_day_goes_on_over_midnight_and_back_by_less_is_as_printed():
    clock = Clock("%H:%M:%S.%f")
    first = clock.seconds([b"23:59:50.5", b"00:00:10.5"])
    later = clock.seconds([b"12:00:10.5", b"11:59:10.5", b"23:00:10.5", b"00:00:10.5"])
    assert [time - first[0] for time in (*first, *later)] == [0, 20, 43_220, 43_160, 82_820, 86_420]


@pytest.mark.parametrize(
    ("total", "part", "whole"),
    [
        (b"204.800", b"51.2000", b"4"),
        (b"14.2K", b"1.78K", b"8"),  # 7.98, of which three digits may be 8
        (b"1.55M", b"194K", b"8"),
        (b"1,024", b"128.0", b"8"),
        (b"5.12e+05", b"6.4e+04", b"8"),
        (b"204.800", b"60.0000", b""),  # 3.41
        (b"900", b"1.7", b""),  # 510 to 549
        (b"100", b"0", b""),
        (b"nan", b"nan", b""),
        (b"9" * 5000, b"1", b""),
    ],
)
def test_a_ratio_of_printed_numbers_is_whole_where_their_digits_leave_one_number(total, part, whole):
    assert whole_ratio(total, part) == whole

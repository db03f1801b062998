"""What a value was computed from: the data types that ran, and the subtraction."""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose, prod

from dlperf.report import figures
from dlperf.report.pages.page import Page
from dlperf.table.model import ConfigurationResult

AGREEING = 1e-4
"""Relative difference below which batch, GPUs and steps reproduce a value."""


def reported_types(page: Page, row: ConfigurationResult) -> str:
    """Return the data types that all trials reported, in words; empty where the program reports none."""
    reports = [trial.numerics for trial in row.usable_trials]
    same = {name: kind for name, kind in (reports or [{}])[0].items() if all(one.get(name) == kind for one in reports)}
    return types_text(page, same)


def types_text(page: Page, types: Mapping[str, str]) -> str:
    """Return data types with the names of what has them."""
    return page.language.separator.join(f"{page.fact(name)} {page.option(kind)}" for name, kind in types.items())


def subtraction(page: Page, row: ConfigurationResult) -> str:
    """Return the calculation of the first trial's value, where batch, GPUs and steps alone reproduce it."""
    trial = next(iter(row.usable_trials), None)
    if trial is None or trial.value is None or not trial.window_seconds or not row.batch_size:
        return ""
    length = row.setting("sequence_length") if row.unit == "tokens/s" else 1
    factors = [row.batch_size, row.gpus_total, int(str(length or 1))]
    first, last = trial.first_step or 0, trial.last_step or 0
    if not isclose((last - first) * prod(factors) / trial.window_seconds, trial.value, rel_tol=AGREEING):
        return ""
    return page._(
        "Trial {trial}: (step {last} − step {first}) × {work} per step ÷ {seconds} s = {value} {unit}",
        trial=str(trial.number),
        first=str(first),
        last=str(last),
        work=" × ".join(f"{factor:,}" for factor in factors if factor > 1),
        seconds=f"{trial.window_seconds:.3f}",
        value=figures.optional(trial.value),
        unit=row.unit,
    )

"""Reproduce a result: what to run again, and whether the new trials agree with it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.catalog.axes import REVISION
from dlperf.catalog.units import is_speed
from dlperf.errors import RequestError
from dlperf.messages import Message, message
from dlperf.plan.model import Selection
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import Claim
from dlperf.verdicts.compare import parse_selector
from dlperf.verdicts.significance import LEAST_TRIALS, SIGNIFICANT


def find_result(text: str, rows: Sequence[ConfigurationResult]) -> ConfigurationResult:
    """Return the row of ``campaign/configuration`` or of a configuration id that one campaign has.

    Raises:
        RequestError: none or several rows have this name, or it has no value.
    """
    selector = parse_selector(text, rows)
    found = [row for row in rows if selector.matches(row)]
    if len(found) != 1:
        names = ", ".join(sorted({f"{row.campaign}/{row.configuration}" for row in found})[:3])
        raise RequestError(f"{text}: {len(found)} results have this name ({names} …): write CAMPAIGN/CONFIGURATION")
    if found[0].value is None:
        raise RequestError(f"{text}: has no value ({found[0].status}): choose a result with one from `dlperf results`")
    return found[0]


def selection_of_result(row: ConfigurationResult, repeats: int) -> Selection:
    """Return the selection that plans the configuration of a result again, in the version that the catalogue has."""
    return Selection(
        hardware=(row.hardware,),
        frameworks=(row.framework,),
        cases=(row.case,),
        precisions=(row.precision,),
        batch_sizes=() if row.batch_size is None else (row.batch_size,),
        scales=(row.scale,),
        protocol=row.protocol,
        repeats=repeats,
        axes=tuple(f"{name}={value}" for name, value in row.axes if name != REVISION),
    )


def agreement(found: Claim, tolerance: float = 0.0) -> Message:
    """Return whether B reproduces A: same, faster or slower by the permutation test, or why it was not tested.

    Unlike a claim, it allows other machines and trials that are not interleaved: that is what is reproduced on.

    Args:
        tolerance: relative loss that is accepted although the test shows it.
    """
    if found.ratio is None or found.gain is None or (found.p is None and not found.b.values):
        return found.verdict
    difference, counts = found.ratio - 1, (len(found.a.values), len(found.b.values))
    if not found.tested or found.p is None:
        return message("not_tested", difference=difference, a=counts[0], b=counts[1], least=LEAST_TRIALS)
    if found.p <= SIGNIFICANT and 1 - tolerance <= found.gain < 1:
        return message("tolerated", difference=difference, p=found.p, tolerance=tolerance)
    up, down = ("faster", "slower") if is_speed(found.a.unit) else ("better", "worse")
    code = "reproduced" if found.p > SIGNIFICANT else f"reproduced_{up if found.gain > 1 else down}"
    return message(code, difference=difference, p=found.p)

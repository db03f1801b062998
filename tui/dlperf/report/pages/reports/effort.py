"""What explains a lead, and what tuning gave each side."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from dlperf.catalog.ledger import Ledger
from dlperf.messages import N_
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.pages.page import Page
from dlperf.table.families import family_of
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import DECIDED, Claim
from dlperf.verdicts.conditions import idle_of

LONGER_IDLE = 0.01
"""Smallest difference of idle shares that is shown."""

Rows = Sequence[ConfigurationResult]


def idle_shares(sides: Iterable[Rows]) -> list[float]:
    """Return for which share of the window no kernel ran on each side; none where that is unknown, or equal enough."""
    sides = list(sides)
    shares = [fmean(map(idle_of, rows)) for rows in sides]
    known = all(trial.idle is not None for rows in sides for row in rows for trial in row.usable_trials)
    return shares if known and max(shares) - min(shares) >= LONGER_IDLE else []


def busy_gain(found: Claim) -> float | None:
    """Return B's performance relative to A's while kernels ran; None where idle shares are unknown or equal enough."""
    shares = idle_shares(zip(*(found.machines or ((found.a, found.b),)), strict=True))
    return found.gain * (1 - shares[0]) / (1 - shares[1]) if shares and found.gain else None


def while_busy(page: Page, found: Claim) -> str:
    """Return who is ahead while kernels ran, and by how much, where one side waited longer."""
    gain = busy_gain(found)
    if gain is None:
        return ""
    ahead = found.b if gain >= 1 else found.a
    return page._(
        "While kernels ran, {framework} is {lead} ahead (means, not tested).",
        framework=page.data.framework_title(ahead.framework, ahead.campaign),
        lead=_percent(max(gain, 1 / gain) - 1),
    )


def explained(page: Page, found: Claim, ledger: Ledger | None) -> str:
    """Return how much of a lead waiting GPUs and the estimates of the ledger explain."""
    better = found.of_better
    gain = better.gain or 1.0
    waiting = max(gain - (busy_gain(better) or gain), 0.0) if found.verdict.code in DECIDED else 0.0
    estimated = ledger.percent_behind(better.a.framework, better.b.framework) / 100 if ledger else 0.0
    named = ((N_("the longer idle time ({share})"), waiting), (N_("estimates ({share})"), estimated))
    reasons = [page._(text, share=_percent(part)) for text, part in named if part]
    if not reasons:
        return ""
    text = (
        N_("Explained by {reasons}: about {share} of {lead}; the rest is not explained.")
        if waiting + estimated < gain - 1
        else N_("More than the lead is explained by {reasons}: about {share} against {lead}.")
    )
    joined = page.language.separator.join(reasons)
    return page._(text, reasons=joined, share=_percent(waiting + estimated), lead=_percent(gain - 1))


def tuning_gain(page: Page, found: Claim, ledger: Ledger | None) -> str:
    """Return what tuning gave each side where its stock and its tuned program ran the same, and what it changed."""
    sides = (found.of_better.b, found.of_better.a)
    ratios = [f"{_title(page, row)} {ratio:.3f}" for row in sides if (ratio := _over_stock(page, row))]
    changes = [
        f"{_title(page, row)}{page.language.colon}{text}" for row in sides if (text := _changed(page, row, ledger))
    ]
    told = (
        page._("Tuned over stock: {sides}.", sides=page.language.separator.join(ratios)) if len(ratios) == 2 else "",
        page._("What tuning changed: {sides}.", sides=page.language.semicolon.join(changes)) if changes else "",
    )
    return page.language.gap.join(filter(None, told))


def _over_stock(page: Page, row: ConfigurationResult) -> float | None:
    """Return the ratio of a framework's tuned to its stock program, by the results of each on most GPUs."""
    best = {tuning: _score(page, row, tuning) for tuning in ("tuned", "stock")}
    return best["tuned"] / best["stock"] if all(best.values()) else None


def _score(page: Page, row: ConfigurationResult, tuning: str) -> float:
    """Return the score of the result on most GPUs, of which a single one may be a fast one; 0 without any."""
    found = (one for one in _same_work(page, row) if one.tuning == tuning)
    joint = ((len(page.data.together(one)), page.data.joint(one).score) for one in found)
    return max(joint, default=(0, 0.0))[1]


def _same_work(page: Page, row: ConfigurationResult) -> Iterator[ConfigurationResult]:
    """Yield the sound results of a framework's programs that ran what this one ran, on its machine."""
    for name, rows in page.data.of_framework.items():
        if family_of(name) == family_of(row.framework):
            yield from (one for one in rows if _point(one) == _point(row) and not one.program_faults)


def _point(row: ConfigurationResult) -> tuple[object, ...]:
    return row.hardware, row.case, row.metric, row.precision, row.batch_size, row.scale, row.axes


def _changed(page: Page, row: ConfigurationResult, ledger: Ledger | None) -> str:
    """Return the aspects in which the ledger's tuned program of a framework differs from its stock one."""
    if ledger is None or row.tuning != "tuned":
        return ""
    kin = [name for name in ledger.frameworks if name != row.framework and family_of(name) == family_of(row.framework)]
    tuned = ledger.of(row.framework)
    differing = [[aspect for aspect, text in ledger.of(name).items() if text != tuned.get(aspect)] for name in kin]
    if not differing or not tuned:
        return ""
    fewest = min(differing, key=len)
    return page.language.separator.join(map(page.fact, fewest)) or page._("nothing, it is the stock program")


def _title(page: Page, row: ConfigurationResult) -> str:
    return page.data.framework_title(row.framework, row.campaign)


def _percent(share: float) -> str:
    return md.unbreakable(figures.percent(share))

"""A figure as it stands in a cell: value, spread, n and a link; or the reason why there is none. All as plain text."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from dlperf.messages import N_, Language
from dlperf.report import markdown as md
from dlperf.report.data import gpus_total, is_published
from dlperf.report.locations import configuration_page, html_address
from dlperf.report.views import Figure
from dlperf.results.model import ConfigurationResult

STATES = (
    *(N_("planned"), N_("submitted"), N_("running"), N_("succeeded"), N_("failed"), N_("timed_out")),
    *(N_("cancelled"), N_("lost"), N_("published")),
)
"""How a trial stands, as stored."""
SEVERITIES = (N_("note"), N_("warning"), N_("error"))


def stored_word(language: Language, stored: str) -> str:
    """A state or a severity as plain text; a word that is none of ours stays as it was."""
    return language.gettext(stored) if stored in (*STATES, *SEVERITIES) else stored


def exact(value: float) -> str:
    """Every digit that the source gives."""
    return format(Decimal(repr(value)).normalize(), "f")


@lru_cache(maxsize=1 << 14)
def sensible(value: float) -> str:
    """Five significant digits: more than trials ever agree on."""
    decimals = 0
    while decimals < 8 and abs(value) * 10**decimals < 10000:
        decimals += 1
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def printed_digits(value: float | None, like: str) -> str:
    """``value`` with as many decimals as the printed figure that it stands beside, and one more."""
    if value is None:
        return ""
    return f"{value:.{len(like.partition('.')[2]) + 1}f}"


def value_text(result: ConfigurationResult) -> str:
    """The figure: value for value where others published it, with sensible digits where it was measured."""
    if result.value is None:
        return ""
    if not is_published(result.campaign):
        return sensible(result.value)
    return result.printed or exact(result.value)


def percent(ratio: float | None, digits: int = 1) -> str:
    """Zero has no sign, whatever it was rounded from."""
    return "" if ratio is None else f"{ratio * 100:z.{digits}f} %"


def spread(ratio: float | None) -> str:
    """As ``percent``; a small one has a digit more, since no trials agree exactly."""
    return percent(ratio, 2 if ratio is not None and ratio < 0.0005 else 1)


def factor(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def optional(value: float | None) -> str:
    return "" if value is None else sensible(value)


def figure(
    language: Language, page: str, result: ConfigurationResult, *, scaling: bool = False, best: bool = False
) -> Figure:
    """The figure of a configuration for a cell on a page.

    Args:
        scaling: with speed-up and efficiency.
        best: it is the highest of its row.
    """
    address = html_address(page, configuration_page(result))
    if result.value is None:
        return Figure(result.status.kind(language), address, missing=True)
    return Figure(
        value_text(result),
        address,
        best=best,
        trials=spread_text(result),
        scaling=_scaling(result) if scaling else "",
        caveat=_caveat(language, result),
    )


def _scaling(result: ConfigurationResult) -> str:
    if result.speedup is None or gpus_total(result) == 1:
        return ""
    return f"{factor(result.speedup)}× · {percent(result.efficiency)}"


def spread_text(result: ConfigurationResult) -> str:
    """How many trials there were, and how far they lie apart; nothing where a source does not say."""
    if result.n is None:
        return ""
    return f"n={result.n}" + (f" · {spread(result.spread)}" if result.spread is not None and result.n > 1 else "")


def doubtful(result: ConfigurationResult) -> bool:
    """More than a note was found about the figure."""
    return any(finding.severity != "note" for finding in result.findings)


def _caveat(language: Language, result: ConfigurationResult) -> str:
    return "; ".join(language.render(item.message) for item in result.findings if item.severity != "note")


def absent_word(campaign: str) -> str:
    return N_("not published") if is_published(campaign) else N_("not planned")


def scale_text(result: ConfigurationResult) -> str:
    return md.unbroken(f"{result.nodes} × {result.gpus}")


def precision_text(result: ConfigurationResult) -> str:
    return result.precision.upper()


def point_text(result: ConfigurationResult) -> str:
    """Where a configuration stands among those of a framework on a hardware: ``AMP, BS=256, 1 × 8``."""
    batch = f", BS={result.batch_size}" if result.batch_size is not None else ""
    variant = f" ({result.variant})" if result.variant > 1 else ""
    return f"{precision_text(result)}{batch}, {scale_text(result)}{variant}"


def gpus_text(language: Language, result: ConfigurationResult) -> str:
    """The GPUs of all nodes, counted in words."""
    count = gpus_total(result)
    return language.gettext("1 GPU") if count == 1 else language.gettext("{count} GPUs", count=str(count))


def batch_text(result: ConfigurationResult) -> str:
    return "" if result.batch_size is None else str(result.batch_size)


def option_text(option: object) -> str:
    """An option as a YAML file has it."""
    return str(option).lower() if isinstance(option, bool) else str(option)

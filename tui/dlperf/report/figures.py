"""Format throughputs, ratios and configurations as plain text for table cells."""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

from dlperf.catalog.axes import AxisValue
from dlperf.catalog.hardware import UNSTATED
from dlperf.catalog.units import counts_samples
from dlperf.messages import N_, Language, numbers
from dlperf.messages.numbers import four_digits
from dlperf.report import markdown as md
from dlperf.report.data import grouped, is_published
from dlperf.report.site.locations import configuration_page, html_address
from dlperf.report.views import FigureView
from dlperf.table.model import ConfigurationResult
from dlperf.table.shown import by_readings, digits_by_readings, speed_up

TITLES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("titles.toml").read_text("utf-8"))
AXES = TITLES["axes"]
"""Axis, or axis and value → its words."""
UNSAID = (
    *("tensor_parallel=1", "context_parallel=1", "pipeline_parallel=1", "expert_parallel=1", "virtual_pipeline=1"),
    *("gradient_accumulation=1", "fsdp=1", "compiler=default", "xla_flags=default"),
)
"""Values without words: nothing is divided, nothing is chosen."""
OF_RECIPE = ("weights", "scaling")
"""Axes that the words of a precision hold."""
NARROW = re.compile("(fp|int)[48]")
"""Precisions of which one name stands for several recipes."""
StatedAxes = Mapping[str, tuple[tuple[str, AxisValue], ...]]
"""Axes by case that a page states once."""
TUNING = {"stock": N_("stock programs"), "tuned": N_("tuned programs")}
"""What a recipe states of its program → words."""
NONE_STATED: StatedAxes = MappingProxyType({})
OPTIONS = {
    **{"True": N_("yes"), "False": N_("no"), "dynamic": N_("dynamic"), "static": N_("static")},
    **{"synthetic": N_("synthetic"), "made text": N_("made text"), "made images": N_("made images")},
}
"""Stored values of options → words."""
STATES = (
    *(N_("planned"), N_("submitted"), N_("running"), N_("succeeded"), N_("failed"), N_("timed_out")),
    *(N_("cancelled"), N_("lost"), N_("published")),
)
"""States of a trial, as stored."""
SEVERITIES = (N_("note"), N_("warning"), N_("error"))


def stored_word(language: Language, stored: str) -> str:
    """Translate a stored state or severity; return an unknown one unchanged."""
    return language.gettext(stored) if stored in (*STATES, *SEVERITIES) else stored


def exact(value: float) -> str:
    """Format a number with every digit of its source."""
    return format(Decimal(repr(value)).normalize(), "f")


def printed_digits(value: float | None, like: str) -> str:
    """Format ``value`` with one decimal more than ``like``, the published number beside it."""
    if value is None:
        return ""
    return f"{value:.{len(like.partition('.')[2]) + 1}f}"


def value_text(result: ConfigurationResult) -> str:
    """Format the throughput with four significant digits; empty without one."""
    return "" if result.value is None else four_digits(result.value)


def full_text(result: ConfigurationResult) -> str:
    """Format the throughput with every digit: as printed if published."""
    return "" if result.value is None else result.printed or exact(result.value)


def percent(ratio: float | None, digits: int = 1) -> str:
    """Format a ratio in percent; empty without one."""
    return "" if ratio is None else numbers.percent(ratio, digits)


def spread(ratio: float | None) -> str:
    """Format the spread of trials; empty without one."""
    return "" if ratio is None else numbers.spread(ratio)


def range_text(language: Language, values: Sequence[float]) -> str:
    """Return the lowest and the highest of several values; empty for fewer."""
    if len(values) < 2:
        return ""
    return language.gettext("{first} to {last}", first=four_digits(min(values)), last=four_digits(max(values)))


def factor(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def optional(value: float | None) -> str:
    return "" if value is None else four_digits(value)


MILLION = 1e6
JOULES_PER_KWH = 3.6e6
PAUSES = {"with": N_("with pauses"), "without": N_("without pauses")}
"""Whether a value holds evaluations, checkpoints and stalls."""


def per_gpu(result: ConfigurationResult) -> float | None:
    """Return the throughput over the number of GPUs; None without a value, or where it counts no samples."""
    return result.value / result.gpus_total if result.value and counts_samples(result.unit) else None


def unpadded_per_gpu(result: ConfigurationResult) -> float:
    """Return the throughput of one GPU, or the score, without what counts padding: by this results are ranked."""
    return (per_gpu(result) or result.score) * (1 - result.padding)


def metric_value(result: ConfigurationResult, metric: str, divisor: int = 1) -> float | None:
    """Return the value of a metric beside the throughput, over ``divisor``; None where it was not measured."""
    return next((found.value / divisor for found in result.metrics if found.id == metric), None)


def per_joule(result: ConfigurationResult) -> float | None:
    """Return what throughput counts per joule, see ``by_readings``."""
    return by_readings(result, result.samples_per_joule)


def kwh_text(result: ConfigurationResult) -> str:
    """Format the energy of a million of what throughput counts, in kWh and without padding; empty if not measured."""
    digits = digits_by_readings(result)
    if not result.samples_per_joule or not digits or not counts_samples(result.unit):
        return ""
    return numbers.to_digits(MILLION / JOULES_PER_KWH / result.samples_per_joule / (1 - result.padding), digits)


def per_joule_text(result: ConfigurationResult) -> str:
    found = per_joule(result)
    return "" if found is None else f"{four_digits(found)} {result.unit.removesuffix('/s') or 'samples'}/J"


def figure(
    language: Language, page: str, result: ConfigurationResult, *, scaling: bool = False, best: bool = False
) -> FigureView:
    """Return the throughput of a configuration for a cell on a page, or the reason why it is missing.

    Args:
        scaling: add speed-up and efficiency.
        best: mark it as the highest of its row.
    """
    address = html_address(page, configuration_page(result))
    if result.value is None:
        return FigureView(result.status.kind(language), address, missing=True)
    return FigureView(
        value_text(result),
        address,
        full_text(result),
        best=best,
        trials=spread_text(result),
        below=_scaling(result) if scaling else "",
        caveat=caveat_text(language, result),
    )


def _scaling(result: ConfigurationResult) -> str:
    gain = speed_up(result)
    return f"{gain} · {percent(result.efficiency)}" if gain else ""


def spread_text(result: ConfigurationResult) -> str:
    """Return the number of trials and their spread; empty where the source states neither."""
    if result.n is None:
        return ""
    varied = result.spread is not None and result.n > 1
    return f"n={result.n}" + (f" · {spread(result.spread)}".replace(" %", f"{md.NO_BREAK}%") if varied else "")


def caveat_text(language: Language, result: ConfigurationResult) -> str:
    """Return the caveats of a result in one line, as for a tooltip; empty if it has none."""
    return md.unmarked(language.gettext("; ").join(language.render(finding.message) for finding in result.caveats))


def missing_reason(campaign: str) -> str:
    return N_("not published") if is_published(campaign) else N_("not planned")


def scale_text(result: ConfigurationResult) -> str:
    return md.unbroken(f"{result.nodes} × {result.gpus}")


def precision_cell(language: Language, result: ConfigurationResult) -> str:
    """Return the precision as it stands below the title of its column."""
    return language.gettext("not stated") if result.precision == UNSTATED else precision_text(language, result)


def precision_text(language: Language, result: ConfigurationResult) -> str:
    """Return the precision as it is written, of 8 and fewer bits with its recipe; in words where a log states none."""
    if result.precision == UNSTATED:
        return language.gettext("precision not stated")
    recipe = axes_text(language, recipe_of(result), ())
    return result.precision.upper() + (f" ({recipe})" if recipe else "")


def recipe_of(result: ConfigurationResult) -> tuple[tuple[str, AxisValue], ...]:
    """Return what distinguishes results of one name of 8 and fewer bits, where it is known."""
    if not NARROW.search(result.precision):
        return ()
    known = {name: kind for name, kind in result.numerics.items() if name in OF_RECIPE} | dict(result.axes)
    return tuple((name, known[name]) for name in OF_RECIPE if name in known)


def shared_axes(results: Iterable[ConfigurationResult]) -> StatedAxes:
    """Return the axes that have the same value in all results of a case."""
    cases = grouped(results, lambda row: row.case)
    return {
        case: tuple(axis for axis in rows[0].axes if all(axis in row.axes for row in rows))
        for case, rows in cases.items()
    }


def axes_text(language: Language, axes: Iterable[tuple[str, AxisValue]], left_out: Collection[str] = OF_RECIPE) -> str:
    """Return axes in words, as ``sequence length 8,192, cuDNN attention``."""
    return language.separator.join(
        filter(None, (_axis_text(language, *axis) for axis in axes if axis[0] not in left_out))
    )


def _axis_text(language: Language, name: str, value: AxisValue) -> str:
    if f"{name}={value}" in UNSAID:
        return ""
    words = AXES.get(f"{name}={value}") or AXES.get(name) or f"{name.replace('_', ' ')} {{value}}"
    return language.gettext(words, value=f"{value:,}" if isinstance(value, int) else str(value))


def varying_axes(language: Language, result: ConfigurationResult, stated: StatedAxes) -> str:
    """Return the further axes in words, without those that the page states once."""
    return axes_text(language, (axis for axis in result.axes if axis not in stated.get(result.case, ())))


def point_text(language: Language, result: ConfigurationResult, stated: StatedAxes = NONE_STATED) -> str:
    """Return precision, batch size, nodes and GPUs of a configuration, as ``AMP, batch 256, 2 × 8 GPUs``."""
    variant = f" ({result.variant})" if result.variant > 1 else ""
    return language.separator.join(point_parts(language, result, stated)) + variant


def point_parts(language: Language, result: ConfigurationResult, stated: StatedAxes = NONE_STATED) -> list[str]:
    """Return precision, settings and scale of a configuration."""
    several = language.gettext("{count} GPUs", count=scale_text(result)) if result.nodes > 1 else ""
    scale = several or gpus_text(language, result)
    return [precision_text(language, result), *settings_of(language, result, stated), scale]


def tuning_words(language: Language, result: ConfigurationResult) -> tuple[str, ...]:
    """Return whether a result is of a stock or a tuned program; nothing where that is not stated."""
    return (language.gettext(TUNING[result.tuning]),) if result.tuning in TUNING else ()


def conditions_text(language: Language, result: ConfigurationResult, stated: StatedAxes = NONE_STATED) -> str:
    """Return what compared results share beside hardware and scale: the precision and the values of further axes."""
    return language.separator.join(
        filter(None, (precision_text(language, result), varying_axes(language, result, stated)))
    )


def settings_of(language: Language, result: ConfigurationResult, stated: StatedAxes = NONE_STATED) -> list[str]:
    """Return the batch size and the values of further axes, as ``batch 2`` and ``sequence length 8,192``."""
    return [*filter(None, [batch_words(language, result), varying_axes(language, result, stated)])]


def batch_words(language: Language, result: ConfigurationResult) -> str:
    """Return the batch size, as ``batch 2``; empty where it is not known."""
    return "" if not result.batch_size else language.gettext("batch {size}", size=f"{result.batch_size:,}")


def settings_key(result: ConfigurationResult) -> tuple[object, ...]:
    """Return the key of results with the same batch size and axes."""
    return result.batch_size, result.axes


def gpus_text(language: Language, result: ConfigurationResult) -> str:
    """Return the number of GPUs on all nodes with the noun in the page's language."""
    count = result.gpus_total
    return language.gettext("1 GPU") if count == 1 else language.gettext("{count} GPUs", count=str(count))


def batch_text(result: ConfigurationResult) -> str:
    return "" if not result.batch_size else str(result.batch_size)


def option_text(language: Language, option: object) -> str:
    """Return an option's value; yes or no for a truth value, which is stored as text, too."""
    text = OPTIONS.get(str(option), str(option))
    return language.gettext(text) if text else text

"""Steps of a configuration under a profiler."""

from collections.abc import Sequence

from dlperf.derived.profiles import Profile
from dlperf.messages import N_, Language
from dlperf.messages.numbers import four_digits
from dlperf.report import figures
from dlperf.report.files.downloads import Download
from dlperf.report.pages.page import Page
from dlperf.report.site import locations as at
from dlperf.report.views import Bar, ColumnView, FigureView, Link, filled
from dlperf.table.model import ConfigurationResult

OfferedProfile = tuple[Profile, Download | None]
"""A profile, and its trace on the site."""
CLASSES = (
    *(N_("communication"), N_("optimizer"), N_("attention"), N_("copies"), N_("normalization and elementwise")),
    *(N_("matrix products and convolutions"), N_("other")),
)
"""Classes of kernels, as ``workloads/profiling.py`` writes them."""


def profile_view(page: Page, anchor: str, offered: OfferedProfile | None) -> dict[str, object] | None:
    """Return time per step, the classes of kernels as bars and the kernels with most time."""
    if offered is None:
        return None
    profile, trace = offered
    most = max((each.share for each in profile.classes), default=1.0) or 1.0
    classes = [
        Bar(
            _class(page.language, each.name),
            _ms(each.total_ms / max(profile.steps, 1)),
            FigureView(figures.percent(each.share), f"#{anchor}"),
            f"{100 * each.share / most:.1f}%",
            0,
        )
        for each in profile.classes
    ]
    kernels = [
        (
            Link(each.name, code=True),
            _class(page.language, each.kind),
            str(each.calls),
            four_digits(each.total_ms),
            figures.percent(each.share),
        )
        for each in profile.kernels
    ]
    heads = page._("Operation"), page._("Class"), page._("Calls"), page._("Total, ms"), page._("Share")
    columns = [ColumnView(head, words=number < 2) for number, head in enumerate(heads)]
    facts, table = _facts(page, profile, trace), filled(columns, kernels)
    return {"steps": profile.steps, "facts": facts, "classes": classes, "kernels": table}


def profile_link(page: Page, row: ConfigurationResult) -> Link | str:
    """Return a link to the configuration's profile in the newest other campaign; empty if the result has its own."""
    found = _profiled(page, row)
    return page.link(found.campaign, at.configuration_page(found)) if found and found is not row else ""


def profile_links(page: Page, results: Sequence[ConfigurationResult]) -> list[Link]:
    """Return a link for each result that has a profile, of its own or of another campaign."""
    found = [(row, profiled) for row in results if (profiled := _profiled(page, row))]
    return [
        page.link(f"{page.subject(row, results).text} ({profiled.campaign})", at.configuration_page(profiled))
        for row, profiled in found
    ]


def _profiled(page: Page, row: ConfigurationResult) -> ConfigurationResult | None:
    """Return the result that has the profile of a configuration: the row itself, or the newest of its equals.

    One whose program had a fault that the row's program did not have is none of these.
    """
    data = page.data
    if (row.campaign, row.id) in data.profiled:
        return row
    equals = data.of_profile.get((data.kind(row.campaign), row.id, row.unit), ())
    alike = (other for other in equals if other.program_faults <= row.program_faults)
    return max(alike, key=lambda other: data.created(other.campaign), default=None)


def _facts(page: Page, profile: Profile, trace: Download | None) -> list[tuple[str, str | Link]]:
    return [
        (page._("Time per step"), _ms(profile.step_ms)),
        (page._("Under the profiler"), _ms(profile.profiled_step_ms)),
        (page._("GPU busy"), "" if profile.busy_ms is None else _ms(profile.busy_ms)),
        (page._("GPU idle"), figures.percent(profile.idle_share)),
        (page._("CUDA graph launches"), "" if profile.graph_launches is None else f"{profile.graph_launches:g}"),
        (page._("Trace"), page.file_link(trace.path, trace.name) if trace else ""),
    ]


def _class(language: Language, name: str) -> str:
    return language.gettext(name) if name in CLASSES else name


def _ms(milliseconds: float) -> str:
    return f"{four_digits(milliseconds)} ms"

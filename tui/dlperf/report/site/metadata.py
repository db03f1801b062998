"""What search engines read of a page besides its text: when its results changed, and which files hold its data."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from dlperf.report.data import SiteData
from dlperf.report.site import locations as at
from dlperf.table.model import ConfigurationResult

Results = Sequence[ConfigurationResult]
KINDS = ("csv", "json")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})")
"""As RFC 3339 has it."""


def changed(data: SiteData, row: ConfigurationResult) -> str:
    """Return when the last of its trials or its campaign began, or its report was published."""
    began = data.created(row.campaign)
    return max((_moment(date) for date in (began, *(trial.started for trial in row.trials)) if date), default="")


def _moment(date: str) -> str:
    """Complete ``2021``, ``2021-05`` or ``2021-05-12`` to its first moment; empty where it is no date."""
    whole = date if "T" in date else f"{date}{'-01-01'[len(date) - 4 :] if len(date) < 10 else ''}T00:00:00Z"
    with suppress(ValueError):
        return whole if _TIME.fullmatch(whole) and datetime.fromisoformat(whole) else ""
    return ""


def described_pages(data: SiteData) -> Mapping[str, Results]:
    """Return the results of each page whose data are offered as files."""
    return {at.HOME: data.results, **tabled_pages(data)}


def tabled_pages(data: SiteData) -> Mapping[str, Results]:
    """Return the results of each page of a report, model, machine or framework."""
    return {
        **{at.report_page(*key): results for key, results in data.reports.items()},
        **{at.model_page(case): results for case, results in data.models.items()},
        **{at.hardware_page(name): results for name, results in data.of_hardware.items()},
        **{at.framework_page(name): results for name, results in data.of_framework.items()},
    }


def with_metadata(text: str, data: SiteData, page: str, results: Results | None) -> str:
    """Add date and data files to the front matter of a page of results; only where the site's address is known."""
    begin = "---\n"
    if results is None or not data.address or not text.startswith(begin):
        return text
    lines = [*_date_line(changed(data, row) for row in results), *_file_lines(page)]
    return begin + "".join(f"{line}\n" for line in lines) + text[len(begin) :]


def _date_line(dates: Iterable[str]) -> list[str]:
    newest = max(dates, default="")
    return [f"updated: '{newest[:10]}'"] if newest else []


def _file_lines(page: str) -> list[str]:
    if page.startswith("results/configurations/"):
        return []
    files = (at.RESULTS_CSV, at.RESULTS_JSON) if page == at.HOME else (at.page_data(page, kind) for kind in KINDS)
    return ["dataset:", *(f"  - {file}" for file in files)]

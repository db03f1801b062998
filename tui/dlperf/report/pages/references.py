"""How a result is cited, and how it is disputed."""

from collections.abc import Mapping
from hashlib import sha256
from urllib.parse import quote, urlencode, urlsplit

from dlperf.report import figures
from dlperf.report.data import is_published
from dlperf.report.pages.page import Page
from dlperf.report.pages.results.trials import SHOWN_OF_HASH
from dlperf.report.site import locations as at
from dlperf.table.model import ConfigurationResult


def subject_of(page: Page, row: ConfigurationResult) -> str:
    """Return framework, case, hardware, configuration and value in one line."""
    data = page.data
    names = (
        data.framework_title(row.framework, row.campaign),
        data.case_title(row.case),
        data.hardware_title(row.hardware, row.campaign),
    )
    value = f"{figures.value_text(row)} {row.unit}" if row.value is not None else row.status.kind(page.language)
    return page.language.separator.join((*names, figures.point_text(page.language, row))) + page.language.colon + value


def citations(page: Page, row: ConfigurationResult) -> list[dict[str, str]]:
    """Return how a result is cited; of GPUs that were measured together first how their median is."""
    rows = page.data.together(row)
    alone = citation(page, row)
    if len(rows) == 1:
        return [alone]
    one = page.data.joint(row)
    note = ", ".join((page.gpus_text(one), *sorted(other.campaign for other in rows)))
    median = {
        **alone,
        "key": f"{citation_key(one, alone['year'])}-median",
        "title": subject_of(page, one),
        "note": note,
    }
    alone["note"] += f", {page.gpus_text(row)}"
    return [median, alone]


def citation(page: Page, row: ConfigurationResult) -> dict[str, str]:
    """Return the fields of a BibTeX entry, some of them empty; ``key`` is its key.

    Without an address of the site, a script adds that of the page as it was read.
    """
    day = (row.date or page.data.created(row.campaign))[:10]
    imported = "computed from imported logs, not measured here" if page.data.is_imported(row.campaign) else ""
    return {
        "key": citation_key(row, day[:4]),
        "author": page.data.source_title(page.language, row.campaign)
        if is_published(row.campaign)
        else page.data.title,
        "title": subject_of(page, row),
        "year": day[:4],
        "date": day,
        "note": ", ".join(filter(None, (row.campaign, imported, figures.spread_text(row), row.source))),
        "url": address(page, row),
    }


def citation_key(row: ConfigurationResult, year: str) -> str:
    """Return a BibTeX key that is short and the same in every language and build."""
    digest = sha256(at.configuration_page(row).encode()).hexdigest()[:8]
    return "-".join(filter(None, ("dlperf", year, digest)))


def address(page: Page, row: ConfigurationResult) -> str:
    """Return the full address of a result, in this edition if it is one; empty where that of the site is unknown."""
    data = page.data
    root = data.address and data.address + at.edition(data.edition) + at.language_root(page.language)
    return root and root + at.html_address(at.HOME, at.configuration_page(row))


def dispute(page: Page, row: ConfigurationResult) -> tuple[str, str]:
    """Return title and text of an issue that disputes a result, in English as all of the project's issues."""
    logs = [trial.log_sha256[:SHOWN_OF_HASH] for trial in row.trials if trial.log_sha256]
    facts = {
        "Result": subject_of(page, row),
        "Campaign": row.campaign,
        "Configuration": row.id,
        "Value": figures.full_text(row),
        "Median of GPUs measured together": _median(page, row),
        "Logs (first digits of SHA-256)": ", ".join(logs),
        "Source": row.source,
        "Page": address(page, row),
    }
    stated = "".join(f"{name}: {value}\n" for name, value in facts.items() if value)
    title = f"Disputed result: {row.campaign}/{row.id}"
    return title, f"{stated}\nWhat is wrong, and how I know:\n"


def _median(page: Page, row: ConfigurationResult) -> str:
    return subject_of(page, page.data.joint(row)) if len(page.data.together(row)) > 1 else ""


def dispute_address(repository: str, contact: str, title: str, text: str) -> str:
    """Return the address of a new issue, else of a mail, with title and text filled in; empty without either."""
    if repository:
        return _issue_address(repository, title, text)
    if "@" in contact and not urlsplit(contact).scheme:
        return f"mailto:{contact}?{urlencode({'subject': title, 'body': text}, quote_via=quote)}"
    return ""


def _issue_address(repository: str, title: str, text: str) -> str:
    gitlab = "gitlab" in (urlsplit(repository).hostname or "")
    fields: Mapping[str, str] = (
        {"issue[title]": title, "issue[description]": text} if gitlab else {"title": title, "body": text}
    )
    return f"{repository}{'/-' if gitlab else ''}/issues/new?{urlencode(fields)}"

"""Paths of pages and downloads, relative to the root of a language's pages."""

import hashlib
import posixpath
import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

from dlperf.catalog.axes import axis_slug
from dlperf.messages import Language
from dlperf.messages.language import Code
from dlperf.table.model import ConfigurationResult

SAFE = re.compile(r"(?!index$)[a-z0-9][a-z0-9.-]{0,62}")

HOME = "index.md"
REPORTS = "results/reports/index.md"
HARDWARE = "results/hardware/index.md"
FRAMEWORKS = "results/frameworks/index.md"
CONFIGURATIONS = "results/configurations/index.md"
METHODOLOGY = "results/methodology.md"
AUDIT = "results/audit.md"
EXPLORER = "results/explorer.md"
EXPLORER_DATA = "results/figures.js"
CONDITIONS_DATA = "results/conditions.js"
YOUR_NUMBER = "results/your-number.md"
YOUR_NUMBER_DATA = "results/your-number-data.js"
YOUR_NUMBER_STYLE = "assets/stylesheets/your-number.css"
EXPLORER_STYLE = "assets/stylesheets/explorer.css"
PALETTE = "results/palette.css"
HISTORY = "results/history.md"
DATA = (".csv", ".gz", ".json", ".lock", ".toml", ".txt", ".yaml", ".yml")
"""Ends of names of files that no browser runs."""
SCRIPTS = "assets/javascripts"
"""Folder of the theme's scripts, in each language."""
RESULTS_PARQUET = "data/results.parquet"
FEED = "data/feed.xml"
RESULTS_JSON = "data/results.json"
RESULTS_CSV = "data/results.csv"


@dataclass(frozen=True, order=True)
class ReportGroup:
    """The configurations of one page: one framework, case and hardware in one campaign or report."""

    campaign: str
    case: str
    hardware: str
    framework: str


@lru_cache(maxsize=1 << 16)
def slug(name: str) -> str:
    """Return a unique part of an address: an id unchanged, another name with a digest."""
    if SAFE.fullmatch(name):
        return name
    readable = re.sub(r"[^a-z0-9.-]+", "-", name.lower()).strip("-.")[:40]
    return f"{readable or 'x'}-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:8]}"


def campaign_folder(campaign: str) -> str:
    """Return the folder of a campaign; ``published/<report>`` is two levels deep."""
    return "/".join(slug(part) for part in campaign.split("/"))


def group_of(result: ConfigurationResult) -> ReportGroup:
    return ReportGroup(result.campaign, result.case, result.hardware, result.framework)


def group_page(group: ReportGroup) -> str:
    name = "_".join(slug(part) for part in (group.hardware, group.framework, group.case))
    return f"results/configurations/{campaign_folder(group.campaign)}/{name}.md"


def curves(group: ReportGroup) -> str:
    """Return the path of the curve data of a group's page."""
    return f"data/curves/{_group_name(group)}.js"


def log_lines(group: ReportGroup) -> str:
    """Return the path of the log lines behind the values of a group's page."""
    return f"data/lines/{_group_name(group)}.js"


def pictures(result: ConfigurationResult) -> str:
    return f"data/pictures/{_group_name(group_of(result))}/{configuration_anchor(result)}.svg"


def page_data(page: str, kind: str) -> str:
    """Return the path of a page's data file: ``csv``, ``json`` or ``parquet``."""
    return f"data/tables/{page.removeprefix('results/').removesuffix('.md')}.{kind}"


def preview(page: str) -> str:
    """Return the path of a page's picture for link previews."""
    return f"data/previews/{page.removeprefix('results/reports/').removesuffix('.md')}.png"


def edition(name: str) -> str:
    """Return the folder of an edition on the site; empty for none."""
    return f"editions/{name}/" if name else ""


def _group_name(group: ReportGroup) -> str:
    return group_page(group).removeprefix("results/configurations/").removesuffix(".md")


def configuration_anchor(result: ConfigurationResult) -> str:
    """Return the anchor of a configuration on its group's page, the same in every language."""
    batch = "n" if not result.batch_size else str(result.batch_size)
    variant = f"-{result.variant}" if result.variant > 1 else ""
    axes = "".join(f"-{slug(axis_slug(axis))}" for axis in result.axes)
    return f"{slug(result.precision)}-bs{batch}-{result.nodes}n{result.gpus}g{axes}{variant}"


def configuration_page(result: ConfigurationResult) -> str:
    return f"{group_page(group_of(result))}#{configuration_anchor(result)}"


def history_anchor(result: ConfigurationResult) -> str:
    """Return the anchor of a configuration on the history page, the same in every language."""
    names = (slug(part) for part in (result.hardware, result.framework, result.case))
    return "-".join((*names, configuration_anchor(result)))


def report_page(campaign: str, case: str) -> str:
    return f"results/reports/{campaign_folder(campaign)}/{slug(case)}.md"


def model_page(case: str) -> str:
    return f"results/reports/all-sources/{slug(case)}.md"


def fairness(campaign: str, case: str) -> str:
    """Return the address of a report's section on differences between its frameworks."""
    return f"{report_page(campaign, case)}#fairness"


def hardware_page(hardware: str) -> str:
    return f"results/hardware/{slug(hardware)}.md"


def framework_page(framework: str) -> str:
    return f"results/frameworks/{slug(framework)}.md"


def protocol_anchor(protocol: str) -> str:
    return f"protocol-{slug(protocol)}"


def protocol_page(protocol: str) -> str:
    return f"{METHODOLOGY}#{protocol_anchor(protocol)}"


def log_download(sha256: str) -> str:
    """Return the path of a log, named by its content."""
    return f"data/logs/{sha256}.log.txt"


def file_download(sha256: str, name: str) -> str:
    """Return the path of another file of a trial; what is no data is offered as text, so that no browser runs it."""
    return f"data/files/{sha256}.{posixpath.basename(name)}" + ("" if name.endswith(DATA) else ".txt")


def relative(page: str, target: str) -> str:
    """Return ``target`` as a link on ``page``, both below the root of the same language."""
    path, mark, anchor = target.partition("#")
    return _relative_path(posixpath.dirname(page) or ".", path) + mark + anchor


def html_address(page: str, target: str) -> str:
    """Return ``target`` as a link of the built site, for files that MkDocs does not read."""
    path, mark, anchor = relative(page, target).partition("#")
    return quote(path.removesuffix(".md") + ".html") + mark + quote(anchor)


def up_from(language: Language, page: str) -> str:
    """Return the relative path from a page to the site's root."""
    return "../" * f"{language_root(language)}{page}".count("/")


@lru_cache(maxsize=1 << 16)
def _relative_path(folder: str, path: str) -> str:
    return posixpath.relpath(path, folder)


def language_root(language: Language) -> str:
    return root_of(language.code)


def root_of(code: Code) -> str:
    """Return the folder of a language's pages on the site."""
    return "" if code == "en" else f"{code}/"

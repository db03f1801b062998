"""``mkdocs.yml`` of a workspace: what its owner sets of the site, added to the settings that come with dlperf."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import ConfigDict, StringConstraints, ValidationError, field_validator

from dlperf.catalog.entry import Model
from dlperf.catalog.files.entries import validation_problems
from dlperf.catalog.files.problem import CatalogError
from dlperf.catalog.files.yamlfile import Location, read_document
from dlperf.messages.language import CODES, Code
from dlperf.opening import is_regular
from dlperf.report.site.locations import root_of

CONFIGURATION = Path(__file__).with_name("configuration")
NAMES: Mapping[Code, str] = {"en": "English", "zh": "中文"}
"""Of each language, in that language."""
SET_BY_DLPERF = ("INHERIT", "docs_dir", "site_dir", "use_directory_urls", "exclude_docs", "not_in_nav", "validation")
COLUMNS_PAGE = "guide/data.md"
"""The page that explains the columns of data files: every site has it."""
CSS = {
    "accent": "--md-accent-fg-color",
    "link": "--md-typeset-a-color",
    "header": "--md-primary-fg-color",
    "header_text": "--md-primary-bg-color",
    "line": "--dlperf-mark",
}
"""Name of a colour → property of the style sheets."""
SCHEMES = {"light": "default", "dark": "slate"}
OWN_COLOURS = "assets/stylesheets/own-colours.css"
Settings = dict[str, Any]
"""Of MkDocs, as in YAML."""
Colour = Annotated[str, StringConstraints(pattern=r"^#[0-9a-fA-F]{6}$")]


class Colours(Model):
    """The colours of one scheme, such as ``#00776c``; empty keeps that of dlperf."""

    accent: Colour | None = None
    """Of buttons and of what a pointer is over."""
    link: Colour | None = None
    header: Colour | None = None
    """Background of the header."""
    header_text: Colour | None = None
    line: Colour | None = None
    """Of the line above the header."""


class Schemes(Model):
    """The colours of both schemes."""

    light: Colours = Colours()
    dark: Colours = Colours()


class Licence(Model):
    """Of the owner's data and figures."""

    name: str
    url: Annotated[str, StringConstraints(pattern=r"^(https?://\S+)?$")] = ""
    note: str = ""
    """What it does not cover."""


class Extra(Model):
    """What dlperf reads below ``extra``, where MkDocs allows settings of others."""

    model_config = ConfigDict(extra="allow")

    languages: tuple[Code, ...] = CODES
    """Of the site."""
    guide: bool = True
    """Whether the site has dlperf's guide."""
    colours: Schemes = Schemes()
    licence: Licence | None = None
    contact: Annotated[str, StringConstraints(pattern=r"^(https?://\S+|[^\s@<>\"?&]+@[^\s@<>\"?&]+)?$")] = ""
    """Web or e-mail address of who answers for the results, for disputes where there is no repository."""

    @field_validator("languages")
    @classmethod
    def _at_least_one(cls, codes: tuple[Code, ...]) -> tuple[Code, ...]:
        if not codes:
            raise ValueError(f"name at least one of {', '.join(CODES)}")
        return tuple(code for code in CODES if code in codes)


class SiteSettings(Model):
    """What dlperf reads of ``mkdocs.yml``; MkDocs gets its other settings as they are."""

    model_config = ConfigDict(extra="allow")

    site_name: str = "dlperf"
    site_url: Annotated[str, StringConstraints(pattern=r"^(https?://\S+)?$")] = ""
    """Address of the published site."""
    repo_url: Annotated[str, StringConstraints(pattern=r"^(https?://\S+)?$")] = ""
    """Repository with the issues in which a result is disputed."""
    nav: tuple[Any, ...] = ()
    """Pages of the owner, between those of dlperf and About."""
    extra: Extra = Extra()


def read_settings(path: Path) -> tuple[SiteSettings, Settings]:
    """Read ``mkdocs.yml``, or a file for one language; return what dlperf reads of it and all settings.

    Raises:
        CatalogError: it has mistakes.
    """
    if not os.path.lexists(path):
        return SiteSettings(), {}
    document = read_document(path)
    if document.problems:
        raise CatalogError(document.problems)
    data = document.data or {}
    if not isinstance(data, dict):
        raise CatalogError([document.problem((), "holds no settings: write `name: value`")])
    if refused := [document.problem((name,), "is set by dlperf: remove it") for name in SET_BY_DLPERF if name in data]:
        raise CatalogError(refused)
    missing = _missing_pages(data, path.parent)
    if refused := [document.problem(place, f"there is no page {page}") for place, page in missing]:
        raise CatalogError(refused)
    try:
        return SiteSettings.model_validate(data), data
    except ValidationError as error:
        raise CatalogError(validation_problems(error, SiteSettings, document, ())) from error


def _missing_pages(data: Settings, root: Path) -> Iterator[tuple[Location, Path]]:
    """Yield place and path of each page of the owner's menu that is not there."""
    for place, target in _targets(data.get("nav"), ("nav",)):
        page = root / "site/docs" / target
        if "://" not in target and not is_regular(page):
            yield place, page


def _targets(value: Any, place: Location) -> Iterator[tuple[Location, str]]:
    """Yield place and target of each entry of a menu."""
    if isinstance(value, str):
        yield place, value
    parts = enumerate(value) if isinstance(value, tuple) else value.items() if isinstance(value, dict) else ()
    for name, part in parts:
        yield from _targets(part, (*place, name))


def site_address(settings: SiteSettings) -> str:
    """Return the address of the site with a slash at its end; empty if it is not known."""
    return settings.site_url and f"{settings.site_url.rstrip('/')}/"


def configurations(root: Path) -> dict[Code, Settings]:
    """Return the complete settings of MkDocs for each language of a workspace's site.

    Raises:
        CatalogError: ``mkdocs.yml`` or ``mkdocs.zh.yml`` has mistakes.
    """
    settings, own = read_settings(root / "mkdocs.yml")
    return {code: _configuration(code, settings, own, root / f"mkdocs.{code}.yml") for code in settings.extra.languages}


def _configuration(code: Code, settings: SiteSettings, own: Settings, path: Path) -> Settings:
    _, special = read_settings(path)
    made: Settings = _merged(packaged_settings("base"), packaged_settings(code))
    nav = _with_own_pages(made["nav"], special.get("nav", settings.nav), settings.extra.guide)
    made = _merged(made, {name: value for name, value in own.items() if name != "nav"})
    made = _merged(made, {name: value for name, value in special.items() if name != "nav"})
    made |= {"nav": nav, **_places(code, settings)}
    return made | {"extra": made["extra"] | _links(code, settings)}


def _places(code: Code, settings: SiteSettings) -> Settings:
    """Return the folder and the address of a language's pages."""
    address = site_address(settings)
    others = "".join(f"/{root_of(other)}\n" for other in CODES if root_of(other) and not root_of(code))
    return {
        "hooks": [str(Path(__file__).with_name("unsearched.py"))],
        "docs_dir": f"docs/{root_of(code)}".rstrip("/"),
        "site_dir": f"html/{root_of(code)}".rstrip("/"),
        **({"exclude_docs": others} if others else {}),
        **({"site_url": address + root_of(code)} if address else {}),
    }


def _links(code: Code, settings: SiteSettings) -> Settings:
    """Return where a page finds the feed and the same page in the other languages, for the theme."""
    up = "../" * root_of(code).count("/")
    alternate = []
    for other in settings.extra.languages:
        prefix = "" if other == code else up + root_of(other)
        names = {"name": NAMES[other], "lang": other, "folder": root_of(other)}
        alternate.append({**names, "link": f"{prefix}index.html", "prefix": prefix})
    return {"address": site_address(settings), "root": up, "feed": f"{up}data/feed.xml", "alternate": alternate}


def _with_own_pages(nav: list[Any], own: tuple[Any, ...], guide: bool) -> list[Any]:
    """Put the pages of the owner before the last one, and leave only the page on data of a guide that is not wanted."""
    if not guide:
        data = [page for page in _leaves(nav) if COLUMNS_PAGE in page.values()]
        nav = [part for part in nav if not isinstance(next(iter(part.values())), list)]
        nav = [*nav[:-1], *data, nav[-1]]
    return [*nav[:-1], *own, nav[-1]]


def _leaves(nav: list[Any]) -> Iterator[dict[str, str]]:
    for part in nav:
        for value in part.values():
            yield from _leaves(value) if isinstance(value, list) else [part]


def _merged(below: Any, above: Any) -> Any:
    """Add settings: mappings name by name, lists one after the other; anything else is replaced."""
    if isinstance(below, dict) and isinstance(above, Mapping):
        return below | {name: _merged(below[name], above[name]) if name in below else above[name] for name in above}
    if isinstance(below, list) and isinstance(above, list | tuple):
        return [*below, *(item for item in above if item not in below)]
    return above


def colour_rules(schemes: Schemes) -> str:
    """Return the style sheet of the owner's colours; empty if there are none."""
    rules = []
    for name, scheme in SCHEMES.items():
        chosen = getattr(schemes, name).model_dump(exclude_none=True)
        if chosen:
            properties = "".join(f"  {CSS[key]}: {value};\n" for key, value in chosen.items())
            rules.append(f'[data-md-color-scheme="{scheme}"] {{\n{properties}}}\n')
    return "".join(rules)


class _Name(str):
    """A Python name in the settings that come with dlperf."""


class _Loader(yaml.SafeLoader):
    pass


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


TAG = "tag:yaml.org,2002:python/name:"
_Loader.add_multi_constructor(TAG, lambda loader, name, node: _Name(name))
_Dumper.add_representer(_Name, lambda dumper, name: dumper.represent_scalar(TAG + name, ""))


def packaged_settings(name: str) -> Settings:
    """Return the settings that come with dlperf for all languages (``base``) or one."""
    loaded: Settings = yaml.load((CONFIGURATION / f"{name}.yml").read_text("utf-8"), _Loader)
    return loaded


def as_yaml(settings: Settings) -> str:
    """Return settings as a file that MkDocs reads."""
    return yaml.dump(_listed(settings), Dumper=_Dumper, allow_unicode=True, sort_keys=False)


def _listed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _listed(item) for name, item in value.items()}
    return [_listed(item) for item in value] if isinstance(value, list | tuple) else value

"""What MkDocs builds from beside the generated pages: theme, guide, pages of the owner, settings of each language."""

from collections.abc import Mapping
from pathlib import Path

from dlperf.messages.language import CODES, Code
from dlperf.report.site.locations import root_of
from dlperf.report.site.settings import COLUMNS_PAGE, OWN_COLOURS, SiteSettings, as_yaml, colour_rules, configurations
from dlperf.report.site.shipped import GENERATED, files_below, own_files, shipped_root
from dlperf.report.site.writing import Sources
from dlperf.runs.paths import WorkspacePaths

GUIDE = ("guide/", "assets/tui-")
"""How the names of the guide's files begin."""
Files = dict[str, Path]
"""Source of each file, by its name where MkDocs builds."""


def config_name(code: Code) -> str:
    """Return the name of a language's settings in the folder that MkDocs builds from."""
    return "mkdocs.yml" if code == "en" else f"mkdocs.{code}.yml"


def stage(workspace: WorkspacePaths, settings: SiteSettings, sources: Sources) -> None:
    """Put everything that is not made from results into the folder that MkDocs builds from.

    Files in the workspace's ``site/theme`` and ``site/docs`` replace those that come with dlperf.

    Raises:
        CatalogError: the settings of the workspace have mistakes.
    """
    for name, path in (_theme(workspace) | _documents(workspace, settings)).items():
        sources.place(name, path)
    colours = colour_rules(settings.extra.colours)
    for code, made in configurations(workspace.root).items():
        if colours:
            sources.write(root_of(code) + OWN_COLOURS, colours)
            made = made | {"extra_css": [*made["extra_css"], OWN_COLOURS]}
        sources.place(config_name(code), as_yaml(made).encode())
    sources.place(".gitignore", b"*\n")


def _theme(workspace: WorkspacePaths) -> Files:
    shipped = files_below(shipped_root() / "theme")
    return _below("theme/", shipped | own_files(workspace.site / "theme", shipped))


def _documents(workspace: WorkspacePaths, settings: SiteSettings) -> Files:
    """Return the guide and the owner's pages; an own page that lacks a translation stands in each language."""
    shipped = files_below(shipped_root() / "docs")
    own = own_files(workspace.site_docs, shipped)
    found: Files = {}
    for code in settings.extra.languages:
        ours = {
            name: path
            for name, path in _of_language(shipped, code).items()
            if settings.extra.guide or name == COLUMNS_PAGE or not name.startswith(GUIDE)
        }
        files = ours | _of_language(own, "en") | _of_language(own, code)
        found |= _below(
            f"docs/{root_of(code)}",
            {name: path for name, path in files.items() if not name.startswith(GENERATED)},
        )
    return found


def _of_language(files: Mapping[str, Path], code: Code) -> Files:
    """Return the files of a language by their names in its folder."""
    if folder := root_of(code):
        return {name.removeprefix(folder): path for name, path in files.items() if name.startswith(folder)}
    others = tuple(filter(None, map(root_of, CODES)))
    return {name: path for name, path in files.items() if not name.startswith(others)}


def _below(folder: str, files: Files) -> Files:
    return {folder + name: path for name, path in files.items()}

"""Several charts in one file, one below the other, each shown by its name: ``file.svg#name``."""

from __future__ import annotations

from collections.abc import Mapping

from dlperf.report.charts import svg
from dlperf.report.charts.plot import Plot, drawing

GAP = 8


def sheet(plots: Mapping[str, Plot]) -> tuple[str, dict[str, tuple[float, float]]]:
    """Return the file, and width and height of each chart in it, without charts that have no line.

    The charts hold no text of a language, so that all pages share them.
    """
    top, parts = 0.0, []
    shapes: dict[str, tuple[float, float]] = {}
    for name, wanted in plots.items():
        content, height = drawing(wanted)
        if content:
            shapes[name] = (svg.WIDTH, height)
            shape = f"0 {svg.plain(top)} {svg.WIDTH} {svg.plain(height)}"
            parts.append(f'<view id="{name}" viewBox="{shape}"/><g transform="translate(0 {svg.plain(top)})">')
            parts.append(f"{content}</g>\n")
            top += height + GAP
    if not shapes:
        return "", {}
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {svg.WIDTH} {svg.plain(top - GAP)}">'
    return f"{opening}<style>{STYLE}</style>\n{''.join(parts)}</svg>\n", shapes


def _series(colours: tuple[str, ...]) -> str:
    return "".join(f".series-{number}{{--series:{colour}}}" for number, colour in enumerate(colours))


STYLE = (
    ":root{--ink:#000000de}"
    + _series(svg.LIGHT)
    + "text{fill:var(--ink);font:11.5px system-ui,sans-serif}.axis{font-weight:bold}"
    ".grid{fill:none;stroke:var(--ink);opacity:.12}.mark{fill:var(--series)}"
    ".line{fill:none;stroke:var(--series);stroke-width:2;stroke-dasharray:var(--dash)}"
    + "".join(f".dash-{number}{{--dash:{dash}}}" for number, dash in enumerate(svg.DASHES))
    + ".band{opacity:.12}.warm-up{fill:var(--ink)}"
    ".measured{fill:#00795a}.outlier{fill:none;stroke:#c44e00;stroke-width:2}"
    "@media (prefers-color-scheme:dark){:root{--ink:#e2e4e9d1}"
    + _series(svg.DARK)
    + ".measured{fill:#2dc79a}.outlier{stroke:#ff9248}}"
)
"""As in ``dlperf.css``, which a picture in a file does not see."""

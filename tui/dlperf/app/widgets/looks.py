"""Styles by meaning, computed once for each theme: component classes of CSS cost most of a screen's first picture."""

from collections.abc import Mapping
from functools import cache

from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from dlperf.app.model.table import FRAMEWORK
from dlperf.catalog.palette import colour_number, palette

MUTED = 0.6
ON_LIGHT = {"busy": "#7a4a00", "warn": "#7a4a00", "good": "#1d5c33", "bad": "#8a1538", "dim": "#454545"}
"""Where the colours of the theme have too little contrast."""


@cache
def looks(theme: str) -> Mapping[str, Style]:
    """Return the styles of a theme, to be added to that of the widget."""
    variables = BUILTIN_THEMES[theme].to_color_system().generate()
    dark = BUILTIN_THEMES[theme].dark

    def text(name: str) -> Style:
        return Style(color=variables[name])

    background = Color.parse(variables["background"])
    dim = Style(color=(background + background.get_contrast_text(MUTED)).rich_color)
    bold = Style(bold=True)
    tones = {
        "good": text("text-success"),
        "busy": text("text-accent"),
        "warn": text("text-warning"),
        "bad": text("text-error"),
        "dim": dim,
    }
    return {
        **tones,
        **({} if dark else {tone: Style(color=colour) for tone, colour in ON_LIGHT.items()}),
        "group": text("text-primary") + bold,
        "header": dim + bold,
        "empty": dim + Style(italic=True),
        "cursor": Style(bgcolor=variables["panel"]),
        "focused": Style(bgcolor=variables["primary-muted"]) + bold,
        "match": Style(color=variables["text-warning"] if dark else "#5c3800", bgcolor=variables["warning-muted"]),
        "marked": Style(bgcolor=variables["primary-muted"]),
        "thumb": text("primary"),
        "axis": dim,
        "measured": text("text-success"),
        "warmup": dim + Style(bgcolor=variables["surface-lighten-2"])
        if dark
        else Style(color=variables["foreground"], bgcolor=variables["surface-darken-2"]),
    }


def tone_style(tone: str, theme: str, dark: bool) -> Style:
    """Return the style of a tone, or of a framework, whose colours differ between dark and light themes."""
    if not tone:
        return Style.null()
    if tone.startswith(FRAMEWORK):
        colour = palette()[colour_number(tone.removeprefix(FRAMEWORK))]
        return Style(color=colour.dark if dark else colour.light)
    return looks(theme)[tone]

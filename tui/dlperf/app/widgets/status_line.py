"""Texts around the tables: drawn anew only where they have changed."""

from typing import ClassVar

from textual.containers import Vertical
from textual.content import Content
from textual.visual import VisualType
from textual.widget import Widget
from textual.widgets import Static


class StatusLine(Static):
    """A text of few lines; the screen is laid out anew only where its height has changed."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        if content == self.content:
            return
        before = self._rows
        super().update(content, layout=False)
        if layout and self._rows != before:
            self.refresh(layout=True)

    @property
    def _rows(self) -> int:
        return self.get_content_height(self.size, self.size, self.size.width)


def set_titles(widget: Widget, title: Content, subtitle: Content | None = None) -> None:
    """Set the texts in a widget's frame; where they change, Textual draws all of the widget anew."""
    if widget.border_title != title.markup:
        widget.border_title = title
    if subtitle is not None and widget.border_subtitle != subtitle.markup:
        widget.border_subtitle = subtitle


class Panel(Vertical):
    """Zoomed as a whole."""

    ALLOW_MAXIMIZE: ClassVar[bool | None] = True
    DEFAULT_CLASSES = "panel"

"""The bar on top (screens, what runs) and the bar at the bottom (keys)."""

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from dlperf.app.actions import EVERYWHERE, Action
from dlperf.app.widgets.status_line import StatusLine
from dlperf.messages import _

SCREENS = tuple(action for action in EVERYWHERE if action.id == "show_screen")


class LinkBar(StatusLine):
    def on_mount(self) -> None:
        self.draw()

    def on_resize(self) -> None:
        self.draw()

    def draw(self) -> None:
        raise NotImplementedError


class TopBar(LinkBar):
    """The screens with their keys, the current one highlighted, and what runs now."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self._place = place
        self._right = ""

    def show_running(self, text: str) -> None:
        if text != self._right:
            self._right = text
            self.draw()

    def draw(self) -> None:
        width = self.size.width
        bar = Text(no_wrap=True)
        bar.append(" dlperf ", Style(bold=True))
        for action in SCREENS:
            style = Style(meta={"@click": f"app.{action.call}"})
            if action.parameter == (self.app.current_mode if self._place == "trial" else self._place):
                style += Style(bold=True, underline=True)
            bar.append(f" {action.key} {_(action.text)} ", style)
        room = width - bar.cell_len - 1
        right = self._right if cell_len(self._right) <= room else ""
        bar.append(" " * max(0, room - cell_len(right)) + right)
        self.update(bar)


class KeyBar(LinkBar):
    """The keys of this screen that fit, and always those that work everywhere; each can be clicked.

    Where not all fit, disabled ones are left out first.
    """

    def __init__(self, actions: tuple[Action, ...]) -> None:
        super().__init__()
        self._actions = actions

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _screen: self.draw())

    def draw(self) -> None:
        shown = [action for action in self._actions if action.in_bar]
        always = [action for action in shown if action in EVERYWHERE]
        room = self.size.width - sum(cell_len(_label(action)) for action in always)
        own = [action for action in shown if action not in always and self._check(action) is not False]
        if sum(cell_len(_label(action)) for action in own) > room:
            own = [action for action in own if self._possible(action)]
        bar = Text(no_wrap=True)
        for action in own:
            room -= cell_len(_label(action))
            if room < 0:
                break
            self._append(bar, action, "screen")
        for action in always:
            self._append(bar, action, "app")
        self.update(bar)

    def _check(self, action: Action) -> bool | None:
        return self.screen.check_action(action.id, (action.parameter,) if action.parameter else ())

    def _possible(self, action: Action) -> bool:
        return bool(self._check(action))

    def _append(self, bar: Text, action: Action, where: str) -> None:
        possible = self._possible(action)
        click = Style(meta={"@click": f"{where}.{action.call}"})
        bar.append(f" {action.shown_key}", click + Style(bold=True, dim=not possible))
        bar.append(f" {_(action.text)} ", click + Style(dim=not possible))


def _label(action: Action) -> str:
    return f" {action.shown_key} {_(action.text)} "

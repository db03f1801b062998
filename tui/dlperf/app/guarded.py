"""Parts of the program that bear what may happen at any moment: a file that vanishes, a key that comes twice."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.errors import NoWidget
from textual.events import InputEvent, MouseEvent
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from dlperf.app.actions import bindings_of
from dlperf.errors import DlperfError

if TYPE_CHECKING:
    from dlperf.app.app import DlperfApp

UNREADABLE = (DlperfError, OSError)
"""What files raise that another process changes. Anything else is a mistake of this program."""
HANDLED_SECONDS = 1.0
"""Longest wait for a field and its screen to handle a key."""


class Guarded(MessagePump):
    """Reports an unreadable file on the screen that is shown, where Textual would end the program.

    Private to Textual, whose public hooks come when the part has stopped to handle messages.
    """

    BINDINGS: ClassVar[list[BindingType]]

    def __init_subclass__(cls, keys: str = "", **options: Any) -> None:
        """Bind the keys of a part, by its name in ``ACTIONS``."""
        if keys:
            cls.BINDINGS = bindings_of(keys)
        super().__init_subclass__(**options)

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except UNREADABLE as error:
            cast("DlperfApp", self.app).report(error)


class ClosesOnce(Guarded):
    """A screen in front of others. Once closed it takes no more keys and clicks, of which one read may bring several.

    Textual would close the screen behind it, or find none to close.
    """

    _left = False

    def dismiss(self, result: Any = None) -> AwaitComplete:
        if self._left or self.app.screen != self:  # type: ignore[comparison-overlap]
            return AwaitComplete()
        self._left = True
        closed: AwaitComplete = super().dismiss(result)  # type: ignore[misc]  # of a Screen, before which this stands
        return closed

    async def _dispatch_message(self, message: Message) -> None:
        if not (self._left and (isinstance(message, InputEvent) or message.control)):  # of a part: it was chosen again
            await super()._dispatch_message(message)


async def wait_until_handled(field: Input, screen: Screen[Any]) -> None:
    """Wait until a field has handled what was typed into it, and then its screen what the field reports of that."""
    with suppress(TimeoutError):
        async with asyncio.timeout(HANDLED_SECONDS):
            for part in (field, screen):
                while await _handle_queued(part) and part.message_queue_size:
                    pass  # a key makes a change, a change a report


async def _handle_queued(part: MessagePump) -> bool:
    """Wait until a part has handled the messages that it has now; return False where it is closed."""
    handled = asyncio.Event()
    return part.call_later(handled.set) and await handled.wait()


def is_on_removed(screen: Screen[Any], event: MouseEvent) -> bool:
    """Return whether a click is on a part that was removed since it was drawn, of which Textual misses the parent."""
    with suppress(NoWidget):
        return screen.get_widget_at(event.x, event.y)[0].parent is None
    return False


def is_closing(part: MessagePump) -> bool:
    """Return whether a part of the program loses its own parts, one by one."""
    return isinstance(part, Widget) and (part._pruning or (part.is_mounted and not part.is_attached))

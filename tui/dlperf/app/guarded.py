"""Parts of the program that bear what may happen at any moment: a file that vanishes, a key that comes twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from textual.await_complete import AwaitComplete
from textual.events import InputEvent
from textual.message import Message
from textual.message_pump import MessagePump

from dlperf.errors import DlperfError

if TYPE_CHECKING:
    from dlperf.app.app import DlperfApp

UNREADABLE = (DlperfError, OSError)
"""What files raise that another process changes. Anything else is a mistake of this program."""


class Guarded(MessagePump):
    """Reports an unreadable file on the screen that is shown, where Textual would end the program.

    Private to Textual, whose public hooks come when the part has stopped to handle messages.
    """

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

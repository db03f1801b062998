"""The terminal, and what becomes of the program when the terminal goes away."""

from __future__ import annotations

from textual.drivers.linux_driver import LinuxDriver


class TerminalDriver(LinuxDriver):
    """Textual's driver for a terminal that may be closed at any moment: nothing waits for it, nothing reads it anew.

    A kernel that hangs up a terminal sends SIGHUP, then SIGCONT; to Textual a SIGCONT means that ctrl+z is over, and
    it would start a second thread that reads keys, which nobody ends.
    """

    def _sigcont_application(self, *_: object) -> None:
        if self._must_signal_resume:
            super()._sigcont_application()

    @property
    def _writes(self) -> bool:
        """The thread that writes ends with the first write that fails; its queue would then fill, and block."""
        return self._writer_thread is not None and self._writer_thread.is_alive()

    def write(self, data: str) -> None:
        if self._writes:
            super().write(data)

    def close(self) -> None:
        if self._writes:
            super().close()

"""dlperf measures how fast deep-learning frameworks train and publishes figures that can be traced."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dlperf.errors import DlperfError
    from dlperf.view.workspace import Workspace

    __version__: str

__all__ = ["DlperfError", "Workspace", "__version__"]

_MODULES = {"DlperfError": "dlperf.errors", "Workspace": "dlperf.view.workspace"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: every command imports this package."""
    if name == "__version__":
        return import_module("dlperf.version").version()
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

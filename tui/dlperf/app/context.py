"""What the screens need from the app, so that they do not import the module that registers them."""

from __future__ import annotations

from typing import Protocol

from dlperf.app.campaigns import CampaignBook
from dlperf.app.settings import Settings


class AppContext(Protocol):
    """The state that screens share."""

    settings: Settings
    book: CampaignBook
    watched: str | None
    """The campaign of the Watch screen."""

    def watch_campaign(self, name: str) -> None:
        """Show a campaign on the Watch screen."""

"""Send JSON to a server that the user named."""

import threading
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPException, InvalidURL
from typing import Any
from urllib.error import HTTPError

from dlperf.errors import DlperfError

SECONDS = 10.0
"""Between two parts of an answer."""
EXCHANGE_SECONDS = 60.0
"""For the whole exchange: a server that sends a byte now and then keeps nobody waiting."""
MOST_BYTES = 64 << 20
"""Of an answer."""


class SendError(DlperfError):
    """A request failed. The message names the host alone: the rest of an address may be a secret."""

    def __init__(self, address: str, why: str, answer: bytes | None = None) -> None:
        self.is_answered = answer is not None
        self.answer = answer or b""
        """What the server said."""
        super().__init__(f"{address.split('/')[2].rpartition('@')[2]}: {why}")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Makes an error of a redirect, which would lose what is posted."""

    def redirect_request(self, *_: Any) -> None:
        return None


def send(address: str, data: bytes | None = None, headers: Mapping[str, str] | None = None) -> bytes:
    """Post JSON, or get without ``data``, and return the answer.

    Raises:
        SendError: there was no answer in time, or one of an error.
    """
    outcome: list[bytes | DlperfError] = []
    exchange = threading.Thread(target=_exchange, args=(outcome, address, data, headers or {}), daemon=True)
    exchange.start()
    exchange.join(EXCHANGE_SECONDS)
    found = outcome[0] if outcome else SendError(address, f"no whole answer within {EXCHANGE_SECONDS:g} s")
    if isinstance(found, DlperfError):
        raise found
    return found


def _exchange(outcome: list[bytes | DlperfError], address: str, data: bytes | None, headers: Mapping[str, str]) -> None:
    try:
        outcome.append(_answer(address, data, headers))
    except DlperfError as error:
        outcome.append(error)


def _answer(address: str, data: bytes | None, headers: Mapping[str, str]) -> bytes:
    try:
        request = urllib.request.Request(address, data, {"Content-Type": "application/json", **headers})
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=SECONDS) as answer:
            received: bytes = answer.read(MOST_BYTES)
            return received
    except HTTPError as error:
        said = b""
        with suppress(OSError, HTTPException):  # an answer that stops
            said = error.read(MOST_BYTES)
        raise SendError(address, f"answered {error.code}", said) from error
    except (InvalidURL, ValueError) as error:  # which quotes the address or a header
        raise SendError(address, "its address, or a name or password for it, cannot be sent as it is") from error
    except (OSError, HTTPException) as error:
        raise SendError(address, f"{getattr(error, 'reason', error)}") from error

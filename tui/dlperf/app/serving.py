"""``dlperf-tui --serve``: the program in a browser of this machine, behind a token in the address."""

from __future__ import annotations

import secrets
import shlex
import socket
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dlperf.errors import RequestError
from dlperf.messages import _

if TYPE_CHECKING:
    from aiohttp import web
    from aiohttp.typedefs import Handler, Middleware

HOST, MAX_PORT = "127.0.0.1", 65535
POLICY = "default-src 'self' 'unsafe-inline' data: blob:; connect-src 'self' ws://{host}:{port}"
"""Of a page that loads nothing from elsewhere (Content-Security-Policy)."""


def serve(words: Sequence[str], port: int) -> None:
    """Serve the program until Ctrl+C, one process for each page that is open.

    Args:
        words: arguments of ``dlperf-tui``.
        port: 0 for one that is free.

    Raises:
        RequestError: textual-serve is missing, or the port is taken.
    """
    try:
        from textual_serve.server import Server
    except ImportError as error:
        raise RequestError(
            "--serve needs textual-serve: install it beside dlperf (`pip install textual-serve`)"
        ) from error
    port, token = _free_port(port), secrets.token_urlsafe()

    class TokenServer(Server):
        async def _make_app(self) -> web.Application:
            app: web.Application = await super()._make_app()
            app.middlewares.append(_only_with_token(token, port))
            app.on_response_prepare.append(_keep_to_itself)
            return app

        def initialize_logging(self) -> None:
            """Log no access: the first address holds the token."""

        async def on_startup(self, app: web.Application) -> None:
            print(_("Open {address} (Ctrl+C ends it).", address=f"http://{HOST}:{port}/?token={token}"), flush=True)

    async def _keep_to_itself(_request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Content-Security-Policy"] = POLICY.format(host=HOST, port=port)

    command = [sys.executable, "-c", "from dlperf.app import main; main()", *words]
    TokenServer(shlex.join(command), HOST, port, title="dlperf").serve()


def _only_with_token(token: str, port: int) -> Middleware:
    """Return what refuses requests without the token, and moves it from the address into a cookie."""
    from aiohttp import web

    cookie = f"dlperf-token-{port}"  # a browser sends the cookies of one port of a host to all

    @web.middleware
    async def only_with_token(request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.query.get("token") or request.cookies.get(cookie, "")
        if not secrets.compare_digest(given.encode(), token.encode()):
            raise web.HTTPForbidden(text="dlperf-tui: open the address that the terminal shows, with its token\n")
        if "token" in request.query:  # out of the address, which a history keeps
            found = web.HTTPFound("/")
            found.set_cookie(cookie, token, httponly=True, samesite="Strict")
            raise found
        return await handler(request)

    return only_with_token


def _free_port(port: int) -> int:
    if not 0 <= port <= MAX_PORT:
        raise RequestError(f"--port {port}: choose 1 to {MAX_PORT}, or 0 for a free one")
    try:
        with socket.create_server((HOST, port)) as found:
            return int(found.getsockname()[1])
    except OSError as error:
        raise RequestError(f"--port {port}: {error.strerror}: choose another one") from error

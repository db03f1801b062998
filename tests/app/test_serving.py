"""The program in a browser: reached with its token alone, and ended with the server."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from dlperf.app.command_line import run
from dlperf.errors import ExitCode
from dlperf.runs.paths import WorkspacePaths
from ports import free_port
from sshd import _listens, children
from waiting import until_async

aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("textual_serve")


@asynccontextmanager
async def served(workspace: WorkspacePaths) -> AsyncIterator[tuple[str, int]]:
    """The address that the terminal shows, and the server's process, which is killed."""
    port = free_port()
    words = ["-c", "from dlperf.app import main; main()", "--serve", "--port", str(port), "--language", "en"]
    program = await asyncio.create_subprocess_exec(
        sys.executable, *words, str(workspace.root), stdout=asyncio.subprocess.PIPE, stdin=asyncio.subprocess.DEVNULL
    )
    assert program.stdout is not None
    try:
        line = (await program.stdout.readline()).decode()
        await until_async(lambda: _listens(port), f"port {port} is not listened at")
        yield re.findall(r"http://\S+", line)[0], program.pid
    finally:
        program.kill()
        await program.wait()


async def test_two_programs_in_one_browser_keep_their_tokens(workspace: WorkspacePaths):
    browser = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
    async with browser, served(workspace) as (first, _), served(workspace) as (second, _):
        for address in (first, second, first.partition("?")[0]):
            assert (await browser.get(address)).status == 200


def test_a_port_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str], workspace: WorkspacePaths):
    assert run(["--serve", "--port", "70000", str(workspace.root)]) == ExitCode.BAD_REQUEST
    assert capsys.readouterr().err == "dlperf-tui: --port 70000: choose 1 to 65535, or 0 for a free one\n"


async def test_a_browser_sees_the_program_with_the_token_alone(workspace: WorkspacePaths):
    async with served(workspace) as (address, server):
        base = address.partition("?")[0]
        async with aiohttp.ClientSession() as stranger:
            for path in ("", "ws", "static/js/textual.js", "?token=guessed"):
                assert (await stranger.get(base + path)).status == 403
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as owner:
            page = await owner.get(address)
            assert page.status == 200
            assert "token" not in str(page.url)
            terminal = await owner.ws_connect(f"{base}ws?width=100&height=30")
            seen = ""
            while "Nothing has been measured" not in seen:
                seen += (await terminal.receive_bytes()).decode(errors="replace")
            (shell,) = children(server)
    await until_async(lambda: not Path(f"/proc/{shell}").exists(), "the program goes on without its server")

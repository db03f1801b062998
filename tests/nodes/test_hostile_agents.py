"""An agent that answers with anything: the engine's client keeps its errors, time, memory and folder."""

from __future__ import annotations

import asyncio
import json
import os
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlperf.errors import DlperfError, StorageError, UnreachableError
from dlperf.executors import direct
from dlperf.executors.base import Trial
from dlperf.executors.direct import DirectExecutor
from dlperf.nodes import agent_channel, connection
from dlperf.nodes.answers import ANSWER_BYTES, ANSWER_VALUES
from dlperf.nodes.bootstrap import ANSWER, READY
from dlperf.nodes.client import NodeClient
from dlperf.nodes.messages import ByteRange
from dlperf.nodes.transport import LocalTransport
from dlperf.plan import Launch, Node
from dlperf.runs.paths import TrialPaths
from hostile_agent import SOUND, FakeAgent

EXAMPLES = 500
ANSWERS_PER_EXAMPLE = 20


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "FIRST_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(connection, "LONGEST_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(direct, "SHORTEST_WAIT_SECONDS", 0.0)


def _trial(folder: Path) -> Trial:
    node = Node("a", "local", "localhost", "localhost")
    return Trial("test.1", Launch("direct", (node,), 1, "plain", (), ("true",)), TrialPaths(folder / "runs" / "1"))


async def _use(agent: FakeAgent, trial: Trial) -> None:
    """Call every method of an executor until the agent has given its answers."""
    executor = DirectExecutor(transport=lambda _: agent)
    methods = (
        lambda: executor.check(trial.launch),
        lambda: executor.submit(trial),
        lambda: executor.poll([trial]),
        lambda: executor.wait([trial], 0.0),
        lambda: executor.tail([trial]),
        lambda: executor.cancel(trial, 0.0),
        lambda: executor.collect(trial),
        lambda: executor.adopt(trial),
    )
    said = []
    while agent.answers < ANSWERS_PER_EXAMPLE:
        try:
            await agent.chance.choice(methods)()
        except StorageError:
            raise
        except DlperfError as error:
            said.append(str(error))
    assert not [text for text in said if "\n" in text or len(text) > 2000]
    await executor.close()


def test_whatever_an_agent_answers_the_executor_raises_only_its_own_errors(tmp_path: Path) -> None:
    answers = 0

    @settings(max_examples=EXAMPLES, database=None)
    @given(st.integers(0, 2**64))
    def use(seed: int) -> None:
        nonlocal answers
        agent, folder = FakeAgent(seed), tmp_path / str(seed)
        asyncio.run(_use(agent, _trial(folder)))
        answers += agent.answers

    use()
    assert answers >= EXAMPLES * ANSWERS_PER_EXAMPLE >= 10_000
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert all(path.relative_to(tmp_path).parts[1:3] == ("runs", "1") for path in written)


IN_ANOTHER_PROCESS = """
import asyncio, sys
from pathlib import Path
import test_hostile_agents as suite
suite.connection.FIRST_DELAY_SECONDS = suite.connection.LONGEST_DELAY_SECONDS = 0.0
for seed in range(50):
    asyncio.run(suite._use(suite.FakeAgent(seed), suite._trial(Path(sys.argv[1]) / str(seed))))
for beginning, then, reason, most_bytes in suite.ENDLESS:
    asyncio.run(suite.test_endless_output_is_given_up_after_a_bounded_part(beginning, then, reason, most_bytes))
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def test_hostile_agents_cost_less_than_300_mb(tmp_path: Path) -> None:
    command = (sys.executable, "-c", IN_ANOTHER_PROCESS, str(tmp_path))
    folders = (Path(__file__).parent, Path(__file__).parents[1], os.environ["PYTHONPATH"])
    environment = {**os.environ, "PYTHONPATH": ":".join(map(str, folders))}
    assert 0 < int(subprocess.check_output(command, env=environment)) < 300_000


class EndlessAgent(FakeAgent):
    """Writes a beginning, then one byte for ever; counts what is taken from it."""

    def __init__(self, beginning: bytes, then: bytes = b"\n") -> None:
        super().__init__(0)
        self.beginning, self.then, self.taken = beginning, then, 0

    async def open(self, argv: Sequence[str]) -> EndlessAgent:
        self.output = self.beginning
        return self

    async def write(self, data: bytes) -> None:
        """Take the request and care for nothing."""

    async def read(self, size: int) -> bytes:
        await asyncio.sleep(0)
        part = await super().read(size) or self.then * size
        self.taken += len(part)
        return part


STARTED = f"{ANSWER} {READY}\n".encode()


def _frame(head: dict[str, Any]) -> bytes:
    body = json.dumps(head).encode()
    return STARTED + struct.pack(">I", len(body)) + body


ENDLESS = (
    (b"", b"x", "a line of more than 65536 bytes", 1 << 18),
    (b"", b"\n", "more than 10000 lines before the agent", 1 << 18),
    (STARTED, b"\0", "JSON: ", 1 << 18),
    (STARTED + b"\xff" * 4, b"x", "4294967295 bytes", 1 << 18),
    (STARTED + struct.pack(">I", ANSWER_BYTES), b"[", f"more than {ANSWER_VALUES} values", 2 * ANSWER_BYTES),
    (_frame({"id": 1, "raw": 10**18, "answer": SOUND["hello"]}), b"x", "where 0 were requested", 1 << 18),
    (_frame({"id": 1, "raw": 10**30, "answer": SOUND["hello"]}), b"x", "raw: ", 1 << 18),
)


@pytest.mark.parametrize(("beginning", "then", "reason", "most_bytes"), ENDLESS)
async def test_endless_output_is_given_up_after_a_bounded_part(beginning, then, reason, most_bytes):
    agent = EndlessAgent(beginning, then)
    with pytest.raises(UnreachableError) as caught:
        await NodeClient("node alpha", agent).hello()
    assert str(caught.value).startswith("node alpha: ")
    assert reason in str(caught.value)
    assert agent.taken < most_bytes


async def test_an_agent_that_answers_nothing_is_given_up_after_the_timeout(monkeypatch):
    monkeypatch.setattr(agent_channel, "REQUEST_SECONDS", 0.05)
    agent = EndlessAgent(STARTED + b"\0\0\0\x09", b"")

    async def wait_for_ever(size: int) -> bytes:
        return await FakeAgent.read(agent, size) or await asyncio.Future()

    agent.read = wait_for_ever
    with pytest.raises(UnreachableError, match=r"no answer within 0\.05 s"):
        await NodeClient("node alpha", agent).hello()


async def test_an_answer_to_another_request_is_refused():
    doubled = b"".join(_frame({"id": number, "raw": 0, "answer": SOUND["job"]})[len(STARTED) :] for number in (1, 1))
    agent = EndlessAgent(STARTED + doubled, b"")
    node = NodeClient("node alpha", agent)
    assert (await node.job("trial", ())).job == "17"
    agent.beginning = STARTED
    with pytest.raises(UnreachableError):
        await node.job("trial", ())


async def test_simultaneous_requests_get_their_own_answers(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    node = NodeClient("node alpha", LocalTransport())
    (tmp_path / ".dlperf" / "trial").mkdir(parents=True)
    for number in range(8):
        (tmp_path / ".dlperf" / "trial" / str(number)).write_bytes(bytes([number]) * 1000 * number)
    reads = [node.read([ByteRange(f"trial/{number}", 0, 10**6)]) for number in range(8)]
    found = await asyncio.gather(*reads)
    await node.close()
    assert found == [[bytes([number]) * 1000 * number] for number in range(8)]

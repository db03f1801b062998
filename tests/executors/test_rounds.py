"""Requests to many machines at once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from dlperf.executors.machines import Rounds


@dataclass(frozen=True)
class Machine:
    name: str
    unreachable_since: str | None = None


LATE, PROMPT, UNREACHABLE = Machine("late"), Machine("prompt"), Machine("unreachable", "2026-01-01T00:00:00Z")


async def test_a_late_machine_keeps_no_other_waiting_and_is_not_asked_twice():
    gate, asked, answered = asyncio.Event(), [], []

    async def work(machine, _):
        asked.append(machine)
        if machine == LATE:
            await gate.wait()
        answered.append(machine)

    rounds, machines = Rounds(work, 0.05), [(LATE, ()), (PROMPT, ())]
    await rounds.run(machines)
    await rounds.run(machines)
    assert answered == [PROMPT, PROMPT]
    assert rounds.is_late(LATE)
    gate.set()
    await rounds.run(machines)
    await rounds.run(machines)
    assert sorted(machine.name for machine in answered) == ["late", "late", *["prompt"] * 4]
    assert asked.count(LATE) == 2


async def test_a_machine_that_answers_waits_only_shortly_for_one_that_does_not():
    gate, answered = asyncio.Event(), []

    async def work(machine, _):
        if machine == LATE:
            await gate.wait()
        answered.append(machine)

    rounds = Rounds(work, None)  # as long as nobody answers, for ever
    await rounds.run([(LATE, ()), (PROMPT, ())])
    assert answered == [PROMPT]
    assert rounds.is_late(LATE)
    await rounds.close()


async def test_an_unreachable_machine_is_waited_for_only_where_it_is_alone():
    gate, answered = asyncio.Event(), []

    async def work(machine, _):
        if machine is UNREACHABLE:
            await gate.wait()
        answered.append(machine)

    rounds = Rounds(work, None)  # waits for ever where it waits
    await rounds.run([(UNREACHABLE, ()), (PROMPT, ())])
    assert answered == [PROMPT]
    assert rounds.is_late(UNREACHABLE)
    gate.set()
    await asyncio.sleep(0)
    await rounds.run([(UNREACHABLE, ())])
    assert not rounds.is_late(UNREACHABLE)
    await rounds.run([(UNREACHABLE, ())])
    assert answered == [PROMPT, UNREACHABLE, UNREACHABLE]


async def test_the_error_of_a_late_machine_is_raised_by_the_round_in_which_it_comes():
    gate = asyncio.Event()

    async def work(machine, _):
        await gate.wait()
        raise ValueError(machine)

    rounds = Rounds(work, 0.0)
    await rounds.run([(LATE, ())])
    gate.set()
    await asyncio.sleep(0)
    with pytest.raises(ValueError, match="late"):
        await rounds.run([(LATE, ())])
    await rounds.close()

"""Requests to many machines at once."""

from __future__ import annotations

import asyncio

import pytest

from dlperf.executors.rounds import Rounds


async def test_a_late_machine_keeps_no_other_waiting_and_is_not_asked_twice():
    gate, asked = asyncio.Event(), []

    async def work(machine, _):
        asked.append(machine)
        if machine == "late":
            await gate.wait()
        return machine

    rounds, machines = Rounds(work, 0.05), [("late", ()), ("prompt", ())]
    assert await rounds.run(machines) == ["prompt"]
    assert await rounds.run(machines) == ["prompt"]
    assert rounds.is_late("late")
    gate.set()
    assert sorted(await rounds.run(machines) + await rounds.run(machines)) == ["late", "late", "prompt", "prompt"]
    assert asked.count("late") == 2


async def test_the_error_of_a_late_machine_is_raised_by_the_round_in_which_it_comes():
    gate = asyncio.Event()

    async def work(machine, _):
        await gate.wait()
        raise ValueError(machine)

    rounds = Rounds(work, 0.0)
    assert await rounds.run([("late", ())]) == []
    gate.set()
    await asyncio.sleep(0)
    with pytest.raises(ValueError, match="late"):
        await rounds.run([("late", ())])
    await rounds.close()

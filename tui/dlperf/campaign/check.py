"""Are machines ready: what is asked of them before every trial, asked alone."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.campaign.means import OpenExecutor
from dlperf.executors.base import CheckItem
from dlperf.executors.machines import all_of
from dlperf.plan import Launch, Plan


def launches_to_check(plan: Plan) -> list[Launch]:
    """One launch for each set of machines and each container image: the one that asks most of them."""
    largest: dict[tuple[str, str, str], Launch] = {}
    for item in plan.configurations:
        launch = item.launch
        image = launch.container.image if launch.container else ""
        key = (item.configuration.hardware, launch.executor, image)
        if key not in largest or _size(launch) > _size(largest[key]):
            largest[key] = launch
    return list(largest.values())


def _size(launch: Launch) -> tuple[int, int]:
    return (len(launch.nodes), launch.gpus)


async def check_launches(launches: Sequence[Launch], open_executor: OpenExecutor) -> list[CheckItem]:
    """What the machines say, asked all at once, each thing once; a machine that does not answer has one line."""
    executors = {name: open_executor(name) for name in {launch.executor for launch in launches}}
    try:
        found = await all_of(executors[launch.executor].check(launch) for launch in launches)
    finally:
        for executor in executors.values():
            await executor.close()
    return list({(item.node, item.check, item.ok, item.message): item for items in found for item in items}.values())

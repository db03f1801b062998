"""Slurm's commands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dlperf.executors.base import CheckItem
from dlperf.executors.job_requests import longest_minutes, time_items
from dlperf.executors.jobs import Job
from dlperf.executors.scheduler import Run, Scheduler, SilentSchedulerError
from dlperf.messages import message, quoted
from dlperf.nodes.messages import CommandResult
from dlperf.plan import Launch
from dlperf.render.batch import Batch
from dlperf.render.slurm import batch_script

SQUEUE_FORMAT = "JobArrayID:64|,State:64|,RestartCnt:64|,Reason:256|,NodeList:256"
SACCT_FORMAT = "JobID,State,Reason,NodeList"
SILENCE = ("Unable to contact slurm controller", "Socket timed out")
"""Errors of Slurm commands whose controller does not answer."""
_NO_SUCH_JOB = "Invalid job id"
_SMALL_NUMBER = re.compile("[0-9]{1,9}")


class Slurm(Scheduler):
    """See ``Scheduler`` for its methods."""

    name = "slurm"
    submission = ("sbatch", "--parsable")

    def script(self, launch: Launch, batch: Batch) -> bytes:
        return batch_script(launch, batch)

    def find(self, name: str) -> Sequence[str]:
        return ("squeue", "--noheader", "--states=all", f"--name={name}", "--format=%i")

    def cancel(self, number: str) -> Sequence[str]:
        return ("scancel", number)

    async def jobs(self, run: Run, numbers: Sequence[str]) -> dict[str, Job]:
        """Ask ``squeue`` for all at once, then ``sacct`` for those that it forgot."""
        options = ["--noheader", "--array", "--states=all", f"--Format={SQUEUE_FORMAT}"]
        answer = await run(["squeue", *options, f"--jobs={','.join(numbers)}"])
        if answer.code != 0 and _NO_SUCH_JOB not in answer.err:
            raise SilentSchedulerError((answer.err.strip().splitlines() or [f"exit code {answer.code}"])[-1])
        known = parse_squeue(answer.out)
        forgotten = [number for number in numbers if number not in known]
        if not forgotten:
            return known
        options = ["--noheader", "--allocations", "--parsable2", f"--format={SACCT_FORMAT}"]
        answer = await run(["sacct", *options, f"--jobs={','.join(forgotten)}"])
        return parse_sacct(answer.out) | known

    async def longest_minutes(self, run: Run, launch: Launch) -> int | None:
        answer = await run(["scontrol", "--oneliner", "show", "partition"])
        return longest_minutes(answer.out, (launch.slurm or {}).get("partition"))

    async def check(self, run: Run, launch: Launch, batch: Batch) -> list[CheckItem]:
        answer = await run(["sbatch", "--test-only"], self.script(launch, batch))
        said = (answer.err.strip().splitlines() or answer.out.strip().splitlines() or ["Slurm says nothing"])[-1]
        text = message("and_more", subject=quoted(f"{len(launch.nodes)}n{launch.gpus}g"), more=quoted(said))
        limits = time_items("login node", launch, batch.most_minutes)
        return [*limits, CheckItem("login node", "slurm", answer.code == 0, text)]

    def is_silent(self, answer: CommandResult) -> bool:
        return any(words in answer.err for words in SILENCE)


def parse_squeue(text: str) -> dict[str, Job]:
    """Parse lines in SQUEUE_FORMAT into jobs by number."""
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.count("|") == 4]
    return {
        number: Job(number, state, reason, nodes, int(restarts))
        for number, state, restarts, reason, nodes in rows
        if _SMALL_NUMBER.fullmatch(restarts)
    }


def parse_sacct(text: str) -> dict[str, Job]:
    """Parse lines in SACCT_FORMAT into jobs by number; the state ``CANCELLED by 1000`` is CANCELLED."""
    rows = [line.split("|") for line in text.splitlines() if line.count("|") == 3]
    return {
        number: Job(number, state.split()[0], reason, "" if nodes == "None assigned" else nodes)
        for number, state, reason, nodes in rows
        if state.strip()
    }

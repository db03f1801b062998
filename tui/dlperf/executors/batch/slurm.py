"""Slurm's commands."""

import re
from collections.abc import Sequence

from dlperf.executors.base import CheckItem
from dlperf.executors.batch.jobs import Job
from dlperf.executors.scheduler import Scheduler, SchedulerRun, SilentSchedulerError
from dlperf.messages import message, quoted
from dlperf.nodes.messages import CommandResult
from dlperf.plan import Launch
from dlperf.render.batch import Batch, batch_script, wanted_minutes

SQUEUE_FORMAT = "JobArrayID:64|,State:64|,RestartCnt:64|,Reason:256|,NodeList:256"
SACCT_FORMAT = "JobID,State,Reason,NodeList"
SILENCE = ("Unable to contact slurm controller", "Socket timed out")
"""Errors of Slurm commands whose controller does not answer."""
_NO_SUCH_JOB = "Invalid job id"
_TIME = re.compile(r"^(?:(?P<days>\d{1,9})-)?(?P<hours>\d{1,9}):(?P<minutes>\d{1,9}):(?P<seconds>\d{1,9})$")
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

    async def jobs(self, run: SchedulerRun, numbers: Sequence[str]) -> dict[str, Job]:
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

    async def longest_minutes(self, run: SchedulerRun, launch: Launch) -> int | None:
        answer = await run(["scontrol", "--oneliner", "show", "partition"])
        return longest_minutes(answer.out, (launch.queue or {}).get("partition"))

    async def check(self, run: SchedulerRun, launch: Launch, batch: Batch) -> list[CheckItem]:
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


def longest_minutes(text: str, partitions: str | None) -> int | None:
    """The longest time limit of these partitions; None if it is unlimited or unknown.

    Args:
        text: lines of ``scontrol --oneliner show partition``.
        partitions: names, joined by commas; None for the default partition.
    """
    found = [dict(word.partition("=")[::2] for word in line.split()) for line in text.splitlines()]
    named = partitions.split(",") if partitions else []
    mine = [row for row in found if (row.get("PartitionName") in named if named else row.get("Default") == "YES")]
    limits = [_minutes(row.get("MaxTime", "")) for row in mine]
    known = [limit for limit in limits if limit is not None]
    return max(known) if known and len(known) == len(limits) else None


def _minutes(text: str) -> int | None:
    found = _TIME.match(text)
    if found is None:
        return None
    days, hours, minutes = (int(found[name] or 0) for name in ("days", "hours", "minutes"))
    return (days * 24 + hours) * 60 + minutes


def time_items(node: str, launch: Launch, most: int | None) -> list[CheckItem]:
    """An item if the job asks for more time than its partition allows."""
    options, wanted = launch.queue or {}, wanted_minutes(launch)
    if most is None or wanted <= most:
        return []
    explicit = bool(options.get("time_limit_minutes"))
    code = "partition_limit" if explicit else "partition_gives_less"
    text = message(code, partition=options.get("partition") or "(default)", most=most, wanted=wanted)
    return [CheckItem(node, "time_limit", not explicit, text, caution=not explicit)]

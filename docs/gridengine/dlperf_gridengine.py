"""Grid Engine as an executor of dlperf: a job for each trial, of one node. Written for Son of Grid Engine 8.1.9.

With ``execd_params ENABLE_ADDGRP_KILL=true``, a time limit ends every process of a job; without, only the first.
"""

from __future__ import annotations

import hashlib
import re
import xml.etree.ElementTree as xml
from collections.abc import Sequence

from dlperf.errors import RequestError
from dlperf.executors.scheduler import (
    Batch,
    CheckItem,
    CommandResult,
    Job,
    Launch,
    Scheduler,
    SchedulerRun,
    SilentSchedulerError,
    job_script,
)
from dlperf.messages import quoted
from dlperf.render.batch import LOG, wanted_minutes

FIND = "qstat -s prsz | awk -v name=\"$0\" '$3 == name { print $1; exit }'"
UNQUEUE = """
state=$(qstat | awk -v job="$0" '$1 == job { print $5 }')
case $state in *qw*) exec qdel "$0" ;; ?*) exit 1 ;; esac
"""
"""Fails while the job runs: it ends itself at dlperf's request, which is repeated until the job is gone. qdel would
kill its supervisor and leave the program running."""
FAILURES = {"37": "TIMEOUT", "100": "CANCELLED"}
"""The first word of ``failed`` in the accounting: a limit such as h_rt; ended by a signal, as after qdel."""


class GridEngine(Scheduler):
    """See ``Scheduler`` for the methods."""

    name = "gridengine"
    submission = ("qsub", "-terse")

    def script(self, launch: Launch, batch: Batch) -> bytes:
        if len(launch.nodes) > 1:
            raise RequestError("gridengine runs trials of one node: set `max_nodes: 1`")
        asked = launch.queue or {}
        options = [
            f"-N {job_name(batch.name)}",
            *(f"-o {batch.folder}/{LOG}", "-j y", "-S /bin/sh", "-V", "-r n", f"-wd {batch.folder}"),
            f"-l h_rt={60 * wanted_minutes(launch)}",
            *(option.replace("{gpus}", str(launch.gpus)) for option in asked.get("extra") or ()),
        ]
        hosts = 'export DLPERF_HOSTS="$(hostname)" DLPERF_RANK=0'
        return job_script([f"#$ {option}" for option in options], batch, before=[hosts])

    def find(self, name: str) -> Sequence[str]:
        return ("sh", "-c", FIND, job_name(name))

    def cancel(self, number: str) -> Sequence[str]:
        return ("sh", "-c", UNQUEUE, number)

    async def jobs(self, run: SchedulerRun, numbers: Sequence[str]) -> dict[str, Job]:
        answer = await run(["qstat", "-xml"])
        if answer.code != 0:
            raise SilentSchedulerError((answer.err.strip().splitlines() or [f"exit code {answer.code}"])[0])
        known = parse_qstat(answer.out)
        for number in set(numbers) - set(known):
            ended = parse_qacct(number, (await run(["qacct", "-j", number])).out)
            known |= {number: ended} if ended else {}
        return known

    async def check(self, run: SchedulerRun, launch: Launch, batch: Batch) -> list[CheckItem]:
        answer = await run(["qsub", "-w", "v"], self.script(launch, batch))
        said = (answer.out.strip().splitlines() or answer.err.strip().splitlines() or ["no answer"])[0]
        return [CheckItem("login node", "scheduler", answer.code == 0, quoted(said))]

    def is_silent(self, answer: CommandResult) -> bool:
        return "unable to contact qmaster" in answer.err or "unable to send message to qmaster" in answer.err


def job_name(name: str) -> str:
    """Ten characters, which qstat shows in full and which begin with a letter, as Grid Engine demands."""
    return "d" + hashlib.sha256(name.encode()).hexdigest()[:9]


def parse_qstat(text: str) -> dict[str, Job]:
    """Return the jobs that wait or run; E in a state is an error, h a hold."""
    found = {}
    for row in xml.fromstring(text).iter("job_list"):
        number, state = row.findtext("JB_job_number", ""), row.findtext("state", "")
        waits = "qw" in state
        found[number] = Job(number, "PENDING" if waits else "RUNNING", state if waits and state != "qw" else "")
    return found


def parse_qacct(number: str, text: str) -> Job | None:
    """Return a job that has ended; None where the accounting does not have it (yet)."""
    fields = dict(re.findall(r"^(\S+) +(.*?) *$", text, re.MULTILINE))
    if "exit_status" not in fields:
        return None
    failed = fields.get("failed", "0").split()[0]
    plain = "COMPLETED" if fields["exit_status"].split()[0] == "0" else "FAILED"
    state = plain if failed == "0" else FAILURES.get(failed, "FAILED")
    return Job(number, state, fields.get("failed", ""), fields.get("hostname", ""))

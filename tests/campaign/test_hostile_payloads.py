"""Payloads that sabotage their folder on a real node: their own trial fails with file and node, the rest goes on.

All of them run in one campaign, each on an ssh node of its own, together with trials that do nothing wrong.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from scripted import QUICK, planned

import sshd
from dlperf.campaign.create import create_campaign
from dlperf.campaign.dependencies import EngineDependencies
from dlperf.campaign.engine import run_campaign
from dlperf.executors.direct import DirectExecutor
from dlperf.nodes.supervisor.processes import marked_pids
from dlperf.plan import Launch, Node, Plan, Selection
from dlperf.runs.archive import TrialFiles
from dlperf.runs.journal import campaign_status
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.records import State, TrialStatus
from waiting import PATIENCE_SECONDS, until_async

SECRET = "only the node knows this"

HOLD = "exec sleep 600"
STOP, GO_ON = "kill -STOP $PPID", "kill -CONT $PPID"
"""The supervisor is stopped while a file of it is replaced: it would rightly tell of one that is gone."""
DEEP = "head -c 60000 /dev/zero | tr '\\0' '['"
DIGITS = """printf '{"pid": '; head -c 60000 /dev/zero | tr '\\0' 9; printf '}'"""
SCRIPTS = {
    "out.log": {
        "forbidden": f"chmod 000 out.log; echo x; {HOLD}",
        "folder": f"rm out.log; mkdir out.log; {HOLD}",
        "fifo": f"rm out.log; mkfifo out.log; {HOLD}",
        "link": f"rm out.log; ln -s $HOME/secret out.log; {HOLD}",
    },
    "ranks": {
        "link": f"rmdir ranks; ln -s /etc ranks; {HOLD}",
        "file": f"rmdir ranks; echo x > ranks; {HOLD}",
        "forbidden": f"chmod 000 ranks; {HOLD}",
        "crowd": f"cd ranks; seq 2000 | xargs touch; {HOLD}",
        "deep": f"cd ranks; mkdir -p $(seq -s / 20); touch $(seq -s / 20)/x; {HOLD}",
    },
    "ranks/rank0.log": {"forbidden": f"echo x > ranks/rank0.log; chmod 000 ranks/rank0.log; {HOLD}"},
    "ranks/a/b": {
        "file": f"echo x > ranks/a; until test -e $HOME/go; do sleep 0.02; done; rm ranks/a; mkdir ranks/a; "
        f"echo x > ranks/a/b; {HOLD}"
    },
    **{
        file: {
            "garbage": f"echo garbage > {file}; {HOLD}",
            "list": f"echo [] > {file}; {HOLD}",
            "empty": f"echo '{{}}' > {file}; {HOLD}",
            "deep": f"({DEEP}) > {file}; {HOLD}",
            "digits": f"({DIGITS}) > {file}; {HOLD}",
            "fifo": f"{STOP}; rm -f {file}; mkfifo {file}; {GO_ON}; {HOLD}",
            "folder": f"{STOP}; rm -f {file}; mkdir {file}; {GO_ON}; {HOLD}",
            "link": f"{STOP}; rm -f {file}; ln -s $HOME/secret {file}; {GO_ON}; {HOLD}",
            "large": f"truncate -s 1T {file}; {HOLD}",
            "strings": f"""echo '{{"pid": "1", "start_ticks": "2", "boot_id": 3, "state": "odd"}}' > {file}; {HOLD}""",
        }
        for file in ("exit.json", "supervisor.json")
    },
    "launch.sh": {
        "fifo": "rm launch.sh; mkfifo launch.sh",
        "link": "rm launch.sh; ln -s $HOME/secret launch.sh",
        "large": "truncate -s 1T launch.sh",
    },
    "environment.json": {
        "link": "until test -e environment.json; do sleep 0.02; done; ln -sf $HOME/secret environment.json",
        "fifo": "until test -e environment.json; do sleep 0.02; done; rm environment.json; mkfifo environment.json",
    },
}
CASES = [(file, kind) for file, kinds in SCRIPTS.items() for kind in kinds]
CLOSED = {"closed": f"chmod 000 .; {HOLD}", "given-away": f"chown 12345 .; chmod 700 .; {HOLD}"}
HARMLESS = {
    "nothing": "true",
    "utf8": r"""touch "ranks/$(printf '\377')"; echo x > "ranks/$(printf 'caf\351')"; echo y > 'ranks/\xe9'""",
    "fifo": "mkfifo ranks/fifo; ln -s /etc/passwd ranks/link; ln -s /etc ranks/folder",
    "exit": """echo '{"state": "failed", "code": 1, "signal": null, "ended": "x"}' > exit.json; sleep 0.5""",
    "identity": """echo '{"pid": 1, "start_ticks": 2, "boot_id": "x"}' > supervisor.json; sleep 0.5""",
    "telemetry": "rm telemetry.csv; ln -s $HOME/secret telemetry.csv",
}


@dataclass
class Ended:
    """The campaign after its engine has ended."""

    paths: CampaignPaths
    home: Path

    def trial(self, name: str) -> TrialStatus:
        (status,) = [status for key, status in campaign_status(self.paths).trials.items() if _name(key) == name]
        return status

    def files(self, name: str) -> TrialFiles:
        return TrialFiles(self.paths.trial(self.trial(name).key))


def _name(key) -> str:
    return key.configuration.split("_")[1]


def _case(file: str, kind: str) -> str:
    return "".join(c for c in f"{file}-{kind}" if c.isalnum() or c == "-")


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ended]:
    if not sshd.PROGRAM or shutil.which("setpriv") is None:
        pytest.skip("needs sshd and setpriv")
    folder = tmp_path_factory.mktemp("hostile")
    Path("/run/sshd").mkdir(exist_ok=True)
    lease = f"DLPERF_LEASE={folder}/lease.$$"  # every connection is another machine
    server = sshd.prepare(folder / "sshd", f'ForceCommand {lease} exec sh -c "$SSH_ORIGINAL_COMMAND"\n')
    if os.getuid() == 0:  # a root that may read only what its mode allows
        server.prefix = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
    (server.home / "secret").write_text(SECRET)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(server.operator))
        patch.delenv("SSH_AUTH_SOCK", raising=False)
        server.start()
        paths = _campaign(folder / "workspace")
        try:
            asyncio.run(_run(paths, server.home))
            yield Ended(paths, server.home)
        finally:
            server.stop()


def _campaign(root: Path) -> CampaignPaths:
    scripts = {_case(file, kind): SCRIPTS[file][kind] for file, kind in CASES} | CLOSED | HARMLESS
    configurations = []
    for name, script in scripts.items():
        node = Node(name, "ssh", f"node-{name}", "127.0.0.1")
        command = ("sh", "-c", f'cd "$HOME/.dlperf/$DLPERF_TRIAL"; {script}')
        launch = Launch("direct", (node,), 1, "plain", (), command, deadline_seconds=60.0, stall_seconds=60.0)
        configurations.append(replace(planned(name, name, repeats=1), launch=launch))
    (root / "runs").mkdir(parents=True)
    (root / "mkdocs.yml").touch()
    return create_campaign(WorkspacePaths(root), Plan(Selection(), tuple(configurations)), "try")


async def _run(paths: CampaignPaths, home: Path) -> None:
    async def go_when_archived() -> None:
        await until_async(lambda: list(paths.directory.rglob("ranks/a")), "ranks/a was never archived")
        (home / "go").touch()

    timeouts = replace(QUICK, silence=60.0, first_answer=60.0)
    engine = run_campaign(paths, EngineDependencies(lambda _: DirectExecutor()), timeouts)
    await asyncio.wait_for(asyncio.gather(engine, go_when_archived()), 3 * PATIENCE_SECONDS)


@pytest.mark.parametrize(("file", "kind"), CASES)
def test_what_a_payload_made_of_a_file_fails_its_own_trial(ended: Ended, file: str, kind: str) -> None:
    name = _case(file, kind)
    trial = ended.trial(name)
    assert trial.state is State.FAILED
    (cause,) = (found for found in trial.cause.chain() if found.code == "bad_file")
    assert (cause.parameters["node"], cause.parameters["file"]) == (name, file)


@pytest.mark.parametrize("name", CLOSED)
def test_a_payload_that_closes_its_folder_fails_its_own_trial(ended: Ended, name: str) -> None:
    trial = ended.trial(name)
    assert trial.state is State.FAILED
    assert trial.cause.mentions("folder_closed", "bad_file")


@pytest.mark.parametrize("name", HARMLESS)
def test_a_trial_beside_them_succeeds(ended: Ended, name: str) -> None:
    assert ended.trial(name).state is State.SUCCEEDED


def test_no_process_of_them_is_left(ended: Ended) -> None:
    folders = list((ended.home / ".dlperf").glob("try-*/*"))
    assert len(folders) == len(CASES) + len(CLOSED) + len(HARMLESS)
    assert not [pid for folder in folders for pid in marked_pids(f"{folder.parent.name}/{folder.name}")]


def test_nothing_that_a_link_leads_to_is_archived(ended: Ended) -> None:
    archived = [path for path in ended.paths.directory.rglob("*") if path.is_file()]
    assert archived
    assert not [path for path in archived if SECRET.encode() in path.read_bytes()]
    assert not [path for path in archived if path.is_symlink() or "passwd" in path.name]


def test_a_name_that_is_not_utf_8_is_archived_escaped(ended: Ended) -> None:
    names = ended.files("utf8").digests()
    assert sorted(name.rpartition("/")[2] for name in names if "/ranks/" in name) == ["%5Cx5cxe9", "caf%5Cxe9"]

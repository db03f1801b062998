"""Train a small network with real launchers over four nodes; with torchrun also over two."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from counting_workspace import Counting, counting_workspace
from dlperf.render.launchers import find_launcher
from dlperf.runs.journal import campaign_status
from dlperf.runs.paths import TrialPaths
from node_lab import NodeLab, node_lab

__all__ = ["node_lab"]

PROGRAMS = Path(__file__).parents[1] / "data" / "training"
CASE = """\
id: small
title: Small
model: small
dataset: none
unit: images/s
precisions: [fp32]
batch_sizes: [32]
scales: [2n1g, 4n1g]
protocol: dlperf
"""


@dataclass(frozen=True)
class Stack:
    """A framework of these tests."""

    module: str
    program: str
    launcher: str
    env: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()


MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "GLOO_SOCKET_IFNAME": "eth0"}
MPI |= {"MASTER_ADDR": "{master_address}", "MASTER_PORT": "{master_port}", "OMPI_MCA_plm_rsh_args": "-F {config}"}
JAX = {"JAX_PLATFORMS": "cpu", "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo"}
PADDLE = {"PADDLE_DISTRI_BACKEND": "gloo"}
STACKS = {
    "torchrun": Stack("torch", "train_torch.py", "torchrun"),
    "mpirun": Stack("torch", "train_torch.py", "mpirun", MPI, ("--bind-to", "none")),
    "horovodrun": Stack("horovod", "train_horovod.py", "horovodrun", {}, ("--gloo", "--ssh-identity-file", "{key}")),
    "jax": Stack("jax", "train_jax.py", "jax", JAX),
    "paddle": Stack("paddle", "train_paddle.py", "paddle", PADDLE),
    "paddle-ips": Stack("paddle", "train_paddle.py", "paddle-ips", PADDLE),
}


def folder_with(module: str) -> Path:
    """The folder of a Python that has the module, the one that the variable names or this one; else skip."""
    variable = f"DLPERF_{module.upper()}_PYTHON"
    python = os.environ.get(variable, sys.executable)
    if subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"{python} has no {module}: set {variable} to a Python that has")
    return Path(python).parent


def training_workspace(folder: Path, lab: NodeLab, name: str, bin_folder: Path) -> Counting:
    """A workspace with one framework, which is started by the launcher in question, and the lab's nodes."""
    here, stack = counting_workspace(folder), STACKS[name]
    catalog = here.workspace.catalog
    for part in ("hardware", "cases"):
        (catalog / part).mkdir()
    nodes = [{"name": n.name, "host": n.address, "user": "root", "interface": "eth0"} for n in lab.nodes]
    write(catalog / "hardware" / "lab.yaml", id="lab", title="Four nodes", nodes=nodes)
    (catalog / "cases" / "small.yaml").write_text(CASE)
    env = {"PATH": f"{bin_folder}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1", **stack.env}
    programs = ["report.py", stack.program]
    from_first = not find_launcher(stack.launcher).everywhere
    where = {"{config}": str(lab.ssh_config), "{key}": str(lab.ssh_config.parent / "id_ed25519")}
    recipe = {
        "case": "small",
        "precisions": ["fp32"],
        "interpreter": [str(bin_folder / "python")],
        "command": [str(PROGRAMS / stack.program) if from_first else "{files}/" + stack.program],
        "files": [] if from_first else programs,
        "launcher": stack.launcher,
        "launcher_options": [where.get(word, word) for word in stack.options],
        "env": {key: value.replace("{config}", where["{config}"]) for key, value in env.items()},
        "deadline_seconds": 300,
    }
    framework = {"id": "stack", "title": name, "version": "1", "format": "dlperf", "devices": ["cpu"]}
    write(catalog / "frameworks" / "stack.yaml", **framework, recipes=[recipe])
    for program in programs:
        shutil.copy(PROGRAMS / program, catalog / "workloads" / program)
    return Counting(here.workspace, here.home, lab.operator)


def write(path: Path, **entry: object) -> None:
    """JSON is YAML."""
    path.write_text(json.dumps(entry))


@pytest.mark.timeout(1200)  # Horovod may still be built
@pytest.mark.parametrize("name", STACKS)
def test_a_small_network_is_trained_over_the_nodes(tmp_path, node_lab: NodeLab, name):
    if name == "mpirun" and shutil.which("mpirun") is None:
        pytest.skip("no mpirun on this machine (Debian: openmpi-bin)")
    here = training_workspace(tmp_path, node_lab, name, folder_with(STACKS[name].module))
    counts = (2, 4) if name == "torchrun" else (4,)
    scales = ",".join(f"{count}n1g" for count in counts)
    here.dlperf(
        "run", "-H", "lab", "-f", "stack", "-c", "small", "-g", scales, "--repeats", "1", "--name", "try", "--yes"
    )
    rows = json.loads(here.dlperf("results", "--campaign", "try", "--json").stdout)
    assert [(row["nodes"], row["status"], row["n"]) for row in rows] == [(count, "measured", 1) for count in counts]
    paths = here.campaign("try")
    for key, count in zip(sorted(campaign_status(paths).trials, key=str), counts, strict=True):
        ends = last_lines(paths.trial(key))
        assert [line[:5] for line in ends] == [[str(r), "of", str(count), "on", f"n{r + 1}"] for r in range(count)]
        assert len({tuple(line[-3:]) for line in ends}) == 1


def last_lines(trial: TrialPaths) -> list[list[str]]:
    """The words of every rank's last line, by rank, from whichever log holds it."""
    logs = [log.read_text() for node in trial.nodes() for log in node.logs()]
    found = {line.partition("rank ")[2] for log in logs for line in log.splitlines() if " ends with weights " in line}
    return sorted((line.split() for line in found), key=lambda words: int(words[0]))

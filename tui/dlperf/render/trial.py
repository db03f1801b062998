"""Render a trial's launch into the files of each node, and whether it starts them."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import PurePosixPath

from dlperf.catalog.machines import Node, Preparation
from dlperf.errors import RequestError
from dlperf.plan.launch import COMPILE_CACHES
from dlperf.plan.model import Launch
from dlperf.render.containers import MARK_VARIABLE, ContainerCommand, in_container
from dlperf.render.launchers import Launcher, NodeLaunch, find_launcher
from dlperf.substitution import PlaceholderError, fill

LAUNCH = "launch.sh"
"""The script that the supervisor starts, with ``sh``, or with ``bash`` if there is a preparation."""
PAYLOAD = "payload.sh"
"""The script that ``launch.sh`` starts inside a container."""
BUILD = "build.sh"
"""The script that the supervisor runs with ``bash`` before the trial starts; its output is ``ranks/build.log``."""
CACHE = ".compiled"
"""Folder in which a trial keeps what it compiles, which its supervisor removes at the end."""
FACTS = "facts"
"""File in a build's folder: packages with versions, hashes of data."""
_KEY_DIGITS = 16
_FIND_MODULES = """\
for init in /etc/profile.d/*lmod*.sh /etc/profile.d/*modules*.sh "${MODULESHOME:-}/init/bash"; do
  if command -v module >/dev/null; then break; fi
  if [ -r "$init" ]; then . "$init" || true; fi
done
if ! command -v module >/dev/null; then
  echo "no command 'module' on $(uname -n): load the site's modules by lines of prologue" >&2; exit 1
fi"""
"""Defines the function ``module`` as a login shell would, which this one is not."""
_KEYWORDS = frozenset(["case", "do", "done", "elif", "else", "esac", "fi", "for", "if", "in", "then", "until", "while"])


@dataclass(frozen=True)
class Runtime:
    """The values that are known when a trial starts."""

    master_address: str
    """Of the first node, as the others reach it."""
    master_port: str
    """Free on the first node."""
    folders: Mapping[str, str]
    """Node name → absolute path of the trial's folder on that node."""
    programs: Mapping[str, bytes] = field(default_factory=dict)
    """Name of a recipe's file → its content."""
    trial: str = "1"
    """Number of the trial among those of its configuration, from the first seed."""


@dataclass(frozen=True)
class RenderedNode:
    """The files of one node."""

    files: dict[str, bytes]
    """Path below the trial's folder on the node → content."""
    start: bool
    """Whether ``launch.sh`` is started there, or another node reaches this one (mpirun, horovodrun)."""


def mark(trial_id: str, node: str) -> str:
    """The value of ``MARK_VARIABLE`` and of the container's label, by which the processes of a trial are found."""
    return f"{trial_id}/{node}"


def render_trial(trial_id: str, launch: Launch, runtime: Runtime) -> dict[str, RenderedNode]:
    """Render the files of every node, by node name.

    Raises:
        RequestError: a launcher or a container runtime is unknown.
    """
    launcher = find_launcher(launch.launcher)
    programs = {f"files/{name}": runtime.programs[name] for name in launch.files}
    rendered = {}
    for rank, node in enumerate(launch.nodes):
        start = launcher.everywhere or rank == 0
        scripts = _scripts(trial_id, launch, runtime, launcher, rank) if start else {}
        rendered[node.name] = RenderedNode(programs | scripts | _build_script(trial_id, launch, runtime, rank), start)
    return rendered


def _scripts(trial_id: str, launch: Launch, runtime: Runtime, launcher: Launcher, rank: int) -> dict[str, bytes]:
    node = launch.nodes[rank]
    folder, trial_mark = runtime.folders[node.name], mark(trial_id, node.name)
    values = _values(launch, runtime, rank)
    launch = launch.with_texts(partial(_filled, values))
    cache = _cache(trial_id, launch, folder)
    environment = _environment(trial_mark, launch, node, cache)
    task = NodeLaunch(launch, rank, environment, runtime.master_address, runtime.master_port, f"{folder}/ranks")
    command = launcher.words(task)
    comment = f"trial {trial_id}\nnode {node.name}, {rank + 1} of {len(launch.nodes)}"
    before_container, before_program = preparations(launch)
    if launch.container is None:
        workdir = launch.workdir or (f"{folder}/files" if launch.files else folder)
        return {LAUNCH: _script(comment, environment, before_container, workdir, launch.setup, command)}
    mounted = tuple(path for path in (values.get("build"), cache) if path and not path.startswith(f"{folder}/"))
    inside = _container_command(launch, trial_mark, folder, node, mounted)
    made = (("mkdir", "-p", cache),) if cache in mounted else ()
    return {
        LAUNCH: _script(comment, {}, before_container, None, made, inside),
        PAYLOAD: _script(comment, environment, before_program, None, launch.setup, command),
    }


@dataclass(frozen=True)
class Build:
    """What a trial needs to be built on a node, and from what."""

    prepared: tuple[str, ...]
    """Lines of bash that prepare the shell."""
    lines: tuple[str, ...]
    """Of the catalogue."""
    files: Mapping[str, bytes]
    """Name → content of the recipe's files."""

    @property
    def inputs(self) -> dict[str, bytes]:
        """The files that the lines name."""
        text = "\n".join(self.lines)
        return {
            name: data
            for name, data in self.files.items()
            if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text)
        }

    def folder(self, trial_folder: str) -> str:
        """Return its folder on the node, named by the content of all that goes into it."""
        digests = {name: sha256(data).hexdigest() for name, data in self.inputs.items()}
        content = json.dumps([self.prepared, self.lines, digests])
        key = sha256(content.encode()).hexdigest()[:_KEY_DIGITS]
        return str(PurePosixPath(trial_folder).parents[1] / "builds" / key)


def build_script(build: Build, trial_folder: str, comment: str) -> bytes:
    """Return the script, which does nothing where the folder is complete.

    A build that was cut off starts again, and of two at once the second waits: nodes may share their home folder. Where
    a line fails, ``build.failed`` gets the command. What the lines wrote into ``facts`` is printed for every trial.
    """
    folder = shlex.quote(build.folder(trial_folder))
    parent = shlex.quote(str(PurePosixPath(build.folder(trial_folder)).parent))
    facts = f"if [ -e {folder}/{FACTS} ]; then cat {folder}/{FACTS}; fi"
    lines = [
        *("#!/bin/bash", f"# build for {comment}", "set -eu"),
        *(f"mkdir -p {parent}", f"exec 9>{folder}.lock", "flock 9"),
        f"if [ -e {folder}.done ]; then echo used again: {folder}; {facts}; exit; fi",
        *(f"rm -rf {folder}", f"mkdir {folder}", f"cd {folder}"),
        *(f"cp -- {shlex.quote(f'{trial_folder}/files/{name}')} ." for name in build.inputs),
        *build.prepared,
        f"dlperf_failed={shlex.quote(f'{trial_folder}/build.failed')}",
        """trap 'code=$?; [ $code = 0 ] || printf %s "$BASH_COMMAND" >"$dlperf_failed"' EXIT""",
        *build.lines,
        facts,
        f"touch {folder}.done",
    ]
    return ("\n".join(lines) + "\n").encode()


def _build_script(trial_id: str, launch: Launch, runtime: Runtime, rank: int) -> dict[str, bytes]:
    """The script that builds on a node before anything starts there; none where nothing is to be built."""
    if not launch.build:
        return {}
    build, name = _build(launch, runtime), launch.nodes[rank].name
    return {BUILD: build_script(build, runtime.folders[name], f"trial {trial_id}, node {name}")}


def _build(launch: Launch, runtime: Runtime) -> Build:
    """What is built: on the node itself, also where the program runs in a container."""
    modules = () if launch.container else launch.program_preparation.modules
    prepared = (launch.node_preparation, Preparation(modules))
    preparing = (line for preparation in prepared if preparation for line in _preparing(preparation))
    files = {name: runtime.programs[name] for name in launch.files}
    return Build((*_exports(launch.machine_env), *preparing), launch.build, files)


def preparations(launch: Launch) -> tuple[tuple[Preparation, ...], tuple[Preparation, ...]]:
    """Return what ``launch.sh`` and what ``payload.sh`` does before anything else."""
    if launch.container is None:
        return (launch.node_preparation, launch.program_preparation), ()
    return (launch.node_preparation,), (launch.program_preparation,)


def shell_of(*prepared: Preparation) -> str:
    """Return the shell of a script: sites write modules and activations for bash."""
    return "bash" if any(prepared) else "sh"


def _filled(values: Mapping[str, str], text: str) -> str:
    try:
        return fill(text, values)
    except PlaceholderError as error:
        raise RequestError(f"placeholder {{{error.name}}} in {text!r} has no value: plan again") from error


def _values(launch: Launch, runtime: Runtime, rank: int) -> dict[str, str]:
    folder = runtime.folders[launch.nodes[rank].name]
    built = {"build": _build(launch, runtime).folder(folder)} if launch.build else {}
    return built | {
        "trial": runtime.trial,
        "files": f"{folder}/files",
        "ranks": f"{folder}/ranks",
        "node_rank": str(rank),
        "master_address": runtime.master_address,
        "master_port": runtime.master_port,
        "hosts": ",".join(node.address for node in launch.nodes),
    }


def _cache(trial_id: str, launch: Launch, folder: str) -> str:
    """Return the folder in which a trial keeps what it compiles; empty if the program chooses it."""
    if launch.compile_cache == "shared":
        key = sha256(trial_id.rpartition(".")[0].encode()).hexdigest()[:_KEY_DIGITS]
        return str(PurePosixPath(folder).parents[1] / "caches" / key)
    return f"{folder}/{CACHE}" if launch.compile_cache == "fresh" else ""


def _environment(trial_mark: str, launch: Launch, node: Node, cache: str) -> dict[str, str]:
    """dlperf's variables, which the catalogue may override, except for the mark."""
    environment = {"PYTHONUNBUFFERED": "1", "NCCL_DEBUG": "VERSION"}
    if node.gpu_indices and not launch.queued:  # the scheduler itself sets which GPUs a job gets
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, node.gpu_indices))
    if node.interface:
        environment |= {"NCCL_SOCKET_IFNAME": node.interface, "GLOO_SOCKET_IFNAME": node.interface}
    if cache:
        environment |= {name: f"{cache}/{name.partition('_')[0].lower()}" for name in COMPILE_CACHES}
    return environment | launch.env | {MARK_VARIABLE: trial_mark}


def _container_command(
    launch: Launch, trial_mark: str, folder: str, node: Node, mounted: Sequence[str]
) -> tuple[str, ...]:
    container = launch.container
    assert container is not None
    if container.runtime == "pyxis" and launch.executor != "slurm":
        raise RequestError("container runtime 'pyxis' belongs to Slurm: name another as `runtime:` of the hardware")
    workdir = launch.workdir or container.workdir
    container = replace(container, mounts={path: path for path in mounted} | container.mounts)
    payload = (shell_of(*preparations(launch)[1]), f"{folder}/{PAYLOAD}")
    return in_container(ContainerCommand(container, trial_mark, folder, bool(node.gpu_indices), workdir, payload))


def _script(
    comment: str,
    environment: Mapping[str, str],
    prepared: Sequence[Preparation],
    folder: str | None,
    setup: Sequence[Sequence[str]],
    command: Sequence[str],
) -> bytes:
    """A script that sets the environment, prepares, enters a folder, runs the setup, and becomes the command."""
    lines = [f"#!/bin/{shell_of(*prepared)}", *(f"# {line}" for line in comment.splitlines()), "set -eu"]
    lines += _exports(environment)
    lines += [line for preparation in prepared if preparation for line in _preparing(preparation)]
    lines += [f"cd {shlex.quote(folder)}"] if folder else []
    lines += [_simple_command(words) for words in setup]
    lines.append(f"exec {shlex.join(command)}")
    return ("\n".join(lines) + "\n").encode()


def _exports(variables: Mapping[str, str]) -> list[str]:
    return [f"export {shlex.quote(name)}={shlex.quote(value)}" for name, value in variables.items()]


def _preparing(preparation: Preparation) -> list[str]:
    """Lines of bash; a site's own scripts may use unset variables."""
    loading = [_FIND_MODULES, f"module load {shlex.join(preparation.modules)}"] if preparation.modules else []
    return ["set +u", *loading, *preparation.prologue]


def _simple_command(words: Sequence[str]) -> str:
    """Quote words as one command, whose first word is never a keyword of the shell or an assignment."""
    first, *rest = words
    literal = f"'{first}'" if first in _KEYWORDS or ("=" in first and "'" not in first) else shlex.quote(first)
    return " ".join([literal, *map(shlex.quote, rest)])

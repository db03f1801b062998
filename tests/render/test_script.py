"""The scripts under a real shell: whatever stands in a catalogue arrives as data."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dlperf.catalog import entry, machines
from dlperf.errors import RequestError
from dlperf.plan import Container, Launch, Node, Preparation
from dlperf.plan.hiding import Hidden, revealed
from dlperf.plan.subject import STARTED_ONCE
from dlperf.render.containers import RUNTIMES
from dlperf.render.launchers import LAUNCHERS
from dlperf.render.trial import Runtime, render_trial
from dlperf.substitution import fill

REPORT = "import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]))"
NASTY = """'; touch owned; echo $(id) `id` $HOME "\\ * ? ~ & | < > ! # \n newline \t tab é 中 { } {{steps}} -n --"""

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)
NAME = st.from_regex(r"[A-Z_][A-Z0-9_]{0,8}", fullmatch=True).map(lambda name: f"X{name}")


def escaped(text: str) -> str:
    """The text as a catalogue's author writes it: a placeholder's name needs doubled braces."""
    return fill("{x}", {"x": text}, is_last=False)


def launch_of(*command: str, **fields) -> Launch:
    node = Node("node", "local", "localhost", "127.0.0.1", gpu_indices=(2, 5), interface="eth 0")
    launch = Launch(
        executor="direct",
        nodes=(node,),
        gpus=2,
        launcher="plain",
        interpreter=(sys.executable, "-c", REPORT),
        command=command,
    )
    return replace(launch, **fields)


def write_files(launch: Launch, folder: Path, trial_id: str = "T") -> None:
    runtime = Runtime("127.0.0.1", "20001", {"node": str(folder)}, {"train.py": b"print(1)\n"})
    for path, data in render_trial(trial_id, launch, runtime)["node"].files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def run(launch: Launch, folder: Path, trial_id: str = "T", **environment: str):
    folder.mkdir(exist_ok=True)
    write_files(launch, folder, trial_id)
    done = subprocess.run(
        ["sh", folder / "launch.sh"],
        stdout=subprocess.PIPE,
        check=True,
        cwd="/",
        env={"PATH": os.environ["PATH"], **environment},
    )
    return json.loads(done.stdout)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arguments=st.lists(TEXT, max_size=4), environment=st.dictionaries(NAME, TEXT, max_size=3), setup=TEXT)
def test_arguments_and_environment_arrive_as_they_are_written(tmp_path, arguments, environment, setup):
    launch = launch_of(
        *map(escaped, arguments),
        env={name: escaped(value) for name, value in environment.items()},
        setup=((sys.executable, "-c", "import sys; assert len(sys.argv) == 2", escaped(setup)),),
    )
    words, variables, _ = run(launch, tmp_path / "trial")
    assert words == arguments
    assert environment.items() <= variables.items()


def test_shell_characters_in_every_field_are_data(tmp_path):
    workdir = tmp_path / NASTY.replace("/", "")
    workdir.mkdir()
    launch = launch_of(escaped(NASTY), env={"X": escaped(NASTY)}, workdir=escaped(str(workdir)))
    words, variables, here = run(launch, tmp_path / NASTY.replace("/", "-"), trial_id=NASTY)
    assert words == [NASTY]
    assert variables["X"] == NASTY
    assert variables["DLPERF_TRIAL"] == f"{NASTY}/node"
    assert here == str(workdir)
    assert not list(tmp_path.rglob("owned"))


def test_the_program_finds_mark_gpus_and_interface_in_its_environment(tmp_path):
    _, variables, _ = run(launch_of(), tmp_path / "trial")
    assert variables["DLPERF_TRIAL"] == "T/node"
    assert variables["CUDA_VISIBLE_DEVICES"] == "2,5"
    assert variables["NCCL_SOCKET_IFNAME"] == variables["GLOO_SOCKET_IFNAME"] == "eth 0"
    assert variables["PYTHONUNBUFFERED"] == "1"


def test_the_catalogue_may_set_any_variable_but_the_mark(tmp_path):
    launch = launch_of(env={"DLPERF_TRIAL": "stolen", "NCCL_DEBUG": "INFO"})
    _, variables, _ = run(launch, tmp_path / "trial")
    assert variables["DLPERF_TRIAL"] == "T/node"
    assert variables["NCCL_DEBUG"] == "INFO"


def test_a_node_without_gpus_does_not_hide_any(tmp_path):
    launch = launch_of()
    cpu = replace(launch, nodes=(replace(launch.nodes[0], gpu_indices=(), interface=None),))
    _, variables, _ = run(cpu, tmp_path / "trial")
    assert not {"CUDA_VISIBLE_DEVICES", "NCCL_SOCKET_IFNAME"} & variables.keys()


def test_programs_lie_in_files_and_the_trial_starts_there(tmp_path):
    _, _, here = run(launch_of(files=("train.py",)), tmp_path / "trial")
    assert here == str(tmp_path / "trial" / "files")
    assert (tmp_path / "trial" / "files" / "train.py").read_bytes() == b"print(1)\n"


def test_a_failed_preparation_ends_the_trial(tmp_path):
    (tmp_path / "trial").mkdir()
    write_files(launch_of(setup=(("false",),)), tmp_path / "trial")
    done = subprocess.run(["sh", tmp_path / "trial" / "launch.sh"], stdout=subprocess.PIPE, check=False)
    assert (done.returncode, done.stdout) == (1, b"")


@pytest.mark.parametrize("word", ["X=1", "if", "exit=", "'=", "$(touch owned)"])
def test_a_preparation_is_a_command_never_syntax(tmp_path, word):
    (tmp_path / "trial").mkdir()
    write_files(launch_of(setup=((word,),)), tmp_path / "trial")
    done = subprocess.run(["sh", tmp_path / "trial" / "launch.sh"], capture_output=True, check=False, cwd=tmp_path)
    assert done.returncode == 127
    assert b"not found" in done.stderr


CONTAINER = Container(
    runtime="docker",
    image="image:1",
    mounts={'/data, "x"': "/data"},
    user="1000:1000",
    workdir="/w d",
    options=("--opt", escaped(NASTY)),
)

SHOW_ARGUMENTS = f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n"


@pytest.fixture
def runtimes(tmp_path):
    """Commands in place of the container runtimes, which print their arguments."""
    for name in ("docker", "podman", "apptainer"):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(SHOW_ARGUMENTS)
        (tmp_path / "bin" / name).chmod(0o755)
    return f"{tmp_path / 'bin'}:{os.environ['PATH']}"


@pytest.mark.parametrize("runtime", ["docker", "podman"])
def test_a_container_gets_the_trials_folder_its_mounts_and_its_mark(tmp_path, runtimes, runtime):
    folder = tmp_path / "trial"
    launch = launch_of(escaped(NASTY), container=replace(CONTAINER, runtime=runtime))
    words = run(launch, folder, PATH=runtimes)
    mounts = [words[index + 1] for index, word in enumerate(words) if word == "--mount"]
    assert mounts == [f"type=bind,source={folder},target={folder}", 'type=bind,"source=/data, ""x""",target=/data']
    assert words[words.index("--label") + 1] == "dlperf.trial=T/node"
    assert words[words.index("--user") + 1] == "1000:1000"
    assert words[words.index("--workdir") + 1] == "/w d"
    assert words[words.index("--opt") + 1] == NASTY
    assert words[-3:] == ["image:1", "sh", f"{folder}/payload.sh"]


def test_inside_the_container_the_program_is_started_as_it_would_be_outside(tmp_path, runtimes):
    folder = tmp_path / "trial"
    words = run(launch_of(escaped(NASTY), container=CONTAINER), folder, PATH=runtimes)
    inside = subprocess.run(words[-2:], stdout=subprocess.PIPE, check=True, cwd=tmp_path)
    arguments, variables, here = json.loads(inside.stdout)
    assert arguments == [NASTY]
    assert variables["DLPERF_TRIAL"] == "T/node"
    assert here == str(tmp_path)


def test_jax_starts_one_process_for_each_gpu_and_passes_a_failure_on(tmp_path):
    line = "' '.join([os.environ['JAX_PROCESS_ID'], os.environ['JAX_LOCAL_DEVICE_IDS'], sys.argv[1]]) + '\\n'"
    report = f"import os, sys; os.write(1, ({line}).encode())"
    launch = launch_of("a b", launcher="jax", interpreter=(sys.executable, "-c", report))
    (tmp_path / "trial").mkdir()
    write_files(launch, tmp_path / "trial")
    done = subprocess.run(["sh", tmp_path / "trial" / "launch.sh"], stdout=subprocess.PIPE, text=True, check=True)
    assert sorted(done.stdout.splitlines()) == ["0 0 a b", "1 1 a b"]
    failing = "import os, sys; sys.exit(3 * int(os.environ['JAX_PROCESS_ID']))"
    write_files(replace(launch, interpreter=(sys.executable, "-c", failing)), tmp_path / "trial")
    assert subprocess.run(["sh", tmp_path / "trial" / "launch.sh"], check=False).returncode == 3


def test_each_trial_of_a_configuration_is_given_its_number():
    runtime = Runtime("127.0.0.1", "20001", {"node": "/a"}, trial="3")
    files = render_trial("T", launch_of("--seed", "{trial}"), runtime)["node"].files
    assert files["launch.sh"].decode().splitlines()[-1].endswith(" --seed 3")


def caches_of(trial: str, kept: str) -> dict[str, str]:
    runtime = Runtime("127.0.0.1", "20001", {"node": f"/home/u/.dlperf/{trial}/node"})
    script = render_trial(trial, launch_of(compile_cache=kept), runtime)["node"].files["launch.sh"].decode()
    return dict(re.findall(r"^export (\w+_CACHE\w*)=(.*)$", script, re.MULTILINE))


def test_what_is_compiled_is_kept_for_one_trial_or_for_all_of_a_configuration():
    assert caches_of("c.x.1", "own") == {}
    fresh = caches_of("c.x.1", "fresh")
    assert fresh["TRITON_CACHE_DIR"] == "/home/u/.dlperf/c.x.1/node/.compiled/triton"
    assert len(set(fresh.values())) == 4
    shared, other = caches_of("c.x.1", "shared"), caches_of("c.y.1", "shared")
    assert shared["CUDA_CACHE_PATH"].startswith("/home/u/.dlperf/caches/")
    assert shared == caches_of("c.x.2", "shared")
    assert set(shared.values()).isdisjoint(other.values())


def test_a_shared_cache_is_made_on_the_node_and_mounted_in_the_container():
    launch = launch_of(compile_cache="shared", container=Container("image", "podman"))
    files = render_trial("c.x.1", launch, Runtime("127.0.0.1", "1", {"node": "/h/c.x.1/node"}))["node"].files
    (cache,) = re.findall(r"^mkdir -p (/h/caches/\w+)$", files["launch.sh"].decode(), re.MULTILINE)
    assert f"source={cache},target={cache}" in files["launch.sh"].decode()
    assert f"TRITON_CACHE_DIR={cache}/triton" in files["payload.sh"].decode()


def test_a_launcher_that_starts_once_leaves_the_other_nodes_their_programs_only():
    first = launch_of(launcher="mpirun", files=("train.py",))
    launch = replace(first, nodes=(first.nodes[0], replace(first.nodes[0], name="second")))
    runtime = Runtime("127.0.0.1", "20001", {"node": "/a", "second": "/b"}, {"train.py": b""})
    rendered = render_trial("T", launch, runtime)
    assert (rendered["node"].start, rendered["second"].start) == (True, False)
    assert list(rendered["second"].files) == ["files/train.py"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"launcher": "srun"}, "unknown launcher 'srun': known are horovodrun, jax"),
        ({"command": ("{step}",)}, "placeholder {step} in '{step}' has no value: plan again"),
        ({"container": replace(CONTAINER, runtime="pyxis")}, "container runtime 'pyxis' belongs to Slurm"),
    ],
)
def test_what_cannot_be_rendered_is_said_in_one_line(fields, message):
    with pytest.raises(RequestError) as caught:
        render_trial("T", replace(launch_of(), **fields), Runtime("127.0.0.1", "1", {"node": "/a"}))
    assert str(caught.value).startswith(message)


def test_the_catalogue_names_the_launchers_and_runtimes_that_there_are():
    assert set(get_args(entry.LauncherName)) == LAUNCHERS.keys()
    assert set(get_args(machines.Runtime)) - {"none"} == RUNTIMES.keys()
    assert LAUNCHERS.keys() >= STARTED_ONCE


def test_a_machine_prepares_itself_before_the_container_and_a_framework_inside_it(tmp_path):
    launch = launch_of("train.py", container=Container("image", "podman"))
    launch = replace(
        launch,
        node_preparation=Preparation(("podman/5",), ("ulimit -l unlimited",)),
        program_preparation=Preparation((), ("source /opt/venv/bin/activate",)),
    )
    files = render_trial("t", launch, Runtime("127.0.0.1", "1", {"node": str(tmp_path)}))["node"].files
    outside, inside = files["launch.sh"].decode(), files["payload.sh"].decode()
    assert "module load podman/5\nulimit -l unlimited\nexec podman run" in outside
    assert f"bash {tmp_path}/payload.sh" in outside
    assert "module" not in inside
    assert "\nsource /opt/venv/bin/activate\nexec " in inside


def test_a_build_is_on_the_node_and_its_folder_in_the_container(tmp_path):
    folder = tmp_path / "trial" / "node"
    launch = launch_of("{build}/train", container=Container("image", "podman"), build=("make",))
    files = render_trial("t", launch, Runtime("127.0.0.1", "1", {"node": str(folder)}))["node"].files
    (built,) = re.findall(r"^cd (.*)$", files["build.sh"].decode(), re.MULTILINE)
    assert Path(built).parent == tmp_path / "builds"
    assert f"--mount type=bind,source={built},target={built}" in files["launch.sh"].decode()
    assert f"{built}/train" in files["payload.sh"].decode()


def test_a_build_runs_with_the_machine_s_own_path_and_another_path_is_another_build(tmp_path):
    made = {}
    for path in ("/opt/one/bin:/usr/bin:/bin", "/opt/two/bin:/usr/bin:/bin"):
        launch = replace(launch_of("train", build=("make",)), env={"PATH": path, "XLA": "x"}, runtime_env=("PATH",))
        files = render_trial("t", launch, Runtime("127.0.0.1", "1", {"node": str(tmp_path / "trial/node")}))[
            "node"
        ].files
        script = files["build.sh"].decode()
        assert f"export PATH={path}\n" in script
        assert "XLA" not in script
        made[path] = re.findall(r"^cd (.*)$", script, re.MULTILINE)
    assert len(set(map(tuple, made.values()))) == 2


def test_a_secret_of_a_prologue_is_kept_apart_and_comes_back_on_the_node(tmp_path):
    line = "export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz0123456789"
    launch = launch_of("train.py", program_preparation=Preparation((), (line,)), build=(line,))
    hidden = Hidden()
    kept = hidden.launch(launch)
    assert "hf_abc" not in repr(kept)
    assert revealed(kept, hidden.values) == launch

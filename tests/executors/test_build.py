"""Builds: what the lines of ``build`` of framework and case leave on a node, before its first trial."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from trials import LOCAL, local_nodes, run_to_end, shell_trial

from dlperf.plan import Container
from dlperf.runs.records import State
from podman_lab import IMAGE


@pytest.fixture
def built(tmp_path):
    """A function that makes a trial whose program is built by lines of bash."""

    def trial(*lines, program="cat {build}/made", nodes=(LOCAL,), **fields):
        plain = shell_trial(tmp_path, program, nodes)
        return replace(plain, launch=replace(plain.launch, build=lines, **fields))

    return trial


def node_of(trial):
    return trial.paths.node("here")


async def test_lines_are_built_once_on_a_node_and_again_where_one_of_them_changes(executor, home, built):
    lines = ("echo x >>$HOME/builds", "echo compiling", "wc -l <$HOME/builds >made")
    trials = [built(*lines), built(*lines), built(*lines, "true")]
    printed = []
    for trial in trials:
        assert (await run_to_end(executor, trial)).state is State.SUCCEEDED
        printed.append(node_of(trial).log.read_text())
    assert printed == ["1\n", "1\n", "2\n"]
    logs = [(node_of(trial).ranks / "build.log").read_text() for trial in trials]
    assert [log.partition(":")[0] for log in logs] == ["compiling\n", "used again", "compiling\n"]


async def test_the_time_of_a_build_is_not_measured_and_has_its_own_deadline(executor, built):
    trial = built("sleep 1.2", "touch made", program="sleep 1; cat {build}/made", deadline_seconds=2.0)
    assert (await run_to_end(executor, trial)).state is State.SUCCEEDED
    assert json.loads(node_of(trial).exit.read_text())["duration_seconds"] < 2.0


async def test_an_image_that_is_built_has_the_room_for_temporary_files_of_the_node(executor, built, tmp_path):
    trial = built("printenv TMPDIR >made", program="cat {build}/made; printenv TMPDIR")
    await run_to_end(executor, trial)
    of_node, of_trial = node_of(trial).log.read_text().splitlines()
    assert of_node == str(tmp_path)
    assert of_trial.startswith(f"{tmp_path}/dlperf-")


@pytest.fixture
def odd_home(tmp_path, monkeypatch):
    """A home folder whose path a shell must quote."""
    folder = tmp_path / "o'dd $HOME"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


async def test_a_build_that_fails_names_its_command_and_is_not_used_again(executor, odd_home, built):
    trials = [built("cd /", 'echo x >>"$HOME/builds"', 'test -e "$HOME/key"', "touch made") for _ in range(2)]
    for trial in trials:
        seen = await run_to_end(executor, trial)
        assert seen.state is State.FAILED
        assert str(seen.cause) == 'the build failed at: test -e "$HOME/key" (exit code 1)'
        assert not node_of(trial).log.exists()
    assert (odd_home / "builds").read_text() == "x\nx\n"


async def test_the_command_of_a_build_that_fails_is_cut_between_words_where_it_is_long(executor, built):
    seen = await run_to_end(executor, built("false " + "word " * 2000))
    assert seen.cause.code == "build_failed"
    assert seen.cause.parameters["command"].startswith("false word word")
    assert seen.cause.parameters["command"].endswith(" word …")


async def test_a_build_uses_the_files_of_the_recipe_that_it_names_and_changes_with_them(
    executor, home, built, tmp_path
):
    (tmp_path / "catalog" / "workloads").mkdir(parents=True)
    executor._workspace_catalog = tmp_path / "catalog"
    for name, text, expected in (("a.txt", "1", "1"), ("a.txt", "2", "2"), ("b.txt", "9", "2")):
        (tmp_path / "catalog" / "workloads" / "b.txt").touch()
        (tmp_path / "catalog" / "workloads" / name).write_text(text)
        trial = built("cp a.txt made", files=("a.txt", "b.txt"))
        assert (await run_to_end(executor, trial)).state is State.SUCCEEDED
        assert node_of(trial).log.read_text() == expected
    assert len([path for path in (home / ".dlperf" / "builds").iterdir() if path.is_dir()]) == 2


async def test_nodes_that_share_their_home_folder_build_once(executor, home, built):
    trial = built("echo x >>$HOME/builds", "sleep 0.3", "echo done >made", nodes=local_nodes(2), launcher="jax")
    assert (await run_to_end(executor, trial)).state is State.SUCCEEDED
    assert (home / "builds").read_text() == "x\n"
    assert [trial.paths.node(name).log.read_text() for name in ("node0", "node1")] == ["done\n"] * 2


async def test_an_image_is_built_before_the_container_starts(executor, podman, built):
    image = Container("localhost/dlperf-built:1", "podman")
    lines = (f"printf 'FROM {IMAGE}\\nENV MADE=here\\n' >Containerfile", "podman build -t localhost/dlperf-built:1 .")
    trial = built(*lines, program="echo $MADE; ls {build}", container=image)
    assert (await run_to_end(executor, trial)).state is State.SUCCEEDED
    assert node_of(trial).log.read_text() == "here\nContainerfile\n"

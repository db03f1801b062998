"""Files of a workspace are opened through one door, which follows no link."""

from __future__ import annotations

import ast
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import dlperf
from dlperf.opening import (
    copy_tree,
    files_below,
    is_plain,
    is_regular,
    make_folder,
    open_regular,
    private_writer,
    read_bytes,
    writer,
)
from odd_folders import folders_in_folders

ROOT = Path(dlperf.__file__).parent
ELSEWHERE = ("workloads/", "nodes/supervisor/")
"""Run on nodes."""
OPENING = re.compile(
    r"(.*\.)?(open|read_text|read_bytes|write_text|write_bytes|FileSystemLoader)|os\.link|shutil\.copy(file|tree|2)?",
    re.DOTALL,
)
"""What opens a file by its name."""
ALLOWED = {
    "opening.py": "the door",
    "app/notices.py": "writes the report of a crash to a temporary file",
    "app/model/machines/entry.py": "writes to a temporary folder",
    "app/settings.py": "the user's own settings",
    "bundles/pack.py": "reads a bundle that the operator names",
    "campaign/fetching.py": "writes to a temporary folder",
    "cli/__init__.py": "the standard streams",
    "evidence/log_table.py": "a table that the operator names",
    "messages/language.py": "a file of the package",
    "nodes/agent_channel.py": "a channel to a machine",
    "nodes/bootstrap.py": "files of the package",
    "nodes/known_hosts.py": "~/.ssh",
    "report/ci.py": "templates of the package",
    "report/files/editions.py": "pages of the site that was just built",
    "report/files/search.py": "pages of the site that was just built",
    "report/site/settings.py": "files of the package",
    "report/templating.py": "templates of the package",
    "report/site/serve.py": "pages of the site, after a check of its own",
    "table/columns.py": "writes a file that the operator names",
    "table/database.py": "writes a file that the operator names",
    "view/http.py": "an address",
    "view/program/shipping.py": "a program that the operator names",
}
"""Modules that open something else than a file of a workspace."""


def _openings(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and OPENING.fullmatch(name := ast.unparse(node.func)):
            yield name, node


def _is_allowed(name: str, call: ast.Call) -> bool:
    """Whether a call goes through the door, or is about a file of the package."""
    openers = [ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg == "opener"]
    by_door = name == "read_bytes" or any(word.startswith(("writer", "private_writer")) for word in openers)
    return by_door or "__file__" in ast.unparse(call) or name.partition(".")[0].isupper()


def test_nothing_else_opens_a_file_of_a_workspace():
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(ELSEWHERE) and name not in ALLOWED:
            calls = [(kind, call) for kind, call in _openings(path) if not _is_allowed(kind, call)]
            found += [f"{name}:{call.lineno} {kind}" for kind, call in calls]
    assert found == []


def test_every_exception_is_needed():
    assert [name for name in ALLOWED if all(_is_allowed(*call) for call in _openings(ROOT / name))] == []


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "private" / "secret"
    path.parent.mkdir()
    path.write_text("secret")
    return path


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace" / "runs" / "campaign"
    folder.mkdir(parents=True)
    (folder / "file").write_text("content")
    return tmp_path / "workspace"


def _link_at(path: Path, target: Path) -> None:
    path.rename(path.with_name("before")) if path.exists() else None
    path.symlink_to(target)


@pytest.mark.parametrize("depth", range(3))
def test_a_link_at_any_part_of_a_name_is_not_followed(workspace: Path, secret: Path, depth: int):
    name = workspace / "runs" / "campaign" / "file"
    assert (read_bytes(name), is_regular(name), is_plain(name)) == (b"content", True, True)
    part = [name, *name.parents][depth]
    below = name.relative_to(part) if part != name else Path()
    away = secret.parent / "tree"
    (away / below).parent.mkdir(parents=True, exist_ok=True)
    (away / below if depth else secret).write_text("secret")
    _link_at(part, away if depth else secret)
    with pytest.raises(OSError, match="links in a workspace are not followed"):
        open_regular(name)
    with pytest.raises(OSError, match="links in a workspace are not followed"):
        os.close(writer(str(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
    assert not is_regular(name)
    assert "secret" in {path.read_text() for path in secret.parent.rglob("*") if path.is_file()}
    assert list(files_below(name.parent)) in ([], [name.with_name("before")])


def test_a_name_that_leads_out_of_its_folder_is_not_opened(workspace: Path, secret: Path):
    name = workspace / "runs" / ".." / ".." / "private" / "secret"
    assert name.read_text() == "secret"
    assert not is_regular(name)
    with pytest.raises(OSError, match="not followed"):
        open_regular(name)
    with pytest.raises(OSError, match="not followed"):
        os.close(writer(str(name), os.O_WRONLY))
    assert list(files_below(name.parent)) == []


def test_nothing_is_made_behind_a_link(workspace: Path, secret: Path):
    _link_at(workspace / "runs", secret.parent)
    for opener in (writer, private_writer):
        with pytest.raises(OSError, match="not followed"):
            os.close(opener(str(workspace / "runs" / "new"), os.O_WRONLY | os.O_CREAT))
    for folder, anew in (("new", True), ("new", False), ("new/deeper", True), ("", False)):
        with pytest.raises(OSError, match="not followed"):
            make_folder(workspace / "runs" / folder, anew=anew)
    assert sorted(path.name for path in secret.parent.iterdir()) == ["secret"]


def test_a_copy_of_a_folder_has_no_links(workspace: Path, secret: Path, tmp_path: Path):
    (workspace / "runs" / "link").symlink_to(secret)
    (workspace / "runs" / "folder").symlink_to(secret.parent)
    copy_tree(workspace / "runs", tmp_path / "copy")
    assert sorted(path.name for path in (tmp_path / "copy").rglob("*")) == ["campaign", "file"]
    with pytest.raises(OSError, match="not followed"):
        copy_tree(workspace / "runs" / "folder", tmp_path / "another")


def test_a_file_that_is_replaced_again_and_again_is_read(tmp_path: Path):
    path, done = tmp_path / "record", threading.Event()
    path.write_text("x")

    def replace() -> None:
        while not done.is_set():
            new = tmp_path / "new"
            new.write_text("x")
            new.replace(path)

    replacing = threading.Thread(target=replace)
    replacing.start()
    try:
        assert {read_bytes(path) for _ in range(3000)} == {b"x"}
    finally:
        done.set()
        replacing.join()


@pytest.mark.parametrize("trap", ["fifo", "folder", "nothing"])
def test_what_is_no_file_is_not_opened(tmp_path: Path, trap: str):
    path = tmp_path / trap
    {"fifo": lambda: os.mkfifo(path), "folder": path.mkdir, "nothing": lambda: None}[trap]()
    with pytest.raises(OSError, match=r"regular file|No such file"):
        open_regular(path)


def test_a_file_that_is_nearly_all_holes_is_not_read(tmp_path: Path):
    (tmp_path / "hollow").touch()
    os.truncate(tmp_path / "hollow", 1 << 40)
    with pytest.raises(OSError, match="nearly all of it is holes"):
        open_regular(tmp_path / "hollow")


def test_what_lies_very_deep_is_not_looked_at(tmp_path: Path):
    deep, other = tmp_path / "deep", tmp_path / "other"
    deep.mkdir()
    other.mkdir()
    with folders_in_folders(deep, 1200), folders_in_folders(other, 9):
        assert list(files_below(deep)) == []
        copy_tree(deep, tmp_path / "copy")
        copy_tree(other, tmp_path / "another")
    assert [path.name for path in files_below(tmp_path / "another")] == ["file"]


def test_a_folder_is_made_once(tmp_path: Path):
    make_folder(tmp_path / "a" / "b", anew=True)
    make_folder(tmp_path / "a" / "b")
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "a" / "b", anew=True)

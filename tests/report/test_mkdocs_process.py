"""MkDocs, loaded once and building several sites side by side."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import yaml

COMMAND = [sys.executable, "-m", "dlperf.report.mkdocs_process"]


def mkdocs_site(folder: Path, name: str, nav: str = "index.md", pages: int = 1) -> list[str]:
    """Arguments of ``mkdocs`` that build a small site."""
    docs = folder / name / "docs"
    docs.mkdir(parents=True)
    for number in range(pages):
        (docs / (f"page-{number}.md" if number else "index.md")).write_text(f"# {name} {number}\n")
    config = folder / name / "mkdocs.yml"
    config.write_text(
        yaml.safe_dump({"site_name": name, "nav": [{"Home": nav}], "validation": {"omitted_files": "info"}})
    )
    return ["build", "--strict", "--config-file", str(config), "--site-dir", str(folder / name / "html")]


def test_every_site_is_built_and_tells_its_own_warnings(tmp_path: Path) -> None:
    sites = [mkdocs_site(tmp_path, "whole"), mkdocs_site(tmp_path, "broken", nav="missing.md")]
    done = subprocess.run(COMMAND, input=f"{json.dumps(sites)}\n", capture_output=True, text=True, check=True)
    (whole, said), (broken, warned) = json.loads(done.stdout)
    assert (whole, broken) == (0, 1)
    assert "WARNING" not in said
    assert "missing.md" in warned
    assert "whole 0" in (tmp_path / "whole/html/index.html").read_text()


def test_without_a_site_to_build_it_ends() -> None:
    done = subprocess.run(COMMAND, input="", capture_output=True, text=True, check=True)
    assert done.stdout == done.stderr == ""


def test_ended_while_it_builds_it_leaves_no_process(tmp_path: Path) -> None:
    sites = [mkdocs_site(tmp_path, name, pages=300) for name in ("one", "two")]
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        process.stdin.write(f"{json.dumps(sites)}\n")
        process.stdin.flush()
        while not list(tmp_path.glob("*/html")):
            time.sleep(0.01)
        started = [
            pid for tasks in Path(f"/proc/{process.pid}/task").glob("*/children") for pid in tasks.read_text().split()
        ]
        process.terminate()
        process.wait()
        assert [pid for pid in started if Path(f"/proc/{pid}").exists()] == []

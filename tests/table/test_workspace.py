"""``dlperf.Workspace``: the Python API."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dlperf import DlperfError, Workspace
from dlperf.errors import RequestError
from dlperf.plan import Selection
from handmade_trials import measured_campaign, planned, workspace_in


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    folder = workspace_in(tmp_path / "w")
    measured_campaign(folder, "a", [(planned(1), [100.0, 101.0, 99.0]), (planned(2), [190.0, 191.0, 189.0])])
    measured_campaign(folder, "b", [(planned(1), [90.0, 91.0, 89.0])])
    return Workspace(folder.root)


def test_one_value_and_several_make_the_same_selection_as_the_options():
    one = Workspace.select(hardware="local", case=["a", "b"], batch_size=8, gpus="2n8g", axes={"length": [1, 2]})
    assert one == Selection(("local",), (), ("a", "b"), (), (8,), ("2n8g",), axes=("length=1", "length=2"))


def test_results_are_filtered_by_selection_and_campaign(workspace: Workspace):
    assert workspace.results(campaigns="b")["value"].tolist() == pytest.approx([90.0])
    assert workspace.results(workspace.select(gpus="2"))["campaign"].tolist() == ["a"]
    assert len(workspace.results(campaigns=["a", "b"])) == 3
    with pytest.raises(RequestError, match="no such campaign"):
        workspace.results(campaigns="c")


def test_two_campaigns_are_compared(workspace: Workspace):
    found = workspace.compare("a", "b")
    assert [pair.ratio for pair in found.pairs] == pytest.approx([0.9])
    assert [item.row.gpus for item in found.only_a] == [2]


def test_what_cannot_be_read_is_an_error_unless_it_is_to_be_left_out(workspace: Workspace):
    workspace.paths.campaign("a").plan.write_text("{")
    with pytest.raises(DlperfError, match="not a campaign"):
        workspace.results()
    problems: list[object] = []
    assert len(Workspace(workspace.paths.root, problems.append).results()) == 1
    assert len(problems) == 1


def test_an_unknown_id_is_an_error_of_the_plan(workspace: Workspace):
    with pytest.raises(RequestError, match="did you mean local"):
        workspace.plan(workspace.select(hardware="locl"))


def test_importing_dlperf_imports_nothing_else():
    """Every command imports the package: its start would be slower."""
    program = "import sys, dlperf; sys.exit(any(name.startswith('dlperf.') for name in sys.modules))"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_name_that_the_package_does_not_have_is_an_attribute_error():
    import dlperf

    with pytest.raises(AttributeError, match="load_results"):
        _ = dlperf.load_results

"""Caveats of trials whose program had a fault that was found later."""

from __future__ import annotations

import pytest

from dlperf.evidence.logs import BUILTIN_FORMATS, log_reader
from dlperf.measured.findings.program_faults import UNFAIR, Fault, findings_of_programs, known_faults
from dlperf.runs.paths import WorkspacePaths
from dlperf.table.load import load_campaign
from dlperf.verdicts.claims import claim
from dlperf.verification.verify import verify_campaign
from guide_pages import ROOT

KERNELS = "pytorch_kernels.py"
FAULTY = "3f37d23f4f9e8d1f34263f809738fe9eabb5cc73136389d7485f03ef9107ab63"
WITHDRAWN = (
    *("h100-gpt2-124m-bf16", "h100-vgg16-bf16-dropout", "h100-arcface-bf16-5", "h200-arcface-bf16"),
    *("h100-resnet50-bf16-corrected-5", "h200-resnet50-bf16-corrected-5", "h200-tuned-gpt2-124m"),
    *("h100-tuned-resnet50-gpu0", "h100-tuned-vgg16-gpu0"),
)
"""Campaigns that gave claims of version 0.2, and two of programs that were not yet tuned alike."""
COMPILED = ("pytorch_vision.py", "--model", "resnet50", "--compile", "default")


def test_a_trial_that_ran_a_faulty_program_has_its_caveat():
    (finding,) = findings_of_programs({KERNELS: FAULTY, "options.py": "0" * 64}, COMPILED)
    assert (finding.code, finding.severity) == ("stem_not_trained", "warning")
    assert "kept its initial weights" in str(finding.message)


@pytest.mark.parametrize(
    ("programs", "command"),
    [
        ({KERNELS: "0" * 64}, COMPILED),
        ({"other.py": FAULTY}, COMPILED),
        ({}, COMPILED),
        ({KERNELS: FAULTY}, ("pytorch_vision.py", "--model", "resnet50")),
        ({KERNELS: FAULTY}, ("pytorch_vision.py", "--model", "vgg16", "--compile", "default")),
    ],
)
def test_a_trial_that_the_fault_did_not_reach_has_none(programs: dict[str, str], command: tuple[str, ...]):
    assert not findings_of_programs(programs, command)


@pytest.mark.parametrize("campaign", WITHDRAWN)
def test_no_claim_rests_on_a_program_that_was_tuned_less_than_its_rival(campaign: str):
    (_, rows) = load_campaign(WorkspacePaths(ROOT).campaign(campaign), lambda: BUILTIN_FORMATS)
    a, b = [row for row in rows if row.value][:2]
    assert UNFAIR & {finding.code for row in (a, b) for finding in row.caveats}
    assert claim(a, b).verdict.code == "cannot_tell"


@pytest.mark.parametrize("lacking", [fault for fault in known_faults() if fault.without], ids=lambda fault: fault.code)
def test_what_its_command_asks_for_is_no_fault_of_a_program(lacking: Fault):
    programs = {lacking.file: lacking.sha256[0]}
    assert lacking.code in [finding.code for finding in findings_of_programs(programs, lacking.command)]
    for word in lacking.without:
        found = findings_of_programs(programs, (*lacking.command, word))
        assert lacking.code not in [finding.code for finding in found]


@pytest.mark.parametrize(("gpus", "compiled", "faulty"), [(4, "yes", True), (1, "yes", False), (4, "regional", False)])
def test_compiling_the_whole_model_is_a_caveat_where_layers_are_gathered(gpus: int, compiled: str, faulty: bool):
    (fault,) = [fault for fault in known_faults() if fault.several_gpus]
    found = findings_of_programs({fault.file: fault.sha256[0]}, ("--compile", compiled), gpus)
    assert bool(found) is faulty


def test_a_fault_found_later_changes_no_kept_result():
    paths = WorkspacePaths(ROOT).campaign("h100-tuned-vgg16-gpu0")
    assert not verify_campaign(paths, log_reader(WorkspacePaths(ROOT))).differences
    _, rows = load_campaign(paths, lambda: BUILTIN_FORMATS)
    codes = [[finding.code for finding in row.caveats].count("search_not_tried") for row in rows]
    assert codes == [row.framework == "pytorch-compiled" for row in rows]


def test_every_fault_names_whole_hashes():
    assert all(len(digest) == 64 for fault in known_faults() for digest in fault.sha256)

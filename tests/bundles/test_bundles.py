"""A campaign is sent as one file, and accepted without trust in anything in it."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import subprocess
import tarfile
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from dlperf.bundles import pack
from dlperf.bundles.accept import accept_bundle
from dlperf.bundles.share import share_campaign
from dlperf.catalog.files.load import Catalog, load_catalog
from dlperf.errors import DlperfError, RequestError
from dlperf.evidence.logs import BUILTIN_FORMATS
from dlperf.plan import PlannedAccelerator, TrialKey
from dlperf.plan.model import Version
from dlperf.report.site.locations import file_download
from dlperf.runs.archive import keep_sent
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.records import State
from dlperf.runs.store import read_campaign
from dlperf.table.load import load_results
from dlperf.verification.verify import verify_campaign
from handmade_trials import end_trial, measured_campaign, own_log, planned, workspace_in, write_planned

HOSTILE = tomllib.loads((Path(__file__).parent / "hostile.toml").read_text("utf-8"))
WORKFLOW = yaml.safe_load((Path(__file__).parents[2] / ".github/workflows/bundle.yml").read_text("utf-8"))
TRIAL = f"{planned().configuration.id}/1"
SECRET = "hf_" + "Ab1" * 12


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture
def here(tmp_path: Path) -> WorkspacePaths:
    return workspace_in(tmp_path / "here")


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> Mapping[str, bytes]:
    """The files of a good bundle."""
    folder = tmp_path_factory.mktemp("good")
    measured_campaign(workspace_in(folder), "a", [(planned(repeats=1), [80.0])])
    share_campaign(WorkspacePaths(folder).campaign("a"), folder / "a.tar.gz", BUILTIN_FORMATS)
    return contents(folder / "a.tar.gz")


def contents(bundle: Path) -> dict[str, bytes]:
    with tarfile.open(bundle) as archive:
        return {item.name: archive.extractfile(item).read() for item in archive}  # type: ignore[union-attr]


def packed(files: Mapping[str, bytes], *more: tuple[tarfile.TarInfo, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", format=tarfile.GNU_FORMAT) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info, data in more:
            archive.fileobj.write(info.tobuf(tarfile.GNU_FORMAT) + data + b"\0" * (-len(data) % 512))  # type: ignore[union-attr]
    return stream.getvalue()


def accept(here: WorkspacePaths, catalog: Catalog, bundle: bytes, sender: str = "Ada") -> CampaignPaths:
    file = here.root / "sent.tar.gz"
    file.write_bytes(bundle)
    return here.campaign(accept_bundle(here, file, sender, "", catalog, BUILTIN_FORMATS).campaign)


def refused(here: WorkspacePaths, catalog: Catalog, bundle: bytes, refusal: str) -> None:
    around = sorted(here.root.parent.glob("*"))
    with pytest.raises(DlperfError, match=r"(?s).*") as raised:
        accept(here, catalog, bundle)
    assert refusal in str(raised.value)
    assert "\n" not in str(raised.value)
    assert [path for path in here.runs.rglob("*") if path.is_file()] == []
    assert sorted(here.root.parent.glob("*")) == around


@pytest.mark.parametrize("case", HOSTILE["member"], ids=lambda case: case["case"])
def test_a_bundle_with_a_file_that_none_has_is_refused(here, catalog, good, case: dict[str, Any]):
    info, data = tarfile.TarInfo(case["name"].replace("{trial}", TRIAL)), case.get("content", "x").encode()
    info.type, info.linkname = case.get("type", "0").encode(), case.get("link", "")
    data = b"" if case.get("type", "0") in "12346" else data
    info.size = case.get("size", len(data))
    refused(here, catalog, packed(good, (info, data)), case["refusal"])


def edited(files: dict[str, bytes], case: dict[str, Any]) -> dict[str, bytes]:
    name = case["file"].replace("{trial}", TRIAL)
    before = files[name]
    if source := case.get("source"):
        record = json.loads(before)
        files[name] = json.dumps(with_source(record, source)).encode()
    elif case.get("packs"):
        files[name] = gzip.compress(before)
    else:
        files[name] = before.replace(case["old"].encode(), case["new"].encode() * case.get("repeats", 1), 1)
    assert files[name] != before
    if case.get("seals"):
        for old, new in zip(facts(before), facts(files[name]), strict=True):
            for record in (f"{TRIAL}/archive.json", f"{TRIAL}/result.json"):
                files[record] = files[record].replace(old, new)
    return files


def facts(data: bytes) -> tuple[bytes, bytes]:
    return hashlib.sha256(data).hexdigest().encode(), b'"size": %d,' % len(data)


def with_source(record: dict[str, Any], source: str) -> dict[str, Any]:
    """Return an archive whose ``trial.json`` names another source, with its hash."""
    (entry,) = (item for item in record["files"] if item["path"] == "trial.json")
    text = json.dumps(json.loads(record["texts"].pop(entry["sha256"])) | {"source": source})
    entry["sha256"], entry["size"] = hashlib.sha256(text.encode()).hexdigest(), len(text)
    record["texts"][entry["sha256"]] = text
    return record


@pytest.mark.parametrize("case", HOSTILE["edit"], ids=lambda case: case["case"])
def test_a_bundle_that_is_not_what_its_logs_give_is_refused(here, catalog, good, case: dict[str, Any]):
    refused(here, catalog, packed(edited(dict(good), case)), case["refusal"])


@pytest.mark.parametrize(
    ("bundle", "refusal"),
    [
        (b"", "no bundle"),
        (b"PK\3\4", "no bundle"),
        (gzip.compress(b""), "cut off"),
        (gzip.compress(b"x" * 512), "invalid header"),
    ],
    ids=["nothing", "another archive", "an empty archive", "no headers"],
)
def test_what_is_no_bundle_is_refused(here, catalog, bundle: bytes, refusal: str):
    refused(here, catalog, bundle, refusal)


def test_a_bundle_that_is_cut_off_is_refused(here, catalog, good):
    whole = packed(good)
    refused(here, catalog, whole[: len(whole) // 2], "no bundle, or a damaged one")


def test_a_bomb_of_bytes_or_of_files_ends_at_a_bound(here, catalog, good, monkeypatch):
    bundle = packed({"campaign.json": good["campaign.json"]} | {f"objects/{n:064x}": bytes(1 << 20) for n in range(4)})
    monkeypatch.setattr(pack, "MOST_TOTAL", 2 << 20)
    refused(here, catalog, bundle, "more than 2 MiB when unpacked")
    monkeypatch.setattr(pack, "MOST_TOTAL", 9 << 20)
    monkeypatch.setattr(pack, "MOST_FILES", 3)
    refused(here, catalog, bundle, "more than 3 files")


@pytest.mark.parametrize("sender", ["", " ", "Ada\n<b>", "\u202eadA", "x" * 81])
def test_a_sender_has_a_name_that_can_be_shown(here, catalog, good, sender: str):
    with pytest.raises(RequestError, match="--from"):
        accept(here, catalog, packed(good), sender)


def test_an_accepted_bundle_is_somebodys_results_and_verifies(here, catalog, good):
    campaign = accept(here, catalog, packed(good))
    (row,) = load_results(here)
    assert (row.value, row.source, row.date) == (pytest.approx(80.0), "sent by Ada", "2026-01-31")
    assert verify_campaign(campaign, BUILTIN_FORMATS).differences == ()
    with pytest.raises(RequestError, match="exists already"):
        accept(here, catalog, packed(good))


def test_what_another_version_computed_differently_is_written_as_it_is_computed_here(here, catalog, good):
    result = f"{TRIAL}/result.json"
    record = json.loads(good[result])
    forged = json.dumps(record | {"samples": 9_999_999}).encode()
    campaign = accept(here, catalog, packed(good | {result: forged}))
    (row,) = load_results(here)
    assert row.trials[0].samples == record["samples"]
    assert verify_campaign(campaign, BUILTIN_FORMATS).differences == ()


def test_constants_and_commands_of_a_sender_count_for_nothing(here, catalog, tmp_path):
    """Peaks, arithmetic and prices are those of the catalogue here; nothing can be started or checked out."""
    there = workspace_in(tmp_path / "there")
    item = planned(repeats=1, gflops_per_sample=1e9)
    launch = replace(
        item.launch, env={"LD_PRELOAD": "evil.so"}, setup=(("evil",),), build=("evil",), files=("evil.py",)
    )
    item = replace(
        item, launch=launch, accelerator=PlannedAccelerator("mine", {"fp32": 1.0}), version=Version("v", "c")
    )
    sent = measured_campaign(there, "a", [(item, [80.0])])
    share_campaign(sent, tmp_path / "a.tar.gz", BUILTIN_FORMATS)
    text = contents(tmp_path / "a.tar.gz")
    plan = json.loads(text["campaign.json"])
    plan["configurations"][0] |= {"launch": json.loads(sent.plan.read_text())["configurations"][0]["launch"]}
    bundle = packed(text | {"campaign.json": json.dumps(plan).encode()})
    (kept,) = read_campaign(accept(here, catalog, bundle)).configurations
    assert kept.launch.imported
    assert (kept.launch.env, kept.launch.setup, kept.launch.build, kept.launch.files, kept.version) == (
        {},
        (),
        (),
        (),
        None,
    )
    (row,) = load_results(here)
    assert row.value == pytest.approx(80.0)
    assert (row.mfu, kept.price) == (None, None)


def test_what_was_sent_runs_only_on_a_machine_that_is_named(counting, catalog, tmp_path):
    there = workspace_in(tmp_path / "there")
    item = planned(repeats=2)
    sent = measured_campaign(there, "a", [(item, [80.0])])
    end_trial(sent, item, 2, {"n0/out.log": "boom\n"}, State.FAILED)
    share_campaign(sent, tmp_path / "a.tar.gz", BUILTIN_FORMATS)
    counting.dlperf("accept", str(tmp_path / "a.tar.gz"), "--from", "Ada")
    done = counting.run("retry", "a")
    assert done.returncode != 0, done
    assert "imported" in done.stderr
    done = counting.dlperf("reproduce", f"a/{item.configuration.id}", code=2)
    assert "the catalogue has no hardware 'here' and no protocol 'test'" in done.stderr
    assert "add -H MACHINE and --protocol PROTOCOL" in done.stderr


def test_a_bundle_has_no_secrets_and_no_names_of_people(tmp_path, here, catalog):
    there = workspace_in(tmp_path / "there")
    log = own_log(80.0).replace("DLPERF", f"loaded /home/ada/data with HF_TOKEN={SECRET}\nDLPERF", 1)
    sizes = [log.index("samples=160"), log.index("samples=400"), len(log)]
    files = {
        "n0/out.log": log,
        "n0/out.times": "seconds,size,log\n" + "".join(f"{n},{size},out.log\n" for n, size in enumerate(sizes)),
    }
    sent = write_planned(there, "a", [planned(repeats=1)])
    keep_sent(sent.trial(TrialKey(planned().configuration.id, 1)), {"n0/launch.sh": b"cd /home/ada/.dlperf/t/n0\n"})
    end_trial(sent, planned(repeats=1), 1, files)
    found = share_campaign(sent, tmp_path / "a.tar.gz", BUILTIN_FORMATS)
    assert {item.kind for item in found} == {"suspected", "private"}
    inside = contents(tmp_path / "a.tar.gz")
    assert [name for name, data in inside.items() if SECRET.encode() in data or b"/home/ada" in data] == []
    rows = inside[f"{TRIAL}/nodes/n0/out.times"].decode().splitlines()[1:]
    lines = [inside[f"{TRIAL}/nodes/n0/out.log"][: int(row.split(",")[1])].count(b"\n") for row in rows]
    assert lines == [log[:size].count("\n") for size in sizes]
    accept(here, catalog, (tmp_path / "a.tar.gz").read_bytes())


def test_what_was_imported_changed_or_not_ended_is_not_shared(tmp_path, here, catalog, good):
    there = workspace_in(tmp_path / "there")
    running = measured_campaign(there, "b", [(planned(repeats=2), [80.0])])
    changed = measured_campaign(there, "c", [(planned(repeats=1), [80.0])])
    next(changed.directory.glob("*/1/nodes/n0/out.log")).write_text(own_log(90.0))
    for campaign, why in (
        (accept(here, catalog, packed(good)), "share what you measured"),
        (running, "not all of its trials have ended"),
        (changed, "out.log changed"),
    ):
        with pytest.raises(RequestError, match=why):
            share_campaign(campaign, tmp_path / "x.tar.gz", BUILTIN_FORMATS)
        assert not (tmp_path / "x.tar.gz").exists()


def test_no_bundle_is_written_behind_a_link_that_has_its_name(tmp_path, here):
    there = workspace_in(tmp_path / "there")
    sent = measured_campaign(there, "a", [(planned(repeats=1), [80.0])])
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "a.tar.gz").symlink_to(tmp_path / "mine")
    with pytest.raises(DlperfError, match="links in a workspace are not followed"):
        share_campaign(sent, tmp_path / "a.tar.gz", BUILTIN_FORMATS)
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"bundles/a.tar.gz": "x"}, 0),
        ({"bundles/a.tar.gz": "x", "tui/dlperf/cli.py": "x"}, 1),
        ({"bundles/a.tar.gz": "x", "bundles/b.tar.gz": "x"}, 1),
        ({"bundles/kept.tar.gz": "y"}, 1),
        ({"bundles/-o.tar.gz": "x"}, 1),
    ],
)
def test_the_workflow_takes_one_new_bundle_and_nothing_else(tmp_path, changes: Mapping[str, str], code: int):
    (step,) = [step for step in WORKFLOW["jobs"]["accept"]["steps"] if "git diff" in step.get("run", "")]
    for files in ({"bundles/kept.tar.gz": "x"}, changes):
        for name, text in files.items():
            (tmp_path / "r" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "r" / name).write_text(text)
        lines = "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm x"
        subprocess.run(["sh", "-c", lines], cwd=tmp_path / "r", check=True)
    environment = {**os.environ, "RUNNER_TEMP": str(tmp_path)}
    done = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path / "r", env=environment, check=False)
    assert done.returncode == code


def test_a_file_of_a_trial_that_a_browser_would_run_is_offered_as_text():
    names = ("train.py", "page.html", "picture.svg", "x.js", "environment.json")
    assert [file_download("0", name).rpartition(".")[2] for name in names] == ["txt", "txt", "txt", "txt", "json"]

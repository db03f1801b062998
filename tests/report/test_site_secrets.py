"""A site shows no secret, no home folder and no user name of what its trials left."""

from __future__ import annotations

import json
import re

import pytest

from dlperf.errors import DlperfError
from dlperf.report.build import write_pages
from dlperf.report.load import load_site_data
from dlperf.report.redaction import refuse_leaks, report_lines, without_secrets
from dlperf.report.site.lists.acknowledged import read_acknowledged, without_acknowledged
from dlperf.report.site.writing import Sources
from planted_secrets import PRINTED, leaks, planted_workspace

RUN = ("run", "-H", "local", "-f", "counting", "-c", "lenet5", "-b", "32,64", "--repeats", "1", "--name", "try")


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    here = planted_workspace(tmp_path_factory.mktemp("planted"))
    here.fail(64)
    here.dlperf(*RUN, code=1)
    return here, write_pages(here.workspace, load_site_data(here.workspace))


def everything(workspace) -> str:
    return "\n".join(path.read_text(errors="replace") for path in workspace.site.rglob("*") if path.is_file())


def test_no_planted_secret_is_in_any_file(published):
    here, _ = published
    assert leaks(here.workspace.site) == []
    assert "[secret:HF_TOKEN]" in everything(here.workspace)


def test_home_folders_and_user_names_are_replaced(published):
    here, _ = published
    text = everything(here.workspace)
    assert str(here.home) not in text
    assert "~/.dlperf/" in text


def test_a_page_says_which_of_its_files_were_redacted(published):
    here, _ = published
    pages = (here.workspace.site_build / "docs/results/configurations").rglob("*.md")
    said = [re.search("the published copy has another hash: ([^<]*)[.]", page.read_text()) for page in pages]
    assert any(found and "launch.sh" in found[1] for found in said)


def test_hashes_numbers_and_figures_stay_as_they_are(published):
    here, _ = published
    text = everything(here.workspace)
    assert "commit 2315d04f0a1b2c3d4e5f60718293a4b5c6d7e8f9, GPU-6f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0" in text
    assert "step=120 epoch=0 samples=3840 loss=1 throughput=32" in text
    rows = json.loads((here.workspace.site_build / "docs/data/results.json").read_text())["results"]
    logs = {trial["log_sha256"] for row in rows for trial in row["trials"]}
    assert all((here.workspace.site_build / f"data/logs/{log}.log.txt").is_file() for log in logs if log)


def test_a_build_lists_what_it_redacted_and_strict_refuses_unknown_secrets(published):
    _, sources = published
    lines = report_lines(sources.redacted, ())
    assert any(line.startswith("redacted: secret HF_TOKEN: data/") for line in lines)
    assert any("github-token, which looks like a secret" in line for line in lines)
    with pytest.raises(DlperfError, match="suspected secrets: github-token in data/"):
        refuse_leaks(sources.redacted, ())


def test_what_looks_like_a_secret_may_be_acknowledged_file_by_file_with_a_reason(published, tmp_path):
    _, sources = published
    suspected = {item: files for item, files in sources.redacted.items() if item.kind == "suspected"}
    pairs = sorted((item.name, file) for item, files in suspected.items() for file in files)
    entries = [f"- what: {what}\n  file: {file}\n  reason: an example of the program\n" for what, file in pairs]
    path = tmp_path / "acknowledged.yaml"
    path.write_text("".join(entries))
    refuse_leaks(without_acknowledged(suspected, read_acknowledged(path)), ())
    path.write_text("".join(entries[1:]) or "[]")
    with pytest.raises(DlperfError, match=" in ".join(map(re.escape, pairs[0]))):
        refuse_leaks(without_acknowledged(suspected, read_acknowledged(path)), ())
    path.write_text(entries[0].replace("an example of the program", "''"))
    with pytest.raises(DlperfError, match=r"acknowledged\.yaml:3: reason: "):
        read_acknowledged(path)


def test_a_campaign_whose_secrets_are_elsewhere_is_named(published):
    here, _ = published
    data = load_site_data(here.workspace)
    assert without_secrets(here.workspace, data.campaigns) == []
    path = here.campaign("try").directory / "secrets.json"
    elsewhere = path.rename(path.with_name("elsewhere"))
    unknown = without_secrets(here.workspace, data.campaigns)
    elsewhere.rename(path)
    with pytest.raises(DlperfError, match=r"try without secrets\.json"):
        refuse_leaks({}, unknown)


@pytest.mark.parametrize("content", [b"[" * 100_000, b"{}]", b'{"[secret:HF_TOKEN]": 1}'])
def test_a_campaign_whose_secrets_are_damaged_is_left_out(published, content):
    here, _ = published
    path = here.campaign("try").directory / "secrets.json"
    whole = path.read_bytes()
    path.write_bytes(content)
    data = load_site_data(here.workspace)
    path.write_bytes(whole)
    assert "try" not in data.campaigns
    assert f"left out: {path}: damaged" in "\n".join(data.problems)


def test_a_secret_is_found_wherever_a_long_line_is_cut_into_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("dlperf.report.redaction.BLOCK", 64)
    for before in range(64):
        log = tmp_path / f"{before}.log"
        log.write_bytes(b"x" * before + f" {PRINTED} ".encode() * 3)
        Sources(tmp_path / "site").copy(f"data/logs/{before}", log)
        assert (tmp_path / "site/data/logs" / str(before)).read_bytes() == log.read_bytes().replace(
            PRINTED.encode(), b"[secret:github-token]"
        )

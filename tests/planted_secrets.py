"""A workspace whose catalogue states secrets, and whose program prints them: what must stay on the node."""

from __future__ import annotations

from pathlib import Path

from counting_workspace import Counting, counting_workspace
from dlperf.runs.archive import TrialFiles
from dlperf.runs.paths import NodePaths, WorkspacePaths

SECRETS = {
    "HF_TOKEN": "hf_QmZ3kR9tY7wLx2VbN8sD4fGh",
    "DB_PASSWORD": 'it\'s <p&ss> "wörd"',
    "LICENCE": "plain-but-listed",
    "RANDOM": "q8Zr2LmX9vTb4KsW7nYc",
    "option": "s3cr3t/option",
    "separate": "tok-77c1e0b2aa",
    "url": "url-p4ssw0rd",
    "shell": "inner9shell8word7",
    "short": "pw",
}
PRINTED = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
"""A token that no entry of the catalogue states."""
FRAMEWORK = """\
id: counting
title: Counting
version: "1"
format: dlperf
devices: [cpu]
secret: [licence, pin]
env:
  HF_TOKEN: {HF_TOKEN}
  DB_PASSWORD: '{DB_PASSWORD}'
  LICENCE: {LICENCE}
  RANDOM_ID: {RANDOM}
  SOURCE: https://reader:{url}@example.org/data
  PIN: {short}
  TOKENIZERS_PARALLELISM: "false"
  PAD_TOKEN: "<pad>"
recipes:
  - case: lenet5
    precisions: [fp32]
    scales: [1n1g]
    interpreter: [sh]
    command:
      ["{{files}}/count.sh", "{{batch_size}}", "--password={option}", --api-key, {separate}, "--max-token", "4096"]
    setup: [[sh, -c, "SERVICE_TOKEN={shell} true"]]
    files: [count.sh]
"""
SCRIPT = """\
env
echo "arguments: $*"
echo "{{\\"token\\": \\"$HF_TOKEN\\", \\"db\\": \\"$DB_PASSWORD\\"}}"
echo "cloned with {printed} into /home/alice/data by alice@gpu-1 at $HOME/.dlperf/x"
echo "commit 2315d04f0a1b2c3d4e5f60718293a4b5c6d7e8f9, GPU-6f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
step=0
while [ $step -lt 120 ]; do
    step=$((step + 10))
    echo "token $HF_TOKEN $5 password $DB_PASSWORD {printed}"
    echo "DLPERF 2026-01-01T00:0$((step / 60)):$(printf %02d $((step % 60))).000000Z" \\
        "step=$step epoch=0 samples=$((step * $1)) loss=1 throughput=$1"
done
[ -e "$HOME/fail-$1" ] || exit 0
echo "RuntimeError: denied for $HF_TOKEN with {printed} at $HOME/train.py" >&2
exit 7
"""


def planted_workspace(folder: Path) -> Counting:
    """Make a workspace whose trials hold and print the secrets."""
    here = counting_workspace(folder)
    values = SECRETS | {"DB_PASSWORD": SECRETS["DB_PASSWORD"].replace("'", "''")}
    catalog = here.workspace.catalog
    (catalog / "frameworks" / "counting.yaml").write_text(FRAMEWORK.format(**values))
    (catalog / "workloads" / "count.sh").write_text(SCRIPT.format(printed=PRINTED))
    return Counting(here.workspace, here.home)


def spellings(value: str) -> list[bytes]:
    """How a value may be written in a file, as far as the tests search."""
    return [text.encode() for text in {value, value.replace('"', '\\"'), value.replace("&", "&amp;")}]


def leaks(folder: Path, exempt: frozenset[str] = frozenset()) -> list[str]:
    """Every file and planted value that is in it; a value of two letters is searched after its name."""
    searched = {name: value for name, value in (SECRETS | {"printed": PRINTED}).items() if name != "short"}
    searched["short"] = f"PIN={SECRETS['short']}"
    return [
        f"{path.relative_to(folder)}: {name}"
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in exempt
        for name, value in searched.items()
        if any(spelling in path.read_bytes() for spelling in spellings(value))
    ]


def archived(workspace: WorkspacePaths, campaign: str) -> list[tuple[TrialFiles, NodePaths]]:
    """The files and the node of every trial of a campaign."""
    paths = workspace.campaign(campaign)
    files = [TrialFiles(paths.trial(key)) for key in _keys(paths)]
    return [(each, each.nodes()[0]) for each in files]


def _keys(paths):
    from dlperf.runs.journal import campaign_status

    return sorted(campaign_status(paths).trials)

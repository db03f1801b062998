"""A program of which tests run several versions: a shell script that says how fast it was."""

from __future__ import annotations

from counting_workspace import Counting

ENTRY = """\
id: mine
title: Mine
version: "1"
format: dlperf
devices: [cpu]
recipes:
  - case: lenet5
    precisions: [fp32]
    scales: [1n1g]
    interpreter: [sh]
    command: [train/count.sh, "{batch_size}"]
    workdir: FOLDER
"""
SCRIPT = """\
if [ -e "$HOME/broken" ]; then exit 7; fi
lines=
for step in 10 20 30 40 50 60 70 80 90 100 110 120; do
    lines="$lines
DLPERF 2026-01-01T00:0$((step / 60)):$((step % 60 / 10))0.000000Z\\
 step=$step epoch=0 samples=$((step * $1 / SLOWER)) loss=1 throughput=$(($1 / SLOWER))"
done
echo "$lines"
"""
WORDS = ("-H", "local", "-f", "mine", "-c", "lenet5", "-b", "32")


def program_entry(counting: Counting, what: str, *words: str) -> None:
    """Describe a framework whose program is a file of the workspace."""
    command = ", ".join(f'"{word}"' for word in ("{files}/count.sh", *words))
    text = ENTRY.replace("workdir: FOLDER", "files: [count.sh]").replace("recipes:", f"{what}\nrecipes:")
    text = text.replace('[train/count.sh, "{batch_size}"]', f"[{command}]")
    (counting.workspace.catalog / "frameworks" / "mine.yaml").write_text(text)

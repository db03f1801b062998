"""Contents of a new workspace besides its site: where campaigns go, and a place for its own catalogue."""

from __future__ import annotations

from pathlib import Path

from dlperf.errors import DlperfError
from dlperf.runs.store import write_atomic

HARDWARE_EXAMPLE = """\
# Your machine, as an entry of the catalogue. Name this file <id>.yaml, take the # away, and ask
# `dlperf catalog check` whether it is right and `dlperf check --hardware <id>` whether the machine is ready.
# `dlperf catalog hardware` lists the accelerators and machines that are known, `dlperf catalog show ID` shows one.
#
# id: my-v100
# title: Two machines with eight V100 each
# accelerator: v100-sxm2-16gb
# gpus_per_node: 8
# nodes:
#   - name: node1            # in messages and in folder names
#     host: gpu-node-1       # what ssh is given: an alias of ~/.ssh/config, a name or an address
#     interface: ib0         # for NCCL between the nodes
#   - name: node2
#     host: gpu-node-2
#     interface: ib0
# runtime: docker
# data:
#   imagenet: /data/imagenet # recipes say {data.imagenet}
"""

GITIGNORE = """\
# built by `dlperf build-site`
site/html/
site/docs/index.md
site/docs/results/
site/docs/data/
site/data/
site/docs/zh/index.md
site/docs/zh/results/
# what was measured is kept, whatever is ignored elsewhere
!runs/**/*.log
# an engine's own, while it runs; what can be derived again
runs/*/engine.lock
runs/*/engine.log
runs/*/progress.json
runs/.importing/
# the values of secrets in a campaign's plan
runs/*/secrets.json
"""

FILES = {
    ".gitignore": GITIGNORE,
    "catalog/hardware/example.yaml": HARDWARE_EXAMPLE,
    "runs/README.md": "One folder per campaign; `dlperf status` lists them, `dlperf verify` checks them.\n",
}


def create_runs(root: Path) -> list[str]:
    """Put the files into a workspace, where they are missing; the paths that were written.

    Raises:
        DlperfError: a folder cannot be made.
    """
    missing = {name: text for name, text in FILES.items() if not (root / name).exists()}
    for name, text in missing.items():
        write_atomic(root / name, text.encode())
    if not (root / "runs").is_dir():
        raise DlperfError(f"{root / 'runs'}: is no folder")
    return list(missing)

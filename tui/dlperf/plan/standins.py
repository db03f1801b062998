"""Stand-ins for what only Slurm tells when a job starts: which machines, which port, which GPUs.

They stand in a trial's scripts as any text does; the job's first steps (``nodes/supervisor/slurm_job.py``) put the real
values in their place. They are names below ``.invalid``, which no network resolves (RFC 2606), and need no quoting in a
shell.
"""

from __future__ import annotations

PORT = "port.dlperf.invalid"
"""A TCP port that is free on the first node."""
GPUS = "gpus.dlperf.invalid"
"""The GPUs that Slurm gives to a node, comma-separated."""
NODE = "node.dlperf.invalid"
"""The node's name in Slurm."""


def node_name(rank: int) -> str:
    """Names a node of a Slurm job before Slurm has chosen one."""
    return f"node{rank}"


def address(rank: int) -> str:
    """The address of that node."""
    return f"address{rank}.dlperf.invalid"

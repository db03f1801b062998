"""The scripts of a planned configuration, with example values for what a starting trial knows."""

from dlperf.plan.hiding import Hidden
from dlperf.plan.model import Launch
from dlperf.render.batch import BATCH, Batch, batch_script
from dlperf.render.trial import RenderedNode, Runtime, render_trial
from dlperf.substitution import PORT

TRIAL_ID = "TRIAL"
FOLDER = "/home/user/.dlperf/TRIAL"
SUPERVISOR = "/home/user/.dlperf/bin/supervisor.pyz"
MASTER_PORT = "23456"


def preview(launch: Launch) -> dict[str, RenderedNode]:
    """Render a trial named ``TRIAL`` in the home of ``user`` without secrets; programs are empty.

    Raises:
        RequestError: the launch cannot be rendered.
    """
    launch = Hidden().launch(launch)
    runtime = Runtime(
        master_address=launch.nodes[0].address,
        master_port=PORT if launch.queued else MASTER_PORT,
        folders={node.name: f"{FOLDER}/{node.name}" for node in launch.nodes},
        programs=dict.fromkeys(launch.files, b""),
    )
    return render_trial(TRIAL_ID, launch, runtime)


def preview_text(launch: Launch) -> str:
    """Return the scripts of every node as text."""
    text = "\n".join(_node_text(name, node) for name, node in preview(launch).items())
    if launch.executor != "slurm":
        return text
    script = batch_script(launch, Batch(TRIAL_ID, FOLDER, SUPERVISOR, ("python3",)))
    return f"=== {BATCH} is given to sbatch\n{script.decode()}\n{text}"


def _node_text(name: str, node: RenderedNode) -> str:
    started = "launch.sh is started" if node.start else "nothing is started, the first node reaches this one"
    files = [f"--- {path}\n{content.decode()}" for path, content in node.files.items()]
    return "".join([f"=== {name}: {started}\n", *files])

"""What runs on a node: the agent that answers the operator's machine, and the supervisor of one trial.

``dlperf.nodes.archive`` packs these modules into one file that Python runs as it is, and that file is copied to the
node, so that nothing need be installed there::

    supervisor.pyz agent         answers requests on stdin and stdout until stdin closes
    supervisor.pyz run DIR       starts what DIR/job.json says, watches it, writes DIR/exit.json last
    supervisor.pyz sweep DIR     ends what a supervisor that was killed left behind
    supervisor.pyz allocate DIR  in a Slurm job, once: writes what its allocation is into the scripts of all nodes
    supervisor.pyz task DIR      in a Slurm job, on each node: runs that node's share of the trial in DIR

Therefore: the standard library alone, Python 3.6 or newer, Linux; each other's modules by relative imports, at the top
of every module but ``main``, so that a supervisor that has started needs its file no more.
"""

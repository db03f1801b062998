"""What runs on a node: the agent that answers the operator's machine, and the supervisor of one trial.

``dlperf.nodes.bootstrap`` packs these modules into one executable zip that is copied to the node, so that nothing need
be installed there::

    supervisor.pyz agent         answers requests on stdin and stdout until stdin closes; forks supervisors
    supervisor.pyz run DIR       starts the payload of DIR/job.json, watches it, writes DIR/exit.json last
    supervisor.pyz allocate DIR  in a Slurm job, once: writes the job's addresses and port into the scripts of all nodes
    supervisor.pyz task DIR      in a Slurm job, on each node: runs that node's part of the trial in DIR

Therefore: only the standard library, Python 3.6 or newer, Linux; relative imports at the top of every module, so that
a supervisor that has started does not need its file any more.
"""

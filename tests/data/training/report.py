"""What every training program of these tests prints: dlperf's records on rank 0, and a last line on every rank."""

import datetime
import os

STEPS, BATCH = 120, 32


def record(rank, ranks, step, loss):
    if rank == 0 and step % 10 == 0:
        stamp = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        samples = step * BATCH * ranks
        say(f"DLPERF {stamp} step={step} epoch=0 samples={samples} loss={loss:.6f} throughput=1")


def end(rank, ranks, weights):
    host, digits = os.uname().nodename, " ".join(f"{weight:.5f}" for weight in weights)
    say(f"rank {rank} of {ranks} on {host} ends with weights {digits}")


def say(line):
    """In one write: ranks share a log, and a newline that comes on its own may come after another rank's line."""
    os.write(1, f"{line}\n".encode())

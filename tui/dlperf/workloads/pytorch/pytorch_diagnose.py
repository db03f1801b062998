"""Measure a machine in PyTorch: matrix products, memory, copies, all-reduce, disk.

See ``python pytorch_diagnose.py --help``. One process per GPU, all at once, as in training. The log has a line for each
rank. Needs PyTorch >= 2.4 and, in the same folder, pytorch_trainer.py, options.py and reporting.py.
"""

import functools
import json
import os
import shutil
import statistics
import tempfile
import time

from options import common, positive

MIB = 1 << 20
SIZES = {"1mb": 1, "16mb": 16, "256mb": 256, "1gb": 1024}
"""Messages of the all-reduce in MiB."""
PARTS = 5
"""Into which a measurement is divided: its value is their median."""


def options():
    parser = common(__doc__, ("bf16", "fp32"), "of the matrix products")
    parser.set_defaults(precision="bf16", steps=50, seconds=1)
    parser.add_argument(
        "--size", type=positive, default=8192, help="rows and columns of the matrices, on a CPU at most 512"
    )
    parser.add_argument("--mib", type=positive, default=1024, help="largest message or copy, on a CPU at most 64")
    parser.add_argument("--disk-mib", type=positive, default=1024, help="file that is written and read")
    return parser.parse_args()


if __name__ == "__main__":
    OPTIONS = options()  # before the framework loads: see options.py

import torch
import torch.distributed as dist
from pytorch_trainer import World
from reporting import print_line


def seconds_of(world, work, count):
    """Median seconds of a call over parts of ``count`` calls, which all ranks begin together."""
    for _ in range(max(1, count // PARTS)):
        work()
    spent = []
    for _ in range(PARTS):
        world.synchronize()
        if world.size > 1:
            dist.barrier()
        world.synchronize()
        start = time.perf_counter()
        for _ in range(max(1, count // PARTS)):
            work()
        world.synchronize()
        spent.append((time.perf_counter() - start) / max(1, count // PARTS))
    return statistics.median(spent)


def matrix_product(world, options):
    """TFLOP/s of products of square matrices."""
    dtype = {"bf16": torch.bfloat16, "fp32": torch.float32}[options.precision]
    a, b = (torch.randn(options.size, options.size, device=world.device, dtype=dtype) for _ in range(2))
    out = torch.empty_like(a)
    once = seconds_of(world, lambda: torch.mm(a, b, out=out), options.steps)
    count = max(options.steps, int(options.seconds / once))  # to the temperature and clock that training has, too
    seconds = seconds_of(world, lambda: torch.mm(a, b, out=out), count)
    return {"matrix_product": 2 * options.size**3 / seconds / 1e12}


def memory(world, options):
    """GB/s of copies inside the device's memory, which read and write each byte."""
    source = torch.zeros(options.mib * MIB, dtype=torch.uint8, device=world.device)
    target = torch.empty_like(source)
    seconds = seconds_of(world, lambda: target.copy_(source), options.steps)
    return {"memory_bandwidth": 2 * source.numel() / seconds / 1e9}


def host_copies(world, options):
    """GB/s from pinned memory of the host to the device, and back."""
    if world.device.type != "cuda":
        return {}
    host = torch.zeros(min(options.mib, 256) * MIB, dtype=torch.uint8, pin_memory=True)
    device = host.to(world.device)
    to_device = seconds_of(world, lambda: device.copy_(host, non_blocking=True), options.steps)
    to_host = seconds_of(world, lambda: host.copy_(device, non_blocking=True), options.steps)
    return {"host_to_device": host.numel() / to_device / 1e9, "device_to_host": host.numel() / to_host / 1e9}


def all_reduces(world, options):
    """Bus bandwidth in GB/s: bytes that each link must carry at least, 2 (n - 1) / n of the message, over time."""
    found = {}
    for name, mib in SIZES.items() if world.size > 1 else ():
        if mib <= options.mib:
            message = torch.zeros(mib * MIB // 4, device=world.device)
            seconds = seconds_of(world, functools.partial(dist.all_reduce, message), options.steps)
            found["all_reduce_" + name] = 2 * (world.size - 1) / world.size * mib * MIB / seconds / 1e9
    return found


def disk(options):
    """GB/s of a file in the folder of the trial, written to the disk and read from it."""
    block = os.urandom(16 * MIB)
    count = max(1, options.disk_mib // 16)
    if shutil.disk_usage(".").free < 4 * count * len(block):
        return {}
    with tempfile.TemporaryFile(dir=".") as file:
        start = time.perf_counter()
        for _ in range(count):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
        written = time.perf_counter() - start
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        file.seek(0)
        start = time.perf_counter()
        while file.read(len(block)):
            pass
        read = time.perf_counter() - start
    size = count * len(block) / 1e9
    return {"disk_write": size / written, "disk_read": size / read}


def main(options):
    world = World()
    if world.device.type == "cpu":
        options.size, options.mib = min(options.size, 512), min(options.mib, 64)
    facts = {"model": "node health", "framework": "pytorch", "framework_version": torch.__version__}
    facts.update(precision=options.precision, gpus=world.size, steps=world.size, data="synthetic")
    if world.rank == 0:
        print_line("run " + json.dumps(facts))
    found = matrix_product(world, options)
    for measure in (memory, host_copies, all_reduces):
        found.update(measure(world, options))
    if os.environ.get("LOCAL_RANK", "0") == "0":
        found.update(disk(options))
    everywhere = [found]
    if world.size > 1:
        everywhere = [None] * world.size
        dist.all_gather_object(everywhere, found)
    if world.rank == 0:
        for rank, values in enumerate(everywhere):
            print_line(f"step={rank + 1} " + " ".join(f"{name}={value:.6g}" for name, value in values.items()))
        print_line("summary {}")
    world.close()


if __name__ == "__main__":
    main(OPTIONS)

"""Summarize the trace of profiled training steps: kernels, their classes, idle time of the device.

Standard library only: this file is copied to the node with the program that uses it. Traces are in Chrome's format, as
PyTorch's and JAX's profilers write them; docs/files.md describes ``profile.json``.
"""

import gzip
import json
import os
import re
import shutil
import sys
import time
from collections import defaultdict

STEPS = 5
TRACE = "profile.trace.json.gz"
KERNELS = 25
"""Kernels in the summary, those with most time."""
TRACE_BYTES = 20_000_000
"""Size of a compressed trace above which it is not kept."""
CLASSES = (
    ("communication", r"nccl|gloo|c10d|all_?-?reduce|all_?-?gather|reduce_?-?scatter|rccl"),
    ("optimizer", r"adam|sgd|multi_tensor|_foreach|lamb_"),
    ("attention", r"flash|fmha|attention|sdpa"),
    ("copies", r"memcpy|memset|aten::copy_|aten::to$|aten::contiguous|^copy|_copy_kernel|transpose_fusion"),
    ("normalization and elementwise", r"^triton_(poi|red|per|for)_|batch_?norm|bn_fw|bn_bw|layer_?norm"),
    (
        "matrix products and convolutions",
        r"gemm|cutlass|matmul|xmma|nvjet|conv(?!ert)|wgrad|dgrad|winograd|dot|[:_](add|b|)mm",
    ),
    (
        "normalization and elementwise",
        r"norm|elementwise|vectorized|reduce|softmax|fusion|pool|aten::|^triton_|wrapped_",
    ),
)
"""Class and expression that finds it in a kernel's name; the first that matches counts."""
_EXPRESSIONS = [(name, re.compile(expression, re.IGNORECASE)) for name, expression in CLASSES]


def class_of(name):
    return next((kind for kind, expression in _EXPRESSIONS if expression.search(name)), "other")


def timed(step, synchronize):
    """Run so many steps and return milliseconds per step, to the end of the device's work."""
    synchronize()
    start = time.perf_counter()
    for _ in range(STEPS):
        step()
    synchronize()
    return (time.perf_counter() - start) * 1e3 / STEPS


def write(path, recorded, alone, profiled, gpu, framework):
    """Write ``profile.json`` and, where it is small, the trace without paths of source files beside it.

    Args:
        recorded: path of the compressed trace, which is overwritten: logs beside ``profile.json`` may only grow.
        alone: milliseconds of a step without the profiler. profiled: with it.
        gpu: whether the steps ran on a GPU.
    """
    with gzip.open(recorded, "rt", encoding="utf-8", errors="replace") as stream:
        trace = json.load(stream)
    summary = summary_of(trace["traceEvents"], profiled)
    if not summary["kernels"] or (gpu and summary["device"] == "cpu"):
        sys.exit("no profile: the profiler recorded no operation" + " of the GPU: is CUPTI installed?" * gpu)
    for event in trace["traceEvents"]:
        if "args" in event:
            event["args"] = {name: fact for name, fact in event["args"].items() if ".py" not in str(fact)}
    with gzip.open(recorded, "wt", compresslevel=6) as stream:
        json.dump(trace, stream, separators=(",", ":"))
    kept = TRACE if os.path.getsize(recorded) <= TRACE_BYTES else ""
    if kept:
        shutil.move(recorded, os.path.join(os.path.dirname(path), kept))
    summary.update(framework=framework, schema=2, steps=STEPS, step_ms=round(alone, 4), trace=kept)
    with open(path, "w") as stream:
        json.dump(summary, stream, indent=1)


def summary_of(events, profiled):
    """Summarize the operations of one device in a trace of so many milliseconds per step."""
    device, operations = operations_of(events)
    busy = busy_ms([(start, start + length) for _, start, length, _ in operations]) / STEPS
    kernels, classes = defaultdict(lambda: [0, 0.0]), defaultdict(lambda: [0, 0.0])
    for name, _, _, own in operations:
        for group in (kernels[name], classes[class_of(name)]):
            group[0] += 1
            group[1] += own / 1e3
    total = sum(milliseconds for _, milliseconds in classes.values()) or 1.0
    return {
        "device": device,
        "profiled_step_ms": round(profiled, 4),
        "busy_ms": round(busy, 4) if device == "gpu" else None,
        "idle_share": round(max(0.0, 1 - busy / profiled), 4) if device == "gpu" else None,
        "graph_launches": graph_launches(events) / STEPS,
        "kernels": [dict(row, kind=class_of(row["name"])) for row in _rows(kernels, total)[:KERNELS]],
        "classes": _rows(classes, total),
    }


def graph_launches(events):
    """Count launches of CUDA graphs by the host, such as PyTorch's and XLA's command buffers."""
    return sum(event.get("ph") == "X" and "GraphLaunch" in event["name"] for event in events)


def _rows(groups, total):
    """Name, calls, milliseconds over all steps, and share of each group, the longest first."""
    ordered = sorted(groups.items(), key=lambda item: -item[1][1])
    return [
        {"name": name[:200], "calls": calls, "total_ms": round(spent, 4), "share": round(spent / total, 4)}
        for name, (calls, spent) in ordered
    ]


def operations_of(events):
    """Device ("gpu" or "cpu") and its operations: name, start, duration and own time in microseconds.

    On a CPU an operation's own time is that without the operations that it calls.
    """
    spans = [event for event in events if event.get("ph") == "X" and event.get("dur", 0) > 0]
    kernels = [event for event in spans if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    kernels = kernels or _stream_events(events, spans)
    if kernels:
        return "gpu", [(event["name"], event["ts"], event["dur"], event["dur"]) for event in kernels]
    calls = [event for event in spans if event.get("cat") == "cpu_op" or "hlo_op" in event.get("args", {})]
    return "cpu", [(event["name"], event["ts"], event["dur"], own) for event, own in _own_times(calls)]


def _stream_events(events, spans):
    """What ran on the streams of the first GPU of a JAX trace; its other lines show the same work again."""
    names = [event for event in events if event.get("ph") == "M"]
    gpus = {each["pid"]: each["args"]["name"] for each in names if each["name"] == "process_name"}
    gpus = {pid: name for pid, name in gpus.items() if "/device:GPU" in name}
    first = min(gpus, key=lambda pid: [int(part) for part in re.findall("[0-9]+", gpus[pid])], default=None)
    streams = {
        each["tid"]
        for each in names
        if each["name"] == "thread_name" and each["pid"] == first and each["args"]["name"].startswith("Stream")
    }
    return [event for event in spans if event["pid"] == first and event["tid"] in streams]


def _own_times(calls):
    """Yield each call with its duration less that of the calls inside it, thread by thread."""
    threads = defaultdict(list)
    for call in calls:
        threads[call["pid"], call["tid"]].append(call)
    for members in threads.values():
        open_calls = []
        for call in sorted(members, key=lambda call: (call["ts"], -call["dur"])):
            while open_calls and call["ts"] >= open_calls[-1][0]["ts"] + open_calls[-1][0]["dur"]:
                yield open_calls.pop()
            if open_calls:
                open_calls[-1][1] = max(0.0, open_calls[-1][1] - call["dur"])
            open_calls.append([call, call["dur"]])
        yield from open_calls


def busy_ms(spans):
    """Milliseconds in which at least one of the spans, given in microseconds, runs."""
    total, end = 0.0, float("-inf")
    for start, stop in sorted(spans):
        total += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return total / 1e3

"""The summary of a profiler's trace."""

from __future__ import annotations

import sys

import pytest
from interpreters import WORKLOADS

sys.path.insert(0, str(WORKLOADS))
from profiling import class_of, summary_of

PYTORCH = [
    {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "python"}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 0, "dur": 90_000},
    {"ph": "X", "cat": "kernel", "name": "nvjet_hsh_128x256", "pid": 0, "tid": 7, "ts": 1000, "dur": 30_000},
    {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 20, "ts": 21_000, "dur": 20_000},
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoD", "pid": 0, "tid": 7, "ts": 60_000, "dur": 10_000},
    {"ph": "X", "cat": "gpu_user_annotation", "name": "step", "pid": 0, "tid": 7, "ts": 0, "dur": 99_000},
]
LINES = {1: "Stream #20(Compute)", 2: "Stream #13(MemcpyD2D)", 3: "XLA Modules", 4: "XLA Ops"}
JAX = [
    {"ph": "M", "name": "process_name", "pid": 700, "args": {"name": "/host:CPU"}},
    *({"ph": "M", "name": "process_name", "pid": gpu, "args": {"name": f"/device:GPU:{gpu}"}} for gpu in (0, 1)),
    *(
        {"ph": "M", "name": "thread_name", "pid": gpu, "tid": tid, "args": {"name": name}}
        for gpu in (0, 1)
        for tid, name in LINES.items()
    ),
    {"ph": "X", "name": "gemm_fusion_dot_1", "pid": 0, "tid": 1, "ts": 1000, "dur": 30_000, "args": {"hlo_op": "dot"}},
    {"ph": "X", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 1, "ts": 31_000, "dur": 10_000},
    {"ph": "X", "name": "MemcpyD2D", "pid": 0, "tid": 2, "ts": 60_000, "dur": 10_000},
    {"ph": "X", "name": "jit_step", "pid": 0, "tid": 3, "ts": 0, "dur": 99_000},
    {"ph": "X", "name": "dot.1", "pid": 0, "tid": 4, "ts": 1000, "dur": 30_000},
    {"ph": "X", "name": "gemm_fusion_dot_1", "pid": 1, "tid": 1, "ts": 1000, "dur": 30_000},
    {"ph": "X", "name": "cuGraphLaunch (CudaGraph:329)", "pid": 700, "tid": 5, "ts": 0, "dur": 9},
    {"ph": "X", "name": "python call", "pid": 700, "tid": 5, "ts": 0, "dur": 99_000, "args": {"hlo_op": "x"}},
]


@pytest.mark.parametrize(("events", "communication"), [(PYTORCH, 20), (JAX, 10)], ids=["pytorch", "jax"])
def test_what_runs_on_the_streams_of_one_gpu_is_counted_once(events, communication):
    summary = summary_of(events, 20.0)
    assert summary["device"] == "gpu"
    assert summary["busy_ms"] == 10.0  # of 5 steps of 20 ms: 40 ms of kernels and 10 ms of a copy, overlaps once
    assert summary["idle_share"] == 0.5
    assert summary["graph_launches"] == (0.2 if events is JAX else 0)
    assert {row["name"]: row["total_ms"] for row in summary["classes"]} == {
        "matrix products and convolutions": 30,
        "communication": communication,
        "copies": 10,
    }
    assert [row["calls"] for row in summary["kernels"]] == [1, 1, 1]


def test_on_a_cpu_an_operation_is_charged_without_those_that_it_calls():
    calls = [("aten::linear", 0, 50_000), ("aten::addmm", 10_000, 30_000), ("aten::add", 60_000, 10_000)]
    events = [{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "name": n, "ts": t, "dur": d} for n, t, d in calls]
    summary = summary_of(events, 20.0)
    assert (summary["device"], summary["idle_share"]) == ("cpu", None)
    assert {row["name"]: row["total_ms"] for row in summary["kernels"]} == {
        "aten::linear": 20,
        "aten::addmm": 30,
        "aten::add": 10,
    }


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor>", "optimizer"),
        ("cudnn_generated_fort_native_sdpa_sm90_flash_fprop", "attention"),
        ("triton_poi_fused_convolution_relu_3", "normalization and elementwise"),
        ("triton_tem_fused_mm_4", "matrix products and convolutions"),
        ("sm90_xmma_fprop_implicit_gemm_f16f16", "matrix products and convolutions"),
        ("loop_convert_fusion_2", "normalization and elementwise"),
        ("void at::native::elementwise_kernel<direct_copy_kernel_cuda>", "copies"),
        ("Cijk_Ailk", "other"),
    ],
)
def test_a_kernel_is_classed_by_its_name(name: str, kind: str):
    assert class_of(name) == kind

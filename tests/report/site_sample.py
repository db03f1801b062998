"""A small workspace's data, written by hand: one campaign measured here, two reports published by others."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from site_rows import LOG, measured, published

from claimable import claimable
from dlperf.catalog.hardware import Accelerator, Hardware
from dlperf.catalog.metrics import Protocol
from dlperf.catalog.model import Case, Container, Framework, Recipe
from dlperf.measured.model import TrialResult
from dlperf.messages import ENGLISH, message
from dlperf.messages.finding import warning
from dlperf.plan import Configuration, Launch, Node, PlannedConfiguration, Selection, TrialKey
from dlperf.plan.expand import planned_protocol
from dlperf.report.build import overview_pages
from dlperf.report.data import SiteData
from dlperf.report.site.workspace import create_workspace
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.published import EnvironmentGroup, Fact, LocalizedText, PublishedReport, Step
from dlperf.runs.records import CampaignRecord
from dlperf.table.model import ConfigurationResult, Status
from dlperf.verification.audit import AuditRow

PROTOCOL = Protocol(
    id="dlperf-v1",
    title="Drop 20 steps, measure 100",
    skip_steps=20,
    take_steps=100,
    estimator="window(20,120)",
    repeats=5,
)
LAUNCH = "#!/bin/sh\nexport NCCL_DEBUG=INFO\nexec python3 -u train.py --batch-size 256 'a & b < c'\n"


def sample() -> SiteData:
    """Enough of everything that every kind of page has something to say."""
    results = (
        measured("alpha", 1, 400.123456),
        measured("alpha", 8, 3100.987, speedup=7.75, efficiency=0.969),
        measured("beta", 1, 380.5, findings=(warning("drift", direction=message("falls"), change=0.03),)),
        measured("beta", 8, None, status=Status("failed", message("nccl_timeout"))),
        measured("beta", 1, None, precision="amp", status=Status("out_of_memory")),
        published("paddle", 1, 393.561),
        published("paddle", 8, 3019.361, speedup=7.672, efficiency=0.959),
        published("pytorch", 1, 370.194),
        published("pytorch", 8, 2791.98),
        published("pytorch", 32, None),
        published("paddle", 1, 908.244, precision="tf32", hardware="a100"),
        *_plsc(),
    )
    return SiteData(
        results=results,
        published={
            "published/perf": _report(
                "perf",
                "PaddlePaddle/Perf ResNet50V1.5",
                environment=(
                    EnvironmentGroup(
                        LocalizedText("One node", "单机"), (Fact("GPU", "GPU", value="Tesla V100-SXM2-32GB * 8"),)
                    ),
                ),
                topology="GPU0  X  NV2\nGPU1 NV2  X\n",
                steps=(
                    Step(LocalizedText("Start", "启动"), LocalizedText("Data lies in <path>."), "docker pull paddle\n"),
                ),
                notes=(LocalizedText("DALI is on everywhere, the report says"),),
            ),
            "published/plsc": _report("plsc", "PLSC ArcFace"),
        },
        campaigns={"first": campaign([row for row in results if row.campaign == "first"])},
        hardware={
            "box": Hardware(
                id="box",
                title="A box",
                accelerator="v100-32g",
                gpus_per_node=8,
                nodes=(Node(name="n1"),),
                facts={"cpu": "Xeon", "memory": "512 GB"},
            )
        },
        accelerators={
            "v100-32g": Accelerator(
                id="v100-32g",
                title="Tesla V100-SXM2-32GB",
                memory_gb=32.0,
                bandwidth_gb_per_s=900.0,
                peak_tflops={"fp32": 15.7, "amp": 125.0},
                source="https://example.org/datasheet",
            )
        },
        frameworks={"alpha": _framework("alpha"), "beta": _framework("beta")},
        cases={
            "resnet50-imagenet": Case(
                id="resnet50-imagenet",
                title="ResNet50V1.5",
                model="ResNet50V1.5",
                dataset="imagenet",
                unit="images/s",
                precisions=("fp32", "amp"),
                batch_sizes=(256,),
                scales=("1n1g", "1n8g"),
            )
        },
        protocols={"dlperf-v1": PROTOCOL},
        parquet=True,
        audit=(_audited("393.561", 393.5611, "exact"), _audited("1438.518", None, "no_log_here")),
    )


def campaign(rows: list[ConfigurationResult]) -> CampaignRecord:
    """The plan that the rows came from."""
    planned = tuple(_planned(row) for row in rows)
    return CampaignRecord(
        name=rows[0].campaign,
        token="0123abcd",
        created="2026-01-02T03:04:05Z",
        dlperf_version="0.1.0",
        selection=Selection(hardware=("box",), frameworks=("alpha", "beta"), repeats=5),
        configurations=planned,
        trials=tuple(TrialKey(item.configuration.id, number) for item in planned for number in range(1, 6)),
    )


def make_workspace(root: Path, data: SiteData, small: bool = False) -> WorkspacePaths:
    """The files of a workspace, and what the trials of its campaigns left.

    Args:
        small: its site is English and has no guide, which takes a third of the time to build.
    """
    create_workspace(root, data.address)
    workspace = WorkspacePaths(root)
    if small:
        with workspace.mkdocs_config.open("a") as settings:
            settings.write("extra: {guide: false, languages: [en]}\n")
    for row in data.results:
        for trial in row.trials if row.campaign in data.campaigns else ():
            node = workspace.campaign(row.campaign).trial(TrialKey(row.id, trial.number)).node("n1")
            node.directory.mkdir(parents=True)
            node.launch.write_text(LAUNCH)
            node.log.write_text(LOG)
            node.environment.write_text(json.dumps({"os": "Linux <6>", "gpus": [{"name": "V100"}], "cuda": "12.4"}))
    return workspace


def pages(data: SiteData) -> dict[str, str]:
    """The English pages that are not of single configurations, by their paths."""
    return dict(overview_pages(ENGLISH, data))


def _planned(row: ConfigurationResult) -> PlannedConfiguration:
    launch = Launch(
        executor="direct",
        nodes=(Node("n1", "ssh", "n1", "n1"),),
        gpus=row.gpus,
        launcher="plain",
        interpreter=("python3",),
        command=("train.py", "--batch-size", "256"),
        setup=(("mkdir", "-p", "a b"),),
    )
    configuration = Configuration(row.hardware, row.framework, row.case, row.precision, 256, row.nodes, row.gpus)
    return PlannedConfiguration(
        configuration, launch, "dlperf", row.unit, planned_protocol(PROTOCOL), 5, {"dali": row.framework == "alpha"}
    )


def _framework(name: str) -> Framework:
    recipe = Recipe(case="resnet50-imagenet", precisions=("fp32",), command=("train.py", "--batch", "{batch_size}"))
    return Framework(
        id=name,
        title=name.capitalize(),
        version="1.2",
        format="plain",
        container=Container(image=f"registry/{name}:1.2"),
        repository="https://example.org/code",
        commit="5bb2e8c",
        facts={"cuda": "11.2", "cudnn": "8.2"},
        patches=("exit after 150 steps",),
        recipes=(recipe,),
    )


def _plsc() -> tuple[ConfigurationResult, ...]:
    runs = {1: (397.44, 397.64, 398.05, 398.98, 397.78), 8: (2536.04, 2554.13, 2545.3, 2563.28, 2542.14)}
    return tuple(
        published(
            "plsc",
            gpus,
            sorted(values)[2],
            campaign="published/plsc",
            case="arcface",
            batch_size=128,
            unit="samples/s",
            n=5,
            spread=0.01,
            trials=tuple(TrialResult(number, "published", value=value) for number, value in enumerate(values, 1)),
        )
        for gpus, values in runs.items()
    )


def _audited(printed: str, recomputed: float | None, verdict: str) -> AuditRow:
    difference = None if recomputed is None else recomputed / float(printed) - 1
    return AuditRow(
        "v100",
        "paddle",
        "resnet50-imagenet",
        "fp32",
        256,
        1,
        1,
        "perf",
        "images/s",
        printed,
        "tipc(skip=10)",
        recomputed,
        391.2,
        difference,
        message(verdict),
        "logs/paddle.txt",
    )


def _report(name: str, title: str, **other: object) -> PublishedReport:
    report = PublishedReport(
        id=name,
        title=LocalizedText(title, f"{title} 性能测试"),
        language="en",
        source="owner/repository@commit:README.md",
        url=f"https://example.org/{name}",
        date=None,
        protocol=None,
        protocol_text=LocalizedText("Log data without warm-up, averaged.", "去掉 warmup 后求平均。"),
        summary=LocalizedText("Training throughput on 1 and 8 GPUs.", "1 卡、8 卡的训练吞吐率。"),
        environment=(),
        topology="",
        steps=(),
        notes=(),
        figures=(),
    )
    return replace(report, **other)  # type: ignore[arg-type]


def twice(before: float, after: float) -> SiteData:
    """The same configuration in campaign ``first`` and, a year later, in ``again``."""
    rows = (
        claimable(measured("alpha", value=before)),
        claimable(measured("alpha", value=after, campaign="again"), turn=1),
    )
    records = {row.campaign: campaign([row]) for row in rows}
    later = replace(records["again"], created="2027-01-02T03:04:05Z")
    return replace(sample(), results=rows, campaigns={**records, "again": later})

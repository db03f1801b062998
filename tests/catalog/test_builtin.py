"""The catalogue that ships with dlperf."""

from __future__ import annotations

import re

import pytest

from dlperf.catalog import plugins
from dlperf.catalog.files.entries import read_layer
from dlperf.catalog.files.load import BUILTIN, load_catalog
from dlperf.catalog.files.references import format_problems
from dlperf.catalog.files.yamlfile import read_document
from dlperf.formats.registry import describe_code_formats, format_ids
from dlperf.measured.throughput.estimators import parse_estimator
from dlperf.plan import Selection, expand
from dlperf.render.preview import preview


@pytest.fixture(scope="module")
def catalog():
    return load_catalog(None, format_ids(), parse_estimator)


def test_its_formats_are_valid():
    formats = read_layer(BUILTIN, ("formats",)).entries["formats"].values()
    assert formats
    assert [problem for item in formats for problem in format_problems(item)] == []


def test_the_ids_of_formats_that_are_code_are_known_without_them():
    assert plugins.code_format_ids() == tuple(describe_code_formats())


def test_no_file_of_it_is_nested_deeper_than_files_may_be(tmp_path):
    for path in BUILTIN.rglob("*.yaml"):
        copy = tmp_path / path.name
        copy.write_bytes(path.read_bytes())
        assert read_document(copy).problems == []


def test_it_holds_what_the_public_reports_measured(catalog):
    assert {"resnet50", "vgg16", "arcface", "bert-base", "lenet5"} <= catalog.cases.keys()
    assert {"paddleclas", "ngc-tensorflow", "ngc-tensorflow-20.03", "ngc-pytorch", "ngc-mxnet", "plsc"} <= (
        catalog.frameworks.keys()
    )
    assert {"fleetx-fp32", "fleetx-amp", "fleetx-auto", "numpy", "pytorch"} <= catalog.frameworks.keys()
    assert {"perf-v100", "perf-v100-4nodes", "perf-a100", "dlperf-v100", "fleetx-v100", "ngc-reproduction-v100"} <= (
        catalog.hardware.keys()
    )


def test_every_fact_names_its_source(catalog):
    entries = [*catalog.accelerators.values(), *catalog.cases.values(), *catalog.frameworks.values()]
    examples = [hardware for hardware in catalog.hardware.values() if hardware.example]
    assert [entry.id for entry in [*entries, *examples] if not entry.source] == []


def test_every_case_and_every_hardware_has_something_to_run(catalog):
    cases = {recipe.case for framework in catalog.frameworks.values() for recipe in framework.recipes}
    assert cases == catalog.cases.keys()
    for hardware in catalog.hardware:
        assert expand(Selection(hardware=(hardware,)), catalog).configurations


def test_everything_that_can_be_planned_can_be_rendered(catalog):
    for hardware in ("local", "h200", "h200-4nodes", "perf-v100-4nodes", "dlperf-v100", "fleetx-v100"):
        for item in expand(Selection(hardware=(hardware,)), catalog).configurations:
            assert any(node.start for node in preview(item.launch).values())


@pytest.mark.parametrize(
    ("name", "accelerator"),
    [
        ("Tesla V100-SXM2-32GB", "v100-sxm2-32gb"),
        ("Tesla V100-SXM2-16GB", "v100-sxm2-16gb"),
        ("NVIDIA A100-SXM4-40GB", "a100-sxm4-40gb"),
        ("A100-SXM4-80GB", "a100-sxm4-80gb"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm"),
        ("NVIDIA H200", "h200-sxm"),
        ("NVIDIA H100 PCIe", "h100-pcie"),
        ("NVIDIA H100 NVL", "h100-nvl"),
        ("NVIDIA B200", "b200-sxm"),
        ("NVIDIA B300 SXM6 AC", "b300-sxm"),
        ("NVIDIA GB200", "gb200"),
        ("NVIDIA GB300", "gb300"),
        ("AMD Instinct MI300X", "mi300x"),
        ("AMD Instinct MI350X", "mi350x"),
        ("AMD Instinct MI325X", "mi325x"),
        ("AMD Instinct MI355X", "mi355x"),
        ("TPU v5p", "tpu-v5p"),
        ("TPU v6e", "tpu-v6e"),
        ("TPU7x", "tpu7x"),
    ],
)
def test_the_name_that_the_driver_reports_belongs_to_one_accelerator(catalog, name, accelerator):

    matching = [item.id for item in catalog.accelerators.values() if any(re.search(p, name) for p in item.match)]
    assert matching == [accelerator]


@pytest.mark.parametrize("hardware", ["h200", "h200-4nodes"])
def test_the_title_of_gpus_that_logs_may_be_imported_for_is_true_of_any_machine(catalog, hardware):
    entry = catalog.hardware[hardware]
    for title in (entry.title, entry.localized("zh").title):
        assert not re.search(r"[Tt]his machine|本机|[0-9]+ ×", title)


NAMES = {
    "Tesla T4": "t4",
    "Tesla P100-SXM2-16GB": "p100-sxm2",
    "Tesla V100-PCIE-32GB": "v100-pcie-32gb",
    "NVIDIA A10": "a10",
    "NVIDIA A10G": None,
    "NVIDIA A100-SXM4-80GB": "a100-sxm4-80gb",
    "NVIDIA A100 80GB PCIe": "a100-pcie-80gb",
    "NVIDIA L4": "l4",
    "NVIDIA L40": "l40",
    "NVIDIA L40S": "l40s",
    "NVIDIA GeForce RTX 4090": "rtx-4090",
    "NVIDIA GeForce RTX 4090 Laptop GPU": None,
    "NVIDIA RTX 6000 Ada Generation": "rtx-6000-ada",
    "NVIDIA H20": "h20",
    "NVIDIA H100 80GB HBM3": "h100-sxm",
    "NVIDIA H100 PCIe": "h100-pcie",
    "NVIDIA H100 80GB HBM2e": "h100-pcie",
    "NVIDIA H200": "h200-sxm",
    "NVIDIA H200 NVL": "h200-nvl",
    "NVIDIA GH200 480GB": "gh200-96gb",
    "NVIDIA B200": "b200-sxm",
    "NVIDIA GB200": "gb200",
    "AMD Instinct MI210": "mi210",
    "AMD Instinct MI250X": "mi250x",
    "AMD Instinct MI355X": "mi355x",
    "HL-225": "gaudi2",
    "AWS Trainium2": "trainium2",
}
"""As the driver names them."""


@pytest.mark.parametrize("name", NAMES)
def test_a_gpu_is_found_by_the_name_that_its_driver_gives_and_is_one_accelerator(catalog, name: str):
    found = [entry.id for entry in catalog.accelerators.values() if any(re.search(text, name) for text in entry.match)]
    assert found == ([NAMES[name]] if NAMES[name] else [])

"""The scripts of every system of the public reports, and of every launcher and container runtime, word for word.

After a wanted change: ``DLPERF_UPDATE_GOLDEN=1 pytest tests/render/test_golden.py``, then read the difference.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from dlperf.plan import Selection, expand
from dlperf.render.preview import preview_text

GOLDEN = Path(__file__).parents[1] / "data" / "golden"

CONFIGURATIONS = [
    "local_numpy_lenet5_fp32_bs64_1n1g",
    "local_pytorch_resnet50_fp32_bs64_1n1g",
    "h200_pytorch_resnet50_bf16_bs256_1n4g",
    "h200-4nodes_pytorch_resnet50_amp_bs256_4n1g",
    "h200_pytorch-compiled_arcface_bf16_bs128_1n4g",
    "h200-4nodes_jax_arcface_bf16_bs128_4n1g",
    "h200_jax_bert-base_tf32_bs64_1n4g",
    "h200_paddle_resnet50_bf16_bs256_1n4g",
    "h200-4nodes_paddle_vgg16_amp_bs128_4n1g",
    "h200_tensorflow_resnet50_amp_bs256_1n2g",
    "h200-4nodes_tensorflow_resnet50_amp_bs256_4n1g",
    "cluster_with-tensorflow_tiny_fp32_bs4_2n2g",
    "local_mxnet_vgg16_fp32_bs32_1n1g",
    "perf-v100_paddleclas_resnet50_fp32_bs256_1n1g",
    "perf-v100_paddleclas_resnet50_fp32_bs256_1n8g",
    "perf-v100_paddleclas_resnet50_amp_bs256_1n1g",
    "perf-v100_paddleclas_resnet50_amp_bs256_1n8g",
    "perf-v100-4nodes_paddleclas_resnet50_fp32_bs256_4n8g",
    "perf-v100-4nodes_paddleclas_resnet50_amp_bs256_4n8g",
    "perf-a100_paddleclas_resnet50_tf32_bs256_1n8g",
    "perf-v100_paddlenlp_bert-base_fp32_bs48_1n1g",
    "perf-v100-4nodes_paddlenlp_bert-base_amp_bs96_4n8g",
    "perf-v100_ngc-tensorflow_resnet50_fp32_bs256_1n1g",
    "perf-v100_ngc-tensorflow_resnet50_amp_bs256_1n8g",
    "perf-v100-4nodes_ngc-tensorflow_resnet50_amp_bs256_4n8g",
    "ngc-reproduction-v100_ngc-tensorflow-20.03_resnet50_fp32_bs160_1n1g",
    "ngc-reproduction-v100_ngc-tensorflow-20.03_resnet50_amp_bs208_1n8g",
    "perf-v100_ngc-pytorch_resnet50_fp32_bs256_1n1g",
    "perf-v100_ngc-pytorch_resnet50_amp_bs256_1n8g",
    "perf-v100-4nodes_ngc-pytorch_resnet50_amp_bs256_4n8g",
    "perf-v100_ngc-mxnet_resnet50_fp32_bs128_1n1g",
    "perf-a100_ngc-mxnet_resnet50_fp16_bs256_1n8g",
    "dlperf-v100_plsc_arcface_fp32_bs128_1n1g",
    "dlperf-v100_plsc_arcface_fp32_bs128_1n4g",
    "dlperf-v100_plsc_arcface_fp32_bs128_2n8g",
    "fleetx-v100_fleetx-fp32_vgg16_fp32_bs32_1n1g",
    "fleetx-v100_fleetx-fp32_vgg16_fp32_bs128_2n8g",
    "fleetx-v100_fleetx-amp_vgg16_amp_bs256_1n8g",
    "fleetx-v100_fleetx-auto_vgg16_amp_bs64_4n8g",
    "two-boxes_with-torchrun_tiny_fp32_bs4_2n2g",
    "two-boxes_with-multiproc_tiny_fp32_bs4_1n2g",
    "two-boxes_with-mpirun_tiny_fp32_bs4_2n2g",
    "two-boxes_with-horovodrun_tiny_fp32_bs4_2n2g",
    "two-boxes_with-paddle_tiny_fp32_bs4_2n2g",
    "two-boxes_with-jax_tiny_fp32_bs4_2n2g",
    "two-boxes_in-docker_tiny_fp32_bs4_1n1g",
    "two-boxes_in-podman_tiny_fp32_bs4_1n1g",
    "two-boxes_in-apptainer_tiny_fp32_bs4_1n1g",
    "cluster_with-torchrun_tiny_fp32_bs4_2n2g",
    "cluster_with-mpirun_tiny_fp32_bs4_2n2g",
    "cluster_with-paddle_tiny_fp32_bs4_2n2g",
    "cluster_in-pyxis_tiny_fp32_bs4_2n2g",
]


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_the_scripts_are_those_that_were_read_and_approved(catalog, configuration):
    hardware, framework, case, precision, batch_size, scale = configuration.split("_")
    selection = Selection(
        (hardware,),
        (framework,),
        (case,),
        (precision,),
        (int(batch_size.removeprefix("bs")),),
        (scale,),
        protocol="dlperf-v1" if framework == "paddlenlp" else None,  # its logs carry no timestamps
    )
    (item,) = expand(selection, catalog).configurations
    assert item.configuration.id == configuration
    path = GOLDEN / f"{configuration}.txt"
    if os.environ.get("DLPERF_UPDATE_GOLDEN"):
        path.write_text(preview_text(item.launch))
    assert preview_text(item.launch) == path.read_text()


def test_every_golden_file_belongs_to_a_configuration():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CONFIGURATIONS)


def test_mpirun_exports_a_variable_once_that_the_hardware_sets_too(catalog):
    selection = Selection(hardware=("two-boxes",), frameworks=("with-mpirun",), scales=("2n2g",))
    launch = replace(expand(selection, catalog).configurations[0].launch, env={"PATH": "/opt/bin:/usr/bin"})
    assert preview_text(launch).count("-x PATH ") == 1

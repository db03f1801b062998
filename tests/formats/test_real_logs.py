"""Every raw log of the public reports that we have is recognised, and gives the records it is known to hold."""

from __future__ import annotations

from math import isfinite

import pytest

from dlperf.formats.registry import detect
from real_logs import LOGS, needs_real_logs, parsed

pytestmark = needs_real_logs

PADDLE = "perf/ResNet50V1.5/logs/V100-LOG"
NGC = "perf/ResNet50V1.5/OtherReports"
KNOWN = [
    (f"{PADDLE}/PaddleClas_ResNet50_bs256_fp32_DP_N1C1_log", "paddleclas", 88),
    (f"{PADDLE}/PaddleClas_ResNet50_bs256_fp32_DP_N1C8_log", "paddleclas", 80),
    (f"{PADDLE}/PaddleClas_ResNet50_bs256_pure_fp16_DP_N1C1_log", "paddleclas", 322),
    (f"{PADDLE}/PaddleClas_ResNet50_bs256_pure_fp16_DP_N1C8_log", "paddleclas", 299),
    (f"{PADDLE}/paddle_gpu32_fp32_bs256.txt", "paddleclas", 12),
    (f"{NGC}/PyTorch/logs/V100-LOG/pytorch_gpu1_fp32_bs256.txt", "dllogger", 99),
    (f"{NGC}/PyTorch/logs/V100-LOG/pytorch_gpu8_fp32_bs256.txt", "dllogger", 63),
    (f"{NGC}/PyTorch/logs/V100-LOG/pytorch_gpu32_fp32_bs256.txt", "dllogger", 99),
    (f"{NGC}/TensorFlow/logs/V100_LOG/tf_gpu1_amp_bs256.txt", "dllogger", 30),
    (f"{NGC}/TensorFlow/logs/V100_LOG/tf_gpu32_fp32_bs256.txt", "dllogger", 300),
    (f"{NGC}/MxNet/logs/V100_LOG/mxnet_gpu1_amp_bs256.txt", "dllogger", 75),
    (f"{NGC}/MxNet/logs/V100_LOG/mxnet_gpu8_fp32_bs128.txt", "dllogger", 75),
    ("perf/Bert/logs/V100_LOG/PaddleNLP_bert_base_seqlen128_bs96_fp32_DP_N1C8_log", "paddlenlp-bert", 50),
    ("perf/Transformer/logs/V100_LOG/PaddleNLP_transformer_big_bs5120_fp32_DP_N1C1_log", "paddlenlp-transformer", 29),
    (
        "perf/Transformer/OtherReports/PyTorch/logs/V100_LOG/transformer_pytorch_bs5120_fp32_gpu8",
        "ngc-transformer",
        394,
    ),
    ("perf/HRNetW18/logs/paddle/PaddleSeg_fcn_hrnetw18_bs8_fp32_DP_N1C1_log", "paddleseg", 26),
    ("perf/HRNetW18/OtherReports/PyTorch/logs/hrnet_torch_bs8_fp32_gpu1", "mmseg", 45),
    ("perf/DeepLabV3P/logs/paddle/Deeplabv3_FP32_BS4-N1.log", "paddleseg", 40),
    ("perf/DeepLabV3P/OtherReports/PyTorch/logs/pytorch/deeplabv3p_c1_fp32.log", "mmseg", 10),
    ("dlperf/tensorflow2-resnet50/1n8g/rn50_b128_fp32_1.log", "tf2-timehistory", 6),
]
"""Log, its format and the number of its records."""

FILES = sorted(path for path in LOGS.rglob("*") if path.is_file()) if LOGS.is_dir() else []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_raw_log_is_recognised_and_gives_one_run(path):
    data = path.read_bytes()
    format_id = detect(data)
    assert format_id is not None
    runs = parsed(format_id, data)
    assert len(runs) == 1
    samples = runs[0].samples
    assert len(samples) > 1
    assert all(map(isfinite, samples.step))


@pytest.mark.parametrize(("log", "format_id", "count"), KNOWN, ids=[log.rpartition("/")[2] for log, _, _ in KNOWN])
def test_a_raw_log_gives_the_records_it_is_known_to_hold(log, format_id, count):
    data = (LOGS / log).read_bytes()
    assert detect(data[: 1 << 20]) == format_id
    assert [len(run.samples) for run in parsed(format_id, data)] == [count]


def test_a_raw_log_is_told_from_its_first_megabyte_even_where_a_model_is_printed_first():
    path = LOGS / "perf/HRNetW18/OtherReports/PyTorch/logs/hrnet_torch_bs8_fp32_gpu1"
    assert detect(path.read_bytes()) == "mmseg"


def test_a_raw_log_without_its_records_is_not_recognised():
    data = (LOGS / KNOWN[0][0]).read_bytes()
    assert detect(data[: data.index(b" train step:") - 40]) is None

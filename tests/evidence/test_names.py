"""What the path of a log says of the run."""

import pytest

from dlperf.evidence.names import NameFacts, facts_of_name

PERF = "perf/ResNet50V1.5/"

NAMES = {
    PERF + "logs/V100-LOG/PaddleClas_ResNet50_bs256_fp32_DP_N1C8_log": NameFacts(
        "resnet50", "paddle", "fp32", 256, 8, 1
    ),
    PERF + "logs/V100-LOG/PaddleClas_ResNet50_bs256_pure_fp16_DP_N4C32_log": NameFacts(
        "resnet50", "paddle", "fp16", 256, 32, 4
    ),
    PERF + "logs/V100-LOG/paddle_gpu32_fp32_bs256.txt": NameFacts("resnet50", "paddle", "fp32", 256, 32),
    PERF + "OtherReports/TensorFlow/logs/V100_LOG/tf_gpu8_amp_bs256.txt.gz": NameFacts(
        "resnet50", "tensorflow", "amp", 256, 8
    ),
    PERF + "OtherReports/MxNet/logs/mxnet_gpu1_gpu8_amp_bs192.txt": NameFacts("resnet50", "mxnet", "amp", 192),
    "Bert/OtherReports/PyTorch/bert_base_lamb_pretraining.pyt_bert_pretraining_phase1_fp32_bs96_gpu1.log": NameFacts(
        "bert-base", "pytorch", "fp32", 96, 1, 1
    ),
    "tf_bert_pretraining_lamb_base_fp16_bs96_gpu32.log": NameFacts("bert-base", "tensorflow", "fp16", 96, 32),
    "PaddleNLP_transformer_big_bs5120_fp32_DP_N1C1_log": NameFacts("transformer-big", "paddle", "fp32", 5120, 1, 1),
    "transformer_pytorch_bs5120_fp32_gpu8": NameFacts("transformer-big", "pytorch", "fp32", 5120, 8),
    "PaddleSeg_fcn_hrnetw18_bs8_fp32_DP_N1C1_log": NameFacts("hrnetw18", "paddle", "fp32", 8, 1, 1),
    "hrnet_torch_bs8_fp32_gpu1": NameFacts("hrnetw18", "pytorch", "fp32", 8, 1, 1),
    "logs/paddle/Deeplabv3_FP32_BS4-N8.log": NameFacts("deeplabv3p", "paddle", "fp32", 4, 8),
    "logs/pytorch/deeplabv3p_c32_fp16.log": NameFacts("deeplabv3p", "pytorch", "fp16"),
    "llama3_8b_c4_h100.log": NameFacts("llama3-8b"),
    "qwen_b200_trainer_log.jsonl": NameFacts(),
    "metax-c500/train.log": NameFacts(),
    "036_61ef4351-7b68-4897-b440-a99221a1a629.txt": NameFacts(),
    "logs/paddle-plsc/arcface/bz128/4n8g/r50_b128_fp32_1.log": NameFacts("arcface", "paddle", "fp32", 128, 32, 4, 1),
    "tensorflow2-resnet50/1n16g/rn50_b128_fp32_5.log": NameFacts("resnet50", "tensorflow", "fp32", 128, 16, 1, 5),
    "10n8g/rn50_b128_amp_12.log": NameFacts("resnet50", None, "amp", 128, 80, 10, 12),
    "vgg_b32_fp32_3.log": NameFacts("vgg", None, "fp32", 32, None, None, 3),
    "out.log": NameFacts(),
    "": NameFacts(),
    "/": NameFacts(),
}


@pytest.mark.parametrize(("path", "facts"), NAMES.items(), ids=NAMES)
def test_a_path_says_what_the_run_was(path: str, facts: NameFacts) -> None:
    assert facts_of_name(path) == facts


def test_gpus_per_node_need_nodes_that_divide_the_gpus() -> None:
    assert facts_of_name("4n8g/a.log").gpus_per_node == 8
    assert facts_of_name("x_N3C8_log").gpus_per_node is None
    assert facts_of_name("paddle_gpu32_fp32_bs256.txt").gpus_per_node is None

"""Flavors of torchtitan's models that its release has not: ``--experimental.custom_import stack_torchtitan``.

Sizes only. Head and embedding of Llama are two matrices, as in all flavors of this release.
"""

from dataclasses import replace

from torchtitan.models.llama3 import TransformerModelArgs, llama3_args
from torchtitan.models.qwen3 import qwen3_args

llama3_args["1B"] = TransformerModelArgs(
    dim=2048,
    n_layers=16,
    n_heads=32,
    n_kv_heads=8,
    ffn_dim_multiplier=1.5,
    multiple_of=1024,
    rope_theta=500000,
)
qwen3_args["30B-A3B-4L"] = replace(qwen3_args["30B-A3B"], n_layers=4)

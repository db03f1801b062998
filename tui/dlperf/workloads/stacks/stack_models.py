"""Language models as Hugging Face transformers builds them, on random weights, for stacks that train these.

Copied to the node with the program that uses it. Needs PyTorch, transformers and, in the same folder, llm_shapes.py.
"""

import argparse
import os

from llm_shapes import SHAPES


def _llama(shape):
    return {
        "class": "Llama",
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.feed_forward,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "rope_parameters": {"rope_type": "default", "rope_theta": 500000.0},
        "tie_word_embeddings": shape.tied,
    }


QWEN3 = {
    "class": "Qwen3",
    "vocab_size": 151936,
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0},
    "tie_word_embeddings": True,
}
"""Qwen3 0.6B, Qwen 2025."""
EXPERTS = {
    **QWEN3,
    "class": "Qwen3Moe",
    "hidden_size": 2048,
    "num_hidden_layers": 4,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": 768,
    "norm_topk_prob": True,
    "tie_word_embeddings": False,
}
"""Qwen3 30B-A3B with 4 of its 48 layers."""
TINY = {
    "vocab_size": 512,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "head_dim": 16,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
}
MODELS = {
    **{name: _llama(shape) for name, shape in SHAPES.items() if shape.family == "llama"},
    "qwen3-0.6b": QWEN3,
    "qwen3-30b-a3b-4l": EXPERTS,
    "qwen3-moe-tiny": {**EXPERTS, **TINY},
}


def parser(description, models=MODELS, compiled=("no", "yes"), **defaults):
    """Options of the programs that train such models; ``compiled``: what --compile offers."""
    found = argparse.ArgumentParser(description=description.splitlines()[0])
    found.add_argument("--model", choices=sorted(models), required=True)
    found.add_argument("--tokens", required=True, help="tokens.bin of make_data.py")
    found.add_argument("--batch-size", type=int, default=1, help="sequences per GPU and step")
    found.add_argument("--accumulation", type=int, default=1, help="batches per step")
    found.add_argument("--sequence-length", type=int, default=8192)
    found.add_argument("--steps", type=int, default=30)
    found.add_argument("--seed", type=int, default=1)
    found.add_argument("--precision", choices=["fp32", "bf16", "bf16-pure"], default="bf16")
    found.add_argument("--checkpointing", choices=["none", "full"], default="full", help="of activations")
    found.add_argument("--attention", default="sdpa", help="attn_implementation")
    found.add_argument("--compile", choices=compiled, default="no", help="torch.compile")
    found.set_defaults(**defaults)
    return found


def layer_of(given):
    """The name of the class of a layer, which FSDP divides."""
    return MODELS[given.model]["class"] + "DecoderLayer"


def model_of(given):
    """The model on this process's device: making 8 B weights on the CPU takes minutes."""
    import torch
    import transformers

    sizes = dict(MODELS[given.model])
    if "num_experts" in sizes and given.precision == "bf16" and int(os.environ.get("WORLD_SIZE", 1)) == 1:
        # grouped_mm is not autocast-enabled (transformers 5.17, integrations/moe.py); FSDP casts the weights itself
        raise SystemExit("on one GPU autocast leaves the experts in FP32: choose --precision bf16-pure or fp32")
    config = getattr(transformers, sizes.pop("class") + "Config")(
        **sizes,
        max_position_embeddings=given.sequence_length,
        use_cache=False,
        attn_implementation=given.attention,
        dtype="bfloat16" if given.precision == "bf16-pure" else "float32",
    )
    place = f"cuda:{os.environ.get('LOCAL_RANK', 0)}" if torch.cuda.is_available() else "cpu"
    with torch.device(place):
        return transformers.AutoModelForCausalLM.from_config(config, dtype=config.dtype)

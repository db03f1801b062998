"""Models of llm_shapes.py as Hugging Face transformers builds them, on random weights, for stacks that train these.

Copied to the node with the program that uses it. Needs PyTorch, transformers and, in the same folder, llm_shapes.py.
"""

import argparse
import os

from llm_shapes import SHAPES


def parser(description, attention="sdpa"):
    """Options of the programs that train these models."""
    found = argparse.ArgumentParser(description=description.splitlines()[0])
    models = sorted(name for name, shape in SHAPES.items() if shape.family == "llama")
    found.add_argument("--model", choices=models, required=True)
    found.add_argument("--tokens", required=True, help="tokens.bin of make_data.py")
    found.add_argument("--batch-size", type=int, default=1, help="sequences per GPU and step")
    found.add_argument("--accumulation", type=int, default=1, help="batches per step")
    found.add_argument("--sequence-length", type=int, default=8192)
    found.add_argument("--steps", type=int, default=30)
    found.add_argument("--seed", type=int, default=1)
    found.add_argument("--precision", choices=["fp32", "bf16", "bf16-pure"], default="bf16")
    found.add_argument("--checkpointing", choices=["none", "full"], default="full", help="of activations")
    found.add_argument("--attention", default=attention, help="attn_implementation")
    found.add_argument("--compile", choices=["yes", "no"], default="no", help="torch.compile")
    return found


def model_of(given):
    """The model on this process's device: making 8 B weights on the CPU takes minutes."""
    import torch
    import transformers

    shape = SHAPES[given.model]
    config = transformers.LlamaConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        intermediate_size=shape.feed_forward,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        max_position_embeddings=given.sequence_length,
        rope_parameters={"rope_type": "default", "rope_theta": 500000.0},
        tie_word_embeddings=shape.tied,
        use_cache=False,
        attn_implementation=given.attention,
        dtype="bfloat16" if given.precision == "bf16-pure" else "float32",
    )
    place = f"cuda:{os.environ.get('LOCAL_RANK', 0)}" if torch.cuda.is_available() else "cpu"
    with torch.device(place):
        return transformers.AutoModelForCausalLM.from_config(config, dtype=config.dtype)

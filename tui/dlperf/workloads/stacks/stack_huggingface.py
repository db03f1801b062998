"""Start the Trainer of Hugging Face transformers on random weights: ``python stack_huggingface.py --help``.

The model class, training loop, sharding (FSDP2 by Accelerate) and log are those of the release; this program only
names the configuration, as its documentation shows. Needs transformers, accelerate and, in the same folder,
stack_tokens.py, llm_shapes.py and options.py.
"""

import argparse
import os
import tempfile

from llm_shapes import SHAPES


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=sorted(name for name in SHAPES if name.startswith("llama")), required=True)
    parser.add_argument("--tokens", required=True, help="tokens.bin of make_data.py")
    parser.add_argument("--batch-size", type=int, default=1, help="sequences per GPU and step")
    parser.add_argument("--accumulation", type=int, default=1, help="batches per step")
    parser.add_argument("--sequence-length", type=int, default=8192)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--precision", choices=["fp32", "bf16", "bf16-pure"], default="bf16")
    parser.add_argument("--checkpointing", choices=["none", "full"], default="full", help="of activations")
    parser.add_argument("--attention", default="sdpa", help="attn_implementation")
    parser.add_argument("--compile", choices=["yes", "no"], default="no", help="torch_compile")
    return parser.parse_args()


OPTIONS = options()  # before the framework loads, which takes seconds

import torch
import transformers
from stack_tokens import Tokens

CUDA = torch.cuda.is_available()


def model_of(shape, given):
    """The model on this process's device: making 8 B weights on the CPU takes minutes."""
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
    place = f"cuda:{os.environ.get('LOCAL_RANK', 0)}" if CUDA else "cpu"
    with torch.device(place):
        return transformers.AutoModelForCausalLM.from_config(config, dtype=config.dtype)


def arguments_of(given, folder):
    several = int(os.environ.get("WORLD_SIZE", 1)) > 1
    sharded = {
        "fsdp": True,
        "fsdp_config": {
            "version": 2,
            "auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
            "transformer_layer_cls_to_wrap": ["LlamaDecoderLayer"],
            "activation_checkpointing": given.checkpointing == "full",
            "cpu_ram_efficient_loading": False,
        },
    }
    return transformers.TrainingArguments(
        output_dir=folder,
        max_steps=given.steps,
        per_device_train_batch_size=given.batch_size,
        gradient_accumulation_steps=given.accumulation,
        gradient_checkpointing=given.checkpointing == "full" and not several,
        bf16=given.precision == "bf16",
        torch_compile=given.compile == "yes",
        optim="adamw_torch_fused",
        learning_rate=3e-4,
        weight_decay=0.1,
        seed=given.seed,
        use_cpu=not CUDA,
        logging_steps=1,
        include_num_input_tokens_seen="all",
        disable_tqdm=True,
        save_strategy="no",
        report_to=[],
        **(sharded if several else {}),
    )


def main(given):
    transformers.set_seed(given.seed)
    count = given.steps * given.batch_size * given.accumulation * int(os.environ.get("WORLD_SIZE", 1))
    data = Tokens(given.tokens, given.sequence_length, count)
    with tempfile.TemporaryDirectory() as folder:
        arguments = arguments_of(given, folder)
        model = model_of(SHAPES[given.model], given)
        transformers.Trainer(model=model, args=arguments, train_dataset=data).train()
        if CUDA and arguments.process_index == 0:
            print(f"peak memory {torch.cuda.max_memory_reserved()} bytes", flush=True)


if __name__ == "__main__":
    main(OPTIONS)

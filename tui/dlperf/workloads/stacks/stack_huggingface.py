"""Start the Trainer of Hugging Face transformers on random weights: ``python stack_huggingface.py --help``.

The model class, training loop, sharding (FSDP2 by Accelerate) and log are those of the release; this program only
names the configuration, as its documentation shows. Needs transformers, accelerate and, in the same folder,
stack_models.py, stack_tokens.py, llm_shapes.py and options.py.
"""

import os
import tempfile

from stack_models import layer_of, model_of, parser

OPTIONS = parser(__doc__, compiled=("no", "yes", "regional")).parse_args()  # before the framework loads: it is slow

import torch
import transformers
from stack_tokens import Tokens

CUDA = torch.cuda.is_available()
if OPTIONS.compile == "regional":  # each layer alone; the Trainer has no argument for this option of Accelerate
    os.environ["ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION"] = "true"


def arguments_of(given, folder):
    several = int(os.environ.get("WORLD_SIZE", 1)) > 1
    sharded = {
        "fsdp": True,
        "fsdp_config": {
            "version": 2,
            "auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
            "transformer_layer_cls_to_wrap": [layer_of(given)],
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
        torch_compile=given.compile != "no",
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
        model = model_of(given)
        transformers.Trainer(model=model, args=arguments, train_dataset=data).train()
        if CUDA and arguments.process_index == 0:
            print(f"peak memory {torch.cuda.max_memory_reserved()} bytes", flush=True)


if __name__ == "__main__":
    main(OPTIONS)

"""Start the trainer of OLMo-core on made tokens: ``python stack_olmo.py --help``.

Model, training loop, sharding and log are those of the release; it has no command of its own, so that this program
names the configuration, as its examples do. Needs ai2-olmo-core and, in the same folder, stack_models.py, llm_shapes.py
and options.py.
"""

import os
import tempfile

from stack_models import parser

OPTIONS = parser(
    __doc__, ("llama3-1b", "llama3-8b", "llama3-tiny"), checkpointing="none", compile="yes"
).parse_args()  # before the framework loads, which takes seconds

import torch
from olmo_core.config import DType
from olmo_core.data import NumpyDataLoaderConfig, NumpyFSLDatasetConfig, TokenizerConfig
from olmo_core.data.types import NumpyDatasetDType
from olmo_core.distributed.parallel import DataParallelType
from olmo_core.nn.transformer import TransformerConfig
from olmo_core.optim import AdamWConfig
from olmo_core.train import Duration, TrainerConfig, prepare_training_environment, teardown_training_environment
from olmo_core.train.callbacks import ConsoleLoggerCallback
from olmo_core.train.train_module import (
    TransformerActivationCheckpointingConfig,
    TransformerDataParallelConfig,
    TransformerTrainModuleConfig,
)
from olmo_core.utils import seed_all

CUDA = torch.cuda.is_available()
WIDTH = 4
"""Bytes of a token."""
TINY = {
    "d_model": 64,
    "n_layers": 2,
    "n_heads": 4,
    "n_kv_heads": 2,
    "hidden_size_multiplier": 0.94,
    "hidden_size_multiple_of": 32,
}


def model_of(given):
    dtype = DType.bfloat16 if given.precision == "bf16-pure" else DType.float32
    if given.model == "llama3-tiny":
        return TransformerConfig.llama_like(vocab_size=512, dtype=dtype, **TINY)
    make = TransformerConfig.llama3_1B if given.model == "llama3-1b" else TransformerConfig.llama3_8B
    return make(vocab_size=128256, dtype=dtype)


def module_of(given, world):
    parallel = TransformerDataParallelConfig(
        name=DataParallelType.fsdp,
        param_dtype=DType.float32 if given.precision == "fp32" else DType.bfloat16,
        reduce_dtype=DType.float32,
    )
    return TransformerTrainModuleConfig(
        rank_microbatch_size=given.batch_size * given.sequence_length,
        max_sequence_length=given.sequence_length,
        optim=AdamWConfig(lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=CUDA),
        max_grad_norm=1.0,
        compile_model=given.compile == "yes",
        dp_config=parallel if world > 1 else None,
        ac_config=TransformerActivationCheckpointingConfig() if given.checkpointing == "full" else None,
        autocast_precision=DType.bfloat16 if given.precision == "bf16" and world == 1 else None,
    )


def rounds(given, batch):
    """How often to name the tokens so that all steps are one epoch, after which the trainer starts its readers anew."""
    return -(-given.steps * batch // (os.path.getsize(given.tokens) // WIDTH // batch * batch))


def main(given, folder):
    world = int(os.environ.get("WORLD_SIZE", 1))
    seed_all(given.seed)
    model = model_of(given)
    module = module_of(given, world).build(model.build(init_device="meta"))
    batch = given.batch_size * given.accumulation * given.sequence_length * world
    words = TokenizerConfig(
        vocab_size=model.vocab_size, eos_token_id=model.vocab_size - 2, pad_token_id=model.vocab_size - 1
    )
    data = NumpyFSLDatasetConfig(
        tokenizer=words,
        paths=[given.tokens] * rounds(given, batch),
        sequence_length=given.sequence_length,
        dtype=NumpyDatasetDType.uint32,
        work_dir=folder,
    ).build()
    loader = NumpyDataLoaderConfig(global_batch_size=batch, seed=given.seed, num_workers=2)
    trainer = TrainerConfig(
        save_folder=folder,
        max_duration=Duration.steps(given.steps),
        metrics_collect_interval=1,
        no_checkpoints=True,
        no_evals=True,
        callbacks={"console": ConsoleLoggerCallback(log_interval=1, metrics_log_interval=1)},
    )
    trainer.build(module, loader.build(data, dp_process_group=module.dp_process_group)).fit()


if __name__ == "__main__":
    prepare_training_environment(
        seed=OPTIONS.seed, backend=None if int(os.environ.get("WORLD_SIZE", 1)) == 1 else "cpu:gloo,cuda:nccl"
    )
    with tempfile.TemporaryDirectory() as place:
        main(OPTIONS, place)
    teardown_training_environment()

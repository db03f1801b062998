"""Start Lightning's Trainer on a model of transformers with random weights: ``python stack_lightning.py --help``.

The training loop, sharding and mixed precision are those of the release; Lightning has no command of its own, so that
this program names model, data and arguments, as its documentation shows, and prints a line for each step in dlperf's
format. Needs lightning, transformers and, in the same folder, stack_models.py, stack_tokens.py, llm_shapes.py,
options.py and reporting.py.
"""

from options import positive
from reporting import Reporter
from stack_models import layer_of, model_of, parser


def options():
    found = parser(__doc__)
    found.add_argument("--gpus", type=positive, default=1, help="of a node")
    found.add_argument("--nodes", type=positive, default=1)
    given = found.parse_args()
    given.seconds = 0
    return given


OPTIONS = options()  # before the framework loads, which takes seconds

import lightning
import torch
from lightning.pytorch.strategies import FSDPStrategy
from stack_tokens import Tokens
from torch.utils.data import DataLoader

CUDA = torch.cuda.is_available()


class Model(lightning.LightningModule):
    def configure_model(self):
        if not hasattr(self, "model"):
            self.model = model_of(OPTIONS)
            if OPTIONS.checkpointing == "full" and self.trainer.world_size == 1:
                self.model.gradient_checkpointing_enable({"use_reentrant": False})
            if OPTIONS.compile == "yes":
                self.model.compile()

    def training_step(self, batch, _):
        return self.model(**batch).loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)

    def configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        """Clip as Lightning does, which refuses to for a fused optimizer, also in BF16, where nothing is scaled."""
        if gradient_clip_val:
            torch.nn.utils.clip_grad_norm_(self.parameters(), gradient_clip_val)


class Report(lightning.Callback):
    """Prints each step; what a step consists of is Lightning's."""

    def on_train_start(self, trainer, module):
        facts = {
            "unit": "tokens/s",
            "framework": "lightning",
            "framework_version": lightning.__version__,
            "data": "made text",
        }
        facts.update(gpus=trainer.world_size, checkpointing=OPTIONS.checkpointing, attention=OPTIONS.attention)
        self.report = Reporter(OPTIONS, trainer.global_rank, **facts)
        self.step = 0

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        if trainer.global_step > self.step:
            self.step = trainer.global_step
            tokens = OPTIONS.batch_size * OPTIONS.accumulation * OPTIONS.sequence_length * trainer.world_size
            self.report.interval(self.step, self.step * tokens, outputs["loss"].item() * OPTIONS.accumulation)

    def on_train_end(self, trainer, module):
        self.report.finish(peak_memory_bytes=torch.cuda.max_memory_allocated() if CUDA else None)


def layers():
    """The classes of layers of the models."""
    import transformers.models as models

    for name in ("llama", "qwen3", "qwen3_moe"):
        yield from vars(getattr(getattr(models, name), f"modeling_{name}")).values()


def main(given):
    lightning.seed_everything(given.seed)
    several = given.gpus * given.nodes > 1
    layer = next(kind for kind in layers() if kind.__name__ == layer_of(given)) if several else None
    recomputed = {layer} if given.checkpointing == "full" else None
    trainer = lightning.Trainer(
        accelerator="gpu" if CUDA else "cpu",
        devices=given.gpus,
        num_nodes=given.nodes,
        strategy=FSDPStrategy(auto_wrap_policy={layer}, activation_checkpointing_policy=recomputed)
        if several
        else "auto",
        precision={"fp32": "32-true", "bf16": "bf16-mixed", "bf16-pure": "bf16-true"}[given.precision],
        max_steps=given.steps,
        accumulate_grad_batches=given.accumulation,
        gradient_clip_val=None if several else 1.0,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[Report()],
    )
    count = given.steps * given.batch_size * given.accumulation * trainer.world_size
    trainer.fit(
        Model(),
        DataLoader(Tokens(given.tokens, given.sequence_length, count), batch_size=given.batch_size, pin_memory=CUDA),
    )


if __name__ == "__main__":
    main(OPTIONS)

"""Language-model pre-training in PyTorch on synthetic tokens: ``python pytorch_llm.py --help``.

GPT-2 and Llama 3 shapes, AdamW, next-token prediction. Tokens are drawn with the frequency of words in a text (Zipf),
and every second one follows from the one before, so that both can be learned. Rates are in tokens. Needs PyTorch >= 2.6
and, in the same folder, pytorch_transformer.py, pytorch_adamw.py, pytorch_fp8.py, pytorch_swiglu.py,
pytorch_tensor_parallel.py, pytorch_trainer.py, pytorch_numerics.py, llm_shapes.py, options.py and reporting.py.
"""

import contextlib
import itertools

from llm_shapes import GRADIENT_NORM, SHAPES, language, language_facts
from options import positive, pytorch, refuse


def options():
    parser = pytorch(language(__doc__, ["cudnn", "flash", "any"], "any"))
    parser.add_argument("--tensor-parallel", type=positive, default=1, help="GPUs that share a batch and each block")
    parser.add_argument(
        "--update", choices=["any-size", "each-size"], default="any-size", help="what AdamW's update is compiled for"
    )
    return parser.parse_args()


if __name__ == "__main__":
    OPTIONS = options()  # before the framework loads: see options.py

import pytorch_tensor_parallel as tensor_parallel
import pytorch_transformer
import torch
import torch.distributed as dist
from pytorch_adamw import BETAS, EPSILON, AdamW
from pytorch_numerics import compiled_parts
from pytorch_trainer import GradientAverager, World, check_equal, compiled, prepare, train
from pytorch_transformer import Transformer
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.attention import SDPBackend, sdpa_kernel

LOSS_TOLERANCE = 1e-4
"""Relative difference of the ranks' losses by rounding: each rank tunes its own kernels (1.7e-6 on two H100)."""
BACKENDS = {"cudnn": [SDPBackend.CUDNN_ATTENTION], "flash": [SDPBackend.FLASH_ATTENTION]}


def weight_type(precision):
    """Data type of weights, gradients and optimizer state."""
    return torch.float32 if precision in ("fp32", "bf16") else torch.bfloat16


def built(world, shape, options):
    """The model with its weights, precision, checkpointing, compilation and division over ranks."""
    with torch.device("meta"):
        model = Transformer(shape, options.sequence_length, options.stock).to(weight_type(options.precision))
    if options.precision == "fp8":
        import pytorch_fp8

        pytorch_fp8.convert(model.blocks)
    model.to_empty(device=world.device)
    model.initialize(world.device, options.seed)
    mesh = None
    if options.tensor_parallel > 1:
        mesh = tensor_parallel.divide(model.blocks, world, options.tensor_parallel)
    if options.checkpointing == "full":
        model.blocks = torch.nn.ModuleList(checkpoint_wrapper(block) for block in model.blocks)
    if world.size == 1 or options.parallel == "replicate":
        return compiled(model, options)
    return sharded(model, options, mesh)


def sharded(model, options, mesh):
    """Weights, gradients and optimizer state divided over the ranks of a mesh, or all (FSDP2), each block gathered when
    it is used."""
    policy = MixedPrecisionPolicy(
        param_dtype=torch.bfloat16 if options.precision == "bf16" else None, reduce_dtype=torch.float32
    )
    # Nothing around it is compiled: as single operations it would take 20 GB for 8192 tokens and 128 256 words.
    pytorch_transformer.loss_and_gradient = compiled(pytorch_transformer.loss_and_gradient, options)
    again = options.gather == "twice"
    for number, block in enumerate(model.blocks):
        block = compiled(block, options)
        model.blocks[number] = fully_shard(block, mesh=mesh, mp_policy=policy, reshard_after_forward=again)
    return fully_shard(model, mesh=mesh, mp_policy=policy)


class LanguageTrainer:
    """One training step: forward, backward, clipping, AdamW. The interface of ``pytorch_trainer.Trainer``."""

    def __init__(self, world, model, options):
        self.world, self.model, self.options = world, model, options
        self.parameters = list(model.parameters())
        self.sharded = world.size > 1 and options.parallel == "fsdp"
        self.scale, self.scaler = 1.0, torch.amp.GradScaler(enabled=False)
        dynamic = None if options.compile == "none" else options.update == "any-size"
        self.optimizer = AdamW(self.parameters, options.learning_rate, 0.1, dynamic)
        if options.stock:
            settings = {"lr": options.learning_rate, "betas": BETAS, "eps": EPSILON, "weight_decay": 0.1}
            self.optimizer = torch.optim.AdamW(self.parameters, **settings, fused=world.device.type == "cuda")
        self.average = GradientAverager(world, self.parameters) if world.size > 1 and not self.sharded else None

    def gradients(self, tokens, targets):
        """Forward, backward and the exchange of gradients; returns the loss, on the device."""
        for parameter in self.parameters:
            parameter.grad = None
        with self._precision(), self._attention():
            loss = self.model(tokens, targets)
            loss.backward()
        if self.average:
            self.average.finish()
        return loss.detach()

    def update(self):
        """Clip the gradients and move the weights; queued without waiting for the device."""
        if self.options.stock:
            torch.nn.utils.clip_grad_norm_(self.parameters, GRADIENT_NORM)
            self.optimizer.step()
            return
        if self.options.tensor_parallel > 1:
            norm = tensor_parallel.gradient_norm(self.parameters, self.options.tensor_parallel)
        else:
            norm = torch.nn.utils.get_total_norm([each.grad for each in self.parameters], foreach=True)
            norm = norm.full_tensor() if self.sharded else norm
        self.optimizer.step((GRADIENT_NORM / norm).clamp(max=1.0))

    def state(self):
        """The tensors of the optimizer's state."""
        if self.options.stock:
            return [each for of in self.optimizer.state.values() for each in of.values()]
        return [moment for pair in self.optimizer.moments for moment in pair]

    def compiled(self):
        """What the compiler has of the step."""
        own = () if self.options.stock else (self.optimizer.moved,)
        return compiled_parts(self.model, pytorch_transformer.loss_and_gradient, *own)

    def check(self, batch):
        """Every rank must compute the same loss from the same tokens, or the gradients were not exchanged.

        Raises:
            SystemExit: they differ.
        """
        if self.world.size == 1:
            return
        for tensor in batch:
            dist.broadcast(tensor, 0)
        with torch.no_grad(), self._precision(), self._attention():
            loss = self.model(*batch).double()
        check_equal(loss, tolerance=LOSS_TOLERANCE)

    def _precision(self):
        mixed = self.options.precision == "bf16" and not self.sharded
        return torch.autocast(self.world.device.type, torch.bfloat16, enabled=mixed)

    def _attention(self):
        backends = BACKENDS.get(self.options.attention)
        return sdpa_kernel(backends) if backends else contextlib.nullcontext()


def synthetic_batches(world, vocabulary, options):
    """For ever: tokens and the tokens that follow them, both batch × sequence length.

    A token of an even place is drawn with a probability that falls as one over its rank (Zipf's law); one of an odd
    place follows from the one before by a fixed shift.
    """
    generator = torch.Generator(world.device).manual_seed(options.seed + 1 + world.rank * world.batches // world.size)
    length = options.sequence_length + 1
    batches = []
    for _ in range(options.batches):
        draws = torch.rand((options.batch_size, (length + 1) // 2), generator=generator, device=world.device)
        drawn = (vocabulary**draws).long() - 1
        text = torch.stack([drawn, (drawn + 1) * 7 % vocabulary], dim=-1).flatten(1)[:, :length]
        batches.append((text[:, :-1].contiguous(), text[:, 1:].contiguous()))
    return itertools.cycle(batches)


def main(options):
    prepare(options)
    world = World()
    shape = SHAPES[options.model]
    if reason := tensor_parallel.refusal(options, shape, world.size):
        refuse("--tensor-parallel", reason)
    world.batches = world.size // options.tensor_parallel
    model = built(world, shape, options)
    counted = sum(parameter.numel() for parameter in model.parameters())
    trainer = LanguageTrainer(world, model, options)
    facts = language_facts(options, counted, world.size)
    facts |= {"tensor_parallel": options.tensor_parallel, "global_batch_size": options.batch_size * world.batches}
    batches = synthetic_batches(world, shape.vocabulary, options)
    train(world, trainer, batches, options, per_sample=options.sequence_length, **facts)


if __name__ == "__main__":
    main(OPTIONS)

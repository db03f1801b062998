"""Training loop of the PyTorch programs: precision, compilation, CUDA graph, data parallelism, self-checks.

Needs PyTorch >= 2.4. Copied to the node with the program that uses it. One process per GPU: started alone, or
by torchrun, which sets RANK, WORLD_SIZE and LOCAL_RANK.
"""

import contextlib
import itertools
import json
import math
import os
import sys
import tempfile

import torch
import torch._inductor.config
import torch.distributed as dist
from pytorch_numerics import compiled_parts, most, used_types
from reporting import WARM_UP_STEPS, Reporter
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler

DTYPES = {
    "fp32": torch.float32,
    "tf32": torch.float32,
    "amp": torch.float32,
    "bf16": torch.float32,
    "bf16-pure": torch.bfloat16,
    "fp16-pure": torch.float16,
}
"""Of weights, gradients and optimizer state."""
AUTOCAST = {"amp": torch.float16, "bf16": torch.bfloat16}
STATIC_LOSS_SCALE = 128.0
"""For pure fp16, whose gradients underflow without it; the value of NVIDIA's ResNet-50 configuration."""


class World:
    """Rank, device and process group of this process."""

    def __init__(self):
        self.size = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = int(os.environ.get("RANK", "0"))
        local = int(os.environ.get("LOCAL_RANK", "0"))
        cuda = torch.cuda.is_available()
        self.device = torch.device("cuda", local) if cuda else torch.device("cpu")
        if cuda:
            torch.cuda.set_device(self.device)
        if self.size > 1:
            dist.init_process_group("nccl" if cuda else "gloo")
        self.batches = self.size
        """Ranks, or groups of ranks, that train on samples of their own."""

    def synchronize(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def average(self, tensor):
        """Average a tensor over all ranks, in place, and return it."""
        if self.size > 1:
            dist.all_reduce(tensor)
            tensor.div_(self.size)
        return tensor

    def close(self):
        """Leave the other ranks. The process ends here, because its own end is not reliable on the CPU: after the
        interpreter, which FSDP's states and thus gloo's threads outlive, it aborted once in ten to twenty runs."""
        if self.size > 1:
            dist.destroy_process_group()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)


class GradientAverager:
    """Data parallelism: averages the gradients of all ranks in one all-reduce per data type.

    torch.compile makes the backward pass one autograd node, so that all gradients are ready at once: smaller buckets
    could not overlap with it, and one large message is the fastest.
    """

    def __init__(self, world, parameters):
        dtypes = sorted({parameter.dtype for parameter in parameters}, key=str)
        self.buckets = [Bucket(world, [each for each in parameters if each.dtype == dtype]) for dtype in dtypes]

    def finish(self):
        """Replace the parameters' gradients by the averages, which the device waits for."""
        for bucket in self.buckets:
            bucket.receive()


class Bucket:
    """Gradients that are sent to the other ranks in one message when the last of them is ready."""

    def __init__(self, world, members):
        self.world, self.members, self.missing, self.sent = world, members, len(members), None
        self.flat = torch.zeros(sum(each.numel() for each in members), dtype=members[0].dtype, device=world.device)
        self.views = _views(self.flat, members)
        for member in members:
            member.register_post_accumulate_grad_hook(self.arrived)

    def arrived(self, _):
        self.missing -= 1
        if self.missing == 0:
            self.missing = len(self.members)
            torch._foreach_copy_(self.views, [member.grad for member in self.members])
            self.sent = dist.all_reduce(self.flat, async_op=True)

    def receive(self):
        self.sent.wait()
        self.flat.div_(self.world.size)
        for member, view in zip(self.members, self.views):
            member.grad = view


def _views(flat, members):
    """Split ``flat`` into the members' parts, in their shapes and memory layouts."""
    parts = flat.split([member.numel() for member in members])
    return [part.as_strided(member.size(), member.stride()) for part, member in zip(parts, members)]


class Trainer:
    """One training step of a model that returns its loss.

    ``replicated`` are the parameters that every rank holds and whose gradients are averaged. An overflow in other
    parameters is visible on one rank only: its loss scaler informs the others, so that all skip the same steps.
    """

    def __init__(self, world, model, replicated, optimizer, options):
        self.world, self.model, self.replicated = world, model, replicated
        self.optimizer, self.options = optimizer, options
        self.parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        start_momentum(optimizer)
        self.split = world.size > 1 and len(replicated) < len(self.parameters)
        scaler = ShardedGradScaler if self.split else torch.amp.GradScaler
        self.scaler = scaler(world.device.type, enabled=options.precision == "amp")
        self.scale = STATIC_LOSS_SCALE if options.precision == "fp16-pure" else 1.0
        self.average = GradientAverager(world, replicated) if world.size > 1 else None

    def gradients(self, *batch):
        """Run forward and backward pass, exchange gradients, and return the loss, on the device."""
        for parameter in self.parameters:
            parameter.grad = None
        dtype = AUTOCAST.get(self.options.precision)
        with torch.autocast(self.world.device.type, dtype or torch.float16, enabled=dtype is not None):
            loss = self.model(*batch)
        self.scaler.scale(loss * self.scale).backward()
        if self.average:
            self.average.finish()
        return loss.detach()

    def update(self):
        """Update the weights, without waiting for the device."""
        if self.scale != 1.0:
            torch._foreach_div_([parameter.grad for parameter in self.parameters], self.scale)
        if self.split:
            self.scaler.unscale_(self.optimizer)  # informs the other ranks
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def state(self):
        """The tensors of the optimizer's state."""
        return [each for of in self.optimizer.state.values() for each in of.values() if isinstance(each, torch.Tensor)]

    def compiled(self):
        """What the compiler has of the step."""
        return compiled_parts(self.model)

    def check(self, batch):
        """Every rank must hold the same weights."""
        check_ranks_agree(self.world, self.replicated)


def start_momentum(optimizer):
    """Set the momentum of SGD to zero: where a loss scaler skips the first step, the fused optimizer leaves the
    momentum that it allocates uninitialized."""
    if not isinstance(optimizer, torch.optim.SGD):
        return
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            optimizer.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)


def compiled(module, options):
    """Apply torch.compile to a module where the options ask for it."""
    if options.compile == "none":
        return module
    return torch.compile(module, mode={"default": None, "max-autotune": "max-autotune-no-cudagraphs"}[options.compile])


def graphed(trainer, batch):
    """Capture ``gradients`` as one CUDA graph: a function that copies a batch in, replays, and returns the loss."""
    static = [tensor.clone(memory_format=torch.preserve_format) for tensor in batch]
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            trainer.gradients(*static)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):  # NCCL's watchdog thread calls CUDA
        loss = trainer.gradients(*static)

    def replay(*new):
        for target, source in zip(static, new):
            target.copy_(source)
        graph.replay()
        return loss

    return replay


def prepare(options):
    """Apply process-wide settings, before the model is built."""
    tf32 = options.precision != "fp32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(options.seed)
    for setting in options.inductor:
        key, _, value = setting.partition("=")
        setattr(torch._inductor.config, key, json.loads(value))


def training_step(trainer, gradients, batches):
    """A function that trains one step and returns its loss, on the device."""

    def step():
        loss = gradients(*next(batches)).clone()  # a graph writes the next loss to the same place
        trainer.update()
        return loss

    return step


def train(world, trainer, batches, options, per_sample=1, **facts):
    """Warm up, train, report, check; ``batches``, an endless iterator, gives tuples of tensors on the device.

    ``per_sample``: how many units of the rate, such as tokens, a sample holds.
    """
    first = next(batches)
    used = used_types(trainer, first)
    batches = itertools.chain([first], batches)
    for _ in range(WARM_UP_STEPS):
        first = next(batches)
        trainer.gradients(*first)
        trainer.update()
    used["optimizer"] = most(trainer.state())
    gradients = graphed(trainer, first) if options.cuda_graph else trainer.gradients
    world.synchronize()
    facts.update(framework="pytorch", framework_version=torch.__version__, gpus=world.size)
    facts.update(
        compiled=trainer.compiled(), graphs="none" if gradients == trainer.gradients else "forward and backward"
    )
    report = Reporter(options, world.rank, used, **facts)

    def mean(losses):
        return world.average(torch.stack(losses).float().mean()).item()

    def agree(seconds):
        return world.average(torch.tensor(seconds, device=world.device)).item()

    step = training_step(trainer, gradients, batches)
    report.train(step, mean, per_sample * world.batches, agree)
    trainer.check(first)
    if options.profile:
        write_profile(world, options.profile, step)
    report.finish(peak_memory_bytes=torch.cuda.max_memory_allocated() if world.device.type == "cuda" else None)
    del gradients, step  # a communicator cannot be closed while a graph holds it
    world.close()


def write_profile(world, path, step):
    """Profile some steps on rank 0 and write the summary; the other ranks only take part.

    One session, which warms up with a step: CUDA graphs do not bear a second start of the profiler.
    """
    import profiling

    alone = profiling.timed(step, world.synchronize)
    schedule = torch.profiler.schedule(wait=0, warmup=1, active=1, repeat=1)
    recorder = contextlib.nullcontext() if world.rank else torch.profiler.profile(schedule=schedule)
    with recorder as profiler:
        step()
        world.synchronize()
        if profiler:
            profiler.step()
        profiled = profiling.timed(step, world.synchronize)
        if profiler:
            profiler.step()
    if profiler:
        with tempfile.TemporaryDirectory() as folder:
            recorded = os.path.join(folder, profiling.TRACE)
            profiler.export_chrome_trace(recorded)
            profiling.write(path, recorded, alone, profiled, world.device.type == "cuda", "pytorch")


def check_ranks_agree(world, parameters):
    """Exit where ranks hold different weights at the end: the gradients were not exchanged."""
    if world.size == 1:
        return
    check_equal(torch.stack([parameter.detach().double().sum() for parameter in parameters]).sum())


def check_equal(value, tolerance=0.0):
    """Exit where the values of ranks differ by more than a relative tolerance, or are not finite."""
    lowest, highest = (value.nan_to_num(math.inf, math.inf, -math.inf) for _ in range(2))  # gloo may drop a nan
    dist.all_reduce(lowest, op=dist.ReduceOp.MIN)
    dist.all_reduce(highest, op=dist.ReduceOp.MAX)
    if not highest.item() - lowest.item() <= tolerance * abs(highest.item()) < math.inf:
        raise SystemExit(f"no figure: the ranks hold different weights ({lowest.item()!r} … {highest.item()!r})")

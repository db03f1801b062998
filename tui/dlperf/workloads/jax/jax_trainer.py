"""Training loop of the JAX programs: precision, data parallelism over devices and processes, self-checks.

Needs JAX >= 0.7. Copied to the node with the program that uses it.
"""

import glob
import itertools
import os
import tempfile
from typing import Callable, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.ad_checkpoint import checkpoint_name
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax_numerics import GRADIENTS, LOGITS, marked, used_types
from reporting import WARM_UP_STEPS, Reporter

DTYPES = {
    "fp32": jnp.float32,
    "tf32": jnp.float32,
    "bf16": jnp.bfloat16,
    "bf16-pure": jnp.bfloat16,
    "fp8": jnp.bfloat16,
    "fp16": jnp.float16,
}
LOSS_SCALE = {"fp16": 128.0}
MOMENTUM = 0.1
"""Of the running statistics of batch normalization, PyTorch's default."""
EVERYWHERE, SPLIT = PartitionSpec(), PartitionSpec("data")
"""Every device holds the whole array; every device holds a part of the rows."""


def prepare(options):
    """Apply process-wide settings, join the other processes, and return the data type of activations."""
    jax.config.update("jax_default_matmul_precision", "float32" if options.precision == "fp32" else "tensorfloat32")
    if int(os.environ.get("JAX_NUM_PROCESSES", "1")) > 1:
        jax.distributed.initialize(
            os.environ["JAX_COORDINATOR_ADDRESS"],
            int(os.environ["JAX_NUM_PROCESSES"]),
            int(os.environ["JAX_PROCESS_ID"]),
        )
    return DTYPES[options.precision]


def device_mesh():
    """All devices of all processes on one axis named "data"."""
    return Mesh(np.array(jax.devices()), ("data",))


def on_each_device(function):
    """Run ``function`` (parameters, rows of a batch → arrays with rows) on every device with its own rows.

    Batch normalization then uses the statistics of one device's samples, as in the other frameworks, and only the
    gradients of the parameters are exchanged.
    """

    def own(parameters, batch):
        return function(parameters, *batch)

    mapped = jax.shard_map(own, mesh=device_mesh(), in_specs=(EVERYWHERE, SPLIT), out_specs=SPLIT, check_vma=False)
    return lambda parameters, *batch: mapped(parameters, batch)


GATHERED = "gathered"


def gathered(arrays):
    """Make arrays that are split over the devices whole for the moment, named so that they need not be kept (FSDP).

    Left to choose, XLA exchanges activations instead where they are smaller than the weights.
    """
    whole = NamedSharding(device_mesh(), EVERYWHERE)
    return jax.tree.map(lambda each: checkpoint_name(jax.lax.with_sharding_constraint(each, whole), GATHERED), arrays)


def divided(array):
    """Keep the rows of an array divided over the devices and its other sides whole, as cuDNN's attention needs it."""
    mesh = device_mesh()
    return array if mesh.size == 1 else jax.lax.with_sharding_constraint(array, NamedSharding(mesh, SPLIT))


def averaged(loss):
    """Average a loss (parameters, *batch → scalar, statistics) over all devices, each with its own rows.

    Running statistics are not averaged: each device has its own, as in the other frameworks.
    """
    rows = on_each_device(lambda parameters, *batch: jax.tree.map(lambda each: each[None], loss(parameters, *batch)))

    def average(parameters, *batch):
        values, seen = rows(parameters, *batch)
        return values.mean(), seen

    return average


def cross_entropy(logits, labels):
    """Mean cross-entropy of rows of logits, computed in fp32."""
    logits = marked(logits, LOGITS).astype(jnp.float32)
    return (jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]).mean()


def dense(weight_and_bias, x):
    """Rows times a matrix, plus a bias, in the rows' data type."""
    weight, bias = weight_and_bias
    return x @ weight.astype(x.dtype) + bias.astype(x.dtype)


def looked_up(positions, length):
    """The first rows of a table of positions, for a batch.

    Looked up, not sliced: after a slice, XLA keeps activations with the batch innermost. A step of
    GPT-2 124M, batch 64, then runs 1,200 kernels in place of 963, which read and write 40 GB more (as JAX 0.11.2
    compiles it for an H100).
    """
    return positions[jnp.arange(length)[None]]


def normalized(x, scale, shift=None, centered=True):
    """LayerNorm or, where not centered, RMSNorm of rows, computed in fp32."""
    y = x.astype(jnp.float32)
    if centered:
        y = y - y.mean(-1, keepdims=True)
    y = y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-5) * scale.astype(jnp.float32)
    return (y if shift is None else y + shift.astype(jnp.float32)).astype(x.dtype)


class Optimizer(NamedTuple):
    """``start``: parameters → state. ``update``: parameters, state, gradients → parameters, state."""

    start: Callable
    update: Callable


def sgd(learning_rate, weight_decay=5e-5):
    """Stochastic gradient descent with momentum 0.9."""

    def start(parameters):
        return jax.tree.map(jnp.zeros_like, parameters)

    def update(parameters, momentum, gradients):
        momentum = jax.tree.map(lambda m, g, p: 0.9 * m + g + weight_decay * p, momentum, gradients, parameters)
        return jax.tree.map(lambda p, m: p - learning_rate * m, parameters, momentum), momentum

    return Optimizer(start, update)


def adamw(learning_rate, epsilon=1e-6, weight_decay=0.01, betas=(0.9, 0.999)):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2017), computed in fp32.

    Moments have the parameter's data type; norms and biases decay too.
    """

    def start(parameters):
        first = jax.tree.map(jnp.zeros_like, parameters)
        steps = jax.device_put(np.float32(0), NamedSharding(device_mesh(), EVERYWHERE))  # as ``update`` returns it
        return {"first": first, "second": jax.tree.map(jnp.zeros_like, parameters), "steps": steps}

    def update(parameters, state, gradients):
        steps = state["steps"] + 1

        def moved(p, m, v, g):
            p32, g = p.astype(jnp.float32), g.astype(jnp.float32)
            m32 = betas[0] * m.astype(jnp.float32) + (1 - betas[0]) * g
            v32 = betas[1] * v.astype(jnp.float32) + (1 - betas[1]) * g * g
            pace = m32 / (1 - betas[0] ** steps) / (jnp.sqrt(v32 / (1 - betas[1] ** steps)) + epsilon)
            p32 = p32 - learning_rate * (pace + weight_decay * p32)
            return p32.astype(p.dtype), m32.astype(p.dtype), v32.astype(p.dtype)

        each = jax.tree.map(moved, parameters, state["first"], state["second"], gradients)
        parameters, first, second = jax.tree.transpose(jax.tree.structure(parameters), None, each)
        return parameters, {"first": first, "second": second, "steps": steps}

    return Optimizer(start, update)


def clipped(optimizer, norm):
    """An optimizer that shrinks the gradients to a global norm where theirs is larger."""

    def update(parameters, state, gradients):
        squares = [jnp.sum(jnp.square(each.astype(jnp.float32))) for each in jax.tree.leaves(gradients)]
        shrink = jnp.minimum(1.0, norm / jnp.sqrt(sum(squares)))
        gradients = jax.tree.map(lambda gradient: gradient.astype(jnp.float32) * shrink, gradients)
        return optimizer.update(parameters, state, gradients)

    return Optimizer(optimizer.start, update)


def data_key(options):
    """The key of all data: none of a weight, since ``create`` splits or counts from 0, which gives the same keys."""
    return jax.random.fold_in(jax.random.key(options.seed), 1 << 31)


def synthetic(batch, options):
    """Endless batches made on the devices; ``batch``: key, count → tuple of arrays. They count from 1."""
    mesh = device_mesh()
    make = jax.jit(batch, static_argnums=1, out_shardings=NamedSharding(mesh, SPLIT))
    key = data_key(options)
    total = options.batch_size * mesh.size
    return itertools.cycle([make(jax.random.fold_in(key, 1 + number), total) for number in range(options.batches)])


def train(create, loss, batches, optimizer, options, placement=EVERYWHERE, per_sample=1, **facts):
    """Create parameters on the devices, compile, train, report and check.

    Args:
        create: key → parameters. loss: parameters, *batch → scalar, and mean and variance that each batch
            normalization saw, with a row for each device.
        batches: an endless iterator of tuples of arrays, split over the devices.
        placement: how the parameters lie on the devices, for all or, in a tree, for each; by default every device
            holds them all.
        per_sample: how many units of the rate, such as tokens, a sample holds.
    """
    mesh = device_mesh()
    parameters = jax.jit(create, out_shardings=_shardings(mesh, placement))(jax.random.key(options.seed))
    first = next(batches)
    arrays = (parameters, optimizer.start(parameters), running_statistics(loss, parameters, first))
    scale = LOSS_SCALE.get(options.precision, 1.0)
    traced = jax.jit(_step(loss, optimizer, scale), donate_argnums=0).trace(arrays, *first)
    step = traced.lower().compile()
    used = used_types(traced.jaxpr, *arrays[:2], step) | ({} if scale == 1.0 else {"loss_scaling": "static"})
    batches = itertools.chain([first], batches)
    for _ in range(WARM_UP_STEPS):
        arrays, value = step(arrays, *next(batches))
    value.block_until_ready()
    rank = jax.process_index()
    facts.update(framework="jax", framework_version=jax.__version__, gpus=mesh.size)
    report = Reporter(options, rank, used, compiled="step", **facts)

    def next_loss():
        nonlocal arrays
        arrays, value = step(arrays, *next(batches))
        return value

    def agree(seconds):
        return float(np.max(multihost_utils.process_allgather(np.float32(seconds))))

    def mean(losses):
        return float(np.mean(jax.device_get(losses)))

    report.train(next_loss, mean, mesh.size * per_sample, agree)
    check_devices_agree(arrays[0])
    if options.profile:
        write_profile(options.profile, rank, next_loss)
    report.finish(peak_memory_bytes=(jax.local_devices()[0].memory_stats() or {}).get("peak_bytes_in_use"))


def running_statistics(loss, parameters, batch):
    """Mean 0 and variance 1 for each batch normalization, on every device; nothing without one."""
    _, seen = jax.eval_shape(loss, parameters, *batch)
    split = NamedSharding(device_mesh(), SPLIT)
    return [
        tuple(jax.jit(jnp.full, static_argnums=(0, 1), out_shardings=split)(each.shape, start) for each, start in pair)
        for pair in (zip(each, (0.0, 1.0)) for each in seen)
    ]


def write_profile(path, rank, next_loss):
    """Profile some steps in the first process and write the summary; the others only take part."""
    import profiling

    last = None

    def step():
        nonlocal last
        last = next_loss()

    def synchronize():
        jax.block_until_ready(last)

    alone = profiling.timed(step, synchronize)
    if rank:
        profiling.timed(step, synchronize)
        return
    settings = jax.profiler.ProfileOptions()
    settings.python_tracer_level = 0
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder, profiler_options=settings):
            profiled = profiling.timed(step, synchronize)
        recorded = sorted(glob.glob(f"{folder}/**/*.trace.json.gz", recursive=True))[-1]
        profiling.write(path, recorded, alone, profiled, jax.default_backend() == "gpu", "jax")


def _shardings(mesh, placement):
    return jax.tree.map(
        lambda part: NamedSharding(mesh, part), placement, is_leaf=lambda node: isinstance(node, PartitionSpec)
    )


def _step(loss, optimizer, scale):
    """One training step; ``scale`` keeps half-precision gradients from underflow."""

    def step(arrays, *batch):
        parameters, state, statistics = arrays

        def scaled(parameters):
            value, seen = loss(parameters, *batch)
            return value * scale, seen

        (value, seen), gradients = jax.value_and_grad(scaled, has_aux=True)(parameters)
        gradients = marked(jax.tree.map(lambda gradient: gradient / scale, gradients), GRADIENTS)
        parameters, state = optimizer.update(parameters, state, gradients)
        statistics = jax.tree.map(lambda old, new: old + MOMENTUM * (new - old), statistics, list(seen))
        return (parameters, state, statistics), value / scale

    return step


def check_devices_agree(parameters):
    """Exit where devices hold different weights at the end: the gradients were not exchanged.

    Parameters that are split over the devices have no second copy to compare.
    """
    sums = dict.fromkeys(jax.local_devices(), 0.0)
    for leaf in jax.tree.leaves(parameters):
        if leaf.sharding.is_fully_replicated:
            for shard in leaf.addressable_shards:
                sums[shard.device] += np.asarray(shard.data).sum(dtype=np.float64)
    bits = np.array(list(sums.values())).view(np.uint32)  # bits, because float64 would be rounded to float32
    copies = multihost_utils.process_allgather(bits).reshape(-1, 2)
    if not (copies == copies[0]).all():
        raise SystemExit("no figure: the devices hold different weights")

"""A small network under JAX: one process for each rank, gradients averaged over all of them."""

import os

import jax
import jax.numpy as jnp

from report import BATCH, STEPS, end, record

rank, ranks = int(os.environ["JAX_PROCESS_ID"]), int(os.environ["JAX_NUM_PROCESSES"])
jax.distributed.initialize(os.environ["JAX_COORDINATOR_ADDRESS"], ranks, rank)
from jax.experimental import multihost_utils  # noqa: E402  (it must come after the start)

mesh = jax.sharding.Mesh(jax.devices(), "ranks")


def loss_of(weights, inputs):
    hidden = jnp.tanh(inputs @ weights[0])
    return jnp.mean((hidden @ weights[1] - inputs.sum(1, keepdims=True)) ** 2)


@jax.jit
def update(weights, inputs):
    loss, gradients = jax.value_and_grad(loss_of)(weights, inputs)
    return jax.tree.map(lambda weight, gradient: weight - 0.05 * gradient, weights, gradients), loss


first, second = jax.random.split(jax.random.key(0))
weights = [0.5 * jax.random.normal(first, (4, 8)), 0.5 * jax.random.normal(second, (8, 1))]
weights = multihost_utils.host_local_array_to_global_array(weights, mesh, jax.sharding.PartitionSpec())
key = jax.random.key(rank)
for step in range(1, STEPS + 1):
    key, own = jax.random.split(key)
    mine = jax.random.normal(own, (BATCH, 4))
    inputs = multihost_utils.host_local_array_to_global_array(mine, mesh, jax.sharding.PartitionSpec("ranks"))
    weights, loss = update(weights, inputs)
    record(rank, ranks, step, float(loss.addressable_data(0)))
end(rank, ranks, weights[1].addressable_data(0).ravel()[:3].tolist())

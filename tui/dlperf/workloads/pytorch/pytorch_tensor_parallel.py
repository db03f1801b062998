"""Tensor parallelism of a transformer's blocks (Shoeybi et al. 2019) beside FSDP2. Needs PyTorch >= 2.6.

Heads and the width of the feed-forward are split over GPUs that share a batch; norms, embedding and head are not.
Copied to the node with its program.
"""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

COLUMNS, ROWS = ("attention.project", "feed_forward.wide"), ("attention.output", "feed_forward.narrow")


def refusal(options, shape, ranks):
    """Why these options do not go together; empty where they do."""
    size = options.tensor_parallel
    if ranks % size or shape.kv_heads % size or shape.feed_forward % size:
        return f"{size} must divide {ranks} ranks, {shape.kv_heads} heads of keys and {shape.feed_forward} columns"
    if size > 1 and (options.precision == "fp8" or options.parallel == "replicate"):
        return "needs --parallel fsdp and another precision than fp8"
    return ""


def divide(blocks, world, size):
    """Divide blocks over groups of ``size`` ranks, in place; return the mesh over which FSDP divides the rest."""
    mesh = init_device_mesh(world.device.type, (world.size // size, size), mesh_dim_names=("fsdp", "tensor"))
    plan = dict.fromkeys(COLUMNS, ColwiseParallel()) | dict.fromkeys(ROWS, RowwiseParallel())
    for block in blocks:
        attention, wide, narrow = block.attention, block.feed_forward.wide, block.feed_forward.narrow
        _regroup(attention.project, attention.sizes, size)
        _regroup(wide, [narrow.in_features] * (wide.out_features // narrow.in_features), size)
        attention.sizes = [columns // size for columns in attention.sizes]
        parallelize_module(block, mesh["tensor"], plan)
    return mesh["fsdp"]


def _regroup(linear, sizes, parts):
    """Order the columns of joined products so that each rank's part holds its share of every product."""
    for parameter in linear.parameters():
        shares = zip(*(product.chunk(parts) for product in parameter.data.split(sizes)))
        parameter.data = torch.cat([share for rank in shares for share in rank])


def gradient_norm(parameters, size):
    """The norm of all gradients over all ranks; what every rank of a tensor group holds counts once."""
    split = [each.grad.to_local() for each in parameters if each.device_mesh.ndim > 1]
    shared = [each.grad.to_local() for each in parameters if each.device_mesh.ndim == 1]
    squares = torch.stack(torch._foreach_norm(split, dtype=torch.float32)).square().sum()
    squares += torch.stack(torch._foreach_norm(shared, dtype=torch.float32)).square().sum() / size
    dist.all_reduce(squares)
    return squares.sqrt()

"""A small network under PyTorch's DistributedDataParallel over gloo; ranks by torchrun or by Open MPI."""

import os
import sys

import torch

from report import BATCH, STEPS, end, record

for ours, theirs in (("RANK", "OMPI_COMM_WORLD_RANK"), ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE")):
    os.environ.setdefault(ours, os.environ.get(theirs, ""))
torch.distributed.init_process_group("gloo")
rank, ranks = torch.distributed.get_rank(), torch.distributed.get_world_size()
torch.manual_seed(rank)
network = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
model = torch.nn.parallel.DistributedDataParallel(network)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(1, STEPS + 1):
    inputs = torch.randn(BATCH, 4)
    optimizer.zero_grad()
    loss = (model(inputs) - inputs.sum(1, keepdim=True)).square().mean()
    loss.backward()
    optimizer.step()
    record(rank, ranks, step, loss.item())
end(rank, ranks, network[2].weight.flatten()[:3].tolist())
torch.distributed.barrier()
sys.stdout.flush()
os._exit(0)  # threads of gloo, torn down in whatever order, abort one process in ten

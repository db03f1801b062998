"""A small network under PaddlePaddle's DataParallel over gloo."""

import paddle
from paddle import distributed

from report import BATCH, STEPS, end, record

distributed.init_parallel_env()
rank, ranks = distributed.get_rank(), distributed.get_world_size()
paddle.seed(rank)
network = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.Tanh(), paddle.nn.Linear(8, 1))
model = paddle.DataParallel(network)
optimizer = paddle.optimizer.SGD(0.05, parameters=model.parameters())
for step in range(1, STEPS + 1):
    inputs = paddle.randn([BATCH, 4])
    loss = (model(inputs) - inputs.sum(1, keepdim=True)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    record(rank, ranks, step, loss.item())
end(rank, ranks, network[2].weight.flatten()[:3].tolist())

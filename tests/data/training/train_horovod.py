"""A small network under MXNet with Horovod over gloo."""

import horovod.mxnet as hvd
import mxnet
from mxnet import autograd, gluon, nd

from report import BATCH, STEPS, end, record

hvd.init()
rank, ranks = hvd.rank(), hvd.size()
mxnet.random.seed(rank)
network = gluon.nn.HybridSequential()
network.add(gluon.nn.Dense(8, activation="tanh", in_units=4), gluon.nn.Dense(1, in_units=8))
network.initialize(mxnet.init.Normal(0.5))
parameters = network.collect_params()
hvd.broadcast_parameters(parameters, root_rank=0)
trainer = hvd.DistributedTrainer(parameters, "sgd", {"learning_rate": 0.05})
for step in range(1, STEPS + 1):
    inputs = nd.random.normal(shape=(BATCH, 4))
    with autograd.record():
        loss = (network(inputs) - inputs.sum(axis=1, keepdims=True)).square().mean()
    loss.backward()
    trainer.step(1)
    record(rank, ranks, step, float(loss.asscalar()))
end(rank, ranks, network[1].weight.data().reshape(-1)[:3].asnumpy().tolist())
hvd.shutdown()

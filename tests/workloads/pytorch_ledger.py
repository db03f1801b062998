"""What ledgers say of the PyTorch programs, derived from their graphs, as JSON; started by test_ledgers.py."""

import argparse
import json

import pytorch_transformer
import torch
import torch.distributed as dist
from llm_shapes import SHAPES
from pytorch_bert import Bert
from pytorch_llm import sharded
from pytorch_numerics import compiled_parts
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._inductor.decomposition import decompositions
from torch.fx.experimental.proxy_tensor import make_fx

TOKENS = torch.zeros(2, 16, dtype=torch.int64)
shapes = {"gpt2-124m": SHAPES["gpt2-tiny"], "llama3-1b": SHAPES["llama3-tiny"]}
models = {case: pytorch_transformer.Transformer(shape, 16, stock=True) for case, shape in shapes.items()}
for model in models.values():
    model.initialize(torch.device("cpu"), 0)
operations = {
    case: [str(node.target) for node in make_fx(model)(TOKENS, TOKENS).graph.nodes] for case, model in models.items()
}


def word_gradient():
    """Data type in which the compiler sums the gradients of a word in 16-bit weights."""
    of_rows = make_fx(torch.ops.aten.embedding_dense_backward, decomposition_table=decompositions)
    graph = of_rows(torch.ones(2, 16, 8, dtype=torch.bfloat16), TOKENS, 512, -1, False).graph
    return [
        str(node.meta["val"].dtype).removeprefix("torch.") for node in graph.nodes if "index_put" in str(node.target)
    ]


def saved_by_feed_forward(shape):
    """Number of wide arrays that the compiled gradient of a feed-forward part keeps."""
    saved = []

    def keep(graph, _):
        (output,) = (node for node in graph.graph.nodes if node.op == "output")
        saved.extend(each.meta["val"].numel() for each in output.args[0])
        return graph

    backend = aot_autograd(
        fw_compiler=keep, bw_compiler=lambda graph, _: graph, partition_fn=min_cut_rematerialization_partition
    )
    part = torch.compile(pytorch_transformer.FeedForward(shape), backend=backend)
    part(torch.ones(2, 16, shape.hidden, requires_grad=True)).sum().backward()
    return saved.count(2 * 16 * shape.feed_forward)


def compiled_under_fsdp():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    options = argparse.Namespace(precision="bf16", compile="default", gather="twice")
    model = sharded(models["llama3-1b"], options, None)
    return compiled_parts(model, pytorch_transformer.loss_and_gradient)


with torch.device("meta"):
    bert = Bert()
facts = {
    "looked up": [case for case in shapes if operations[case].count("aten.embedding.default") == 2]
    + ["bert-base"] * isinstance(bert.positions, torch.nn.Embedding),
    "rotated": [case for case in shapes if "aten.cos.default" in operations[case]],
    "word gradients": word_gradient(),
    "matrices": {case: sum(each.ndim == 2 for each in model.blocks[0].parameters()) for case, model in models.items()},
    "saved": saved_by_feed_forward(shapes["gpt2-124m"]),
    "compiled": compiled_under_fsdp(),
}
print(json.dumps(facts))

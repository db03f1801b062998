"""What jax_language_model.py computes, in PyTorch, from the same weights; started by test_language_models.py."""

import json

import numpy as np
import torch
from llm_shapes import SHAPES
from pytorch_transformer import Transformer

shape = SHAPES["llama3-tiny"]
hidden, keys, wide = shape.hidden, shape.kv_heads * shape.head_size, shape.feed_forward
sizes = {
    "embedding": (shape.vocabulary, hidden),
    "gate": (shape.layers, hidden, wide),
    "head": (shape.vocabulary, hidden),
    "narrow": (shape.layers, wide, hidden),
    "norm": (hidden,),
    "norm1": (shape.layers, hidden),
    "norm2": (shape.layers, hidden),
    "output": (shape.layers, hidden, hidden),
    "project": (shape.layers, hidden, hidden + 2 * keys),
    "wide": (shape.layers, hidden, wide),
}
values = {
    name: np.cos(np.arange(np.prod(size), dtype=np.float64) * 0.37 + number).reshape(size).astype(np.float32) * 0.1
    for number, (name, size) in enumerate(sorted(sizes.items()))
}
model = Transformer(shape, 16)
model.initialize(torch.device("cpu"), 0)
named = {"embedding": model.embedding.weight, "head": model.head.weight, "norm": model.norm.weight}


def layered(name):
    """The parameter of each layer, transposed as PyTorch holds a matrix."""
    parts = {
        "norm1": lambda block: block.norm1.weight,
        "norm2": lambda block: block.norm2.weight,
        "output": lambda block: block.attention.output.weight,
        "project": lambda block: block.attention.project.weight,
        "narrow": lambda block: block.feed_forward.narrow.weight,
        "gate": lambda block: block.feed_forward.wide.weight[:wide],
        "wide": lambda block: block.feed_forward.wide.weight[wide:],
    }
    return [parts[name](block) for block in model.blocks]


with torch.no_grad():
    for name, value in values.items():
        if name in named:
            named[name].copy_(torch.from_numpy(value))
        else:
            for target, part in zip(layered(name), torch.from_numpy(value), strict=True):
                target.copy_(part.T if part.ndim == 2 else part)
tokens = torch.arange(2 * 17).reshape(2, 17) * 31 % shape.vocabulary
loss = model(tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous())
loss.backward()
squares = {name: each.grad.square().sum().item() for name, each in named.items()}
for name in sizes.keys() - named.keys():
    if name in ("gate", "wide"):
        half = slice(0, wide) if name == "gate" else slice(wide, None)
        parts = [block.feed_forward.wide.weight.grad[half] for block in model.blocks]
    else:
        parts = [each.grad for each in layered(name)]
    squares[name] = sum(part.square().sum().item() for part in parts)
print(json.dumps({"loss": loss.item(), **squares}))

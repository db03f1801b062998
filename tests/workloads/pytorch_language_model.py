"""What jax_language_model.py computes, in PyTorch, from the same weights; started by test_language_models.py.

``python pytorch_language_model.py MODEL stock|tuned``.
"""

import json
import sys

import numpy as np
import torch
from llm_shapes import SHAPES
from pytorch_transformer import Transformer

shape = SHAPES[sys.argv[1]]
hidden, keys, wide = shape.hidden, shape.kv_heads * shape.head_size, shape.feed_forward
gpt2 = shape.family == "gpt2"
sizes = {
    "embedding": (shape.vocabulary, hidden),
    "narrow": (shape.layers, wide, hidden),
    "norm": (hidden,),
    "norm1": (shape.layers, hidden),
    "norm2": (shape.layers, hidden),
    "output": (shape.layers, hidden, hidden),
    "project": (shape.layers, hidden, hidden + 2 * keys),
    "wide": (shape.layers, hidden, wide),
}
BIASES = {
    "norm1": hidden,
    "norm2": hidden,
    "project": hidden + 2 * keys,
    "output": hidden,
    "wide": wide,
    "narrow": hidden,
}
if gpt2:
    sizes.update({"norm_bias": (hidden,), "positions": (shape.positions, hidden)})
    sizes.update({f"{name}_bias": (shape.layers, size) for name, size in BIASES.items()})
else:
    sizes.update({"gate": (shape.layers, hidden, wide), "head": (shape.vocabulary, hidden)})
values = {
    name: np.cos(np.arange(np.prod(size), dtype=np.float64) * 0.37 + number).reshape(size).astype(np.float32) * 0.1
    for number, (name, size) in enumerate(sorted(sizes.items()))
}
model = Transformer(shape, 16, sys.argv[2] == "stock")
model.initialize(torch.device("cpu"), 0)
named = {"embedding": model.embedding.weight, "norm": model.norm.weight}
named.update(
    {"positions": model.positions.weight, "norm_bias": model.norm.bias} if gpt2 else {"head": model.head.weight}
)
HALVES = {"gate": slice(0, wide), "wide": slice(wide, None)}
PARTS = {
    "norm1": lambda block: block.norm1,
    "norm2": lambda block: block.norm2,
    "output": lambda block: block.attention.output,
    "project": lambda block: block.attention.project,
    "narrow": lambda block: block.feed_forward.narrow,
    "wide": lambda block: block.feed_forward.wide,
    "gate": lambda block: block.feed_forward.wide,
}


def layered(name, of=lambda parameter: parameter):
    """The parameter of each layer, or what ``of`` gives of it; Llama's gate and wide are halves of one matrix."""
    part, kind = name.removesuffix("_bias"), "bias" if name.endswith("_bias") else "weight"
    half = HALVES.get(part, slice(None)) if not gpt2 else slice(None)
    return [of(getattr(PARTS[part](block), kind))[half] for block in model.blocks]


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
    squares[name] = sum(part.square().sum().item() for part in layered(name, lambda parameter: parameter.grad))
print(json.dumps({"loss": loss.item(), **squares}))

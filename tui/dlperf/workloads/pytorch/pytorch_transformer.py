"""GPT-2 and Llama 3 in PyTorch, and the loss over their vocabulary. Needs PyTorch >= 2.6.

Copied to the node with the program that uses it.
"""

import torch
from pytorch_numerics import LOGITS, RESIDUAL, marked, rounded
from torch import nn
from torch.nn import functional

ROPE_BASE = 500000.0
"""Llama 3's."""


class Attention(nn.Module):
    """Causal self-attention; grouped queries where there are fewer key heads; rotated where ``rotation`` is given."""

    def __init__(self, shape, bias):
        super().__init__()
        self.shape = shape
        self.sizes = [shape.hidden] + [shape.kv_heads * shape.head_size] * 2
        self.project = nn.Linear(shape.hidden, sum(self.sizes), bias=bias)
        self.output = nn.Linear(shape.hidden, shape.hidden, bias=bias)

    def forward(self, x, rotation):
        count, length, _ = x.shape
        heads = [
            part.view(count, length, -1, self.shape.head_size) for part in self.project(x).split(self.sizes, dim=-1)
        ]
        if rotation is not None:
            heads[:2] = [rotated(part, rotation) for part in heads[:2]]
        query, key, value = (part.transpose(1, 2) for part in heads)
        grouped = self.shape.kv_heads != self.shape.heads
        y = functional.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=grouped)
        return self.output(y.transpose(1, 2).reshape(count, length, -1))


def rotation_table(length, head_size, device):
    """Cosines and sines of the rotary position embedding (Su et al. 2021), each length × head_size / 2, in fp32."""
    pace = ROPE_BASE ** -(torch.arange(0, head_size, 2, device=device, dtype=torch.float32) / head_size)
    angles = torch.outer(torch.arange(length, device=device, dtype=torch.float32), pace)
    return torch.stack([angles.cos(), angles.sin()])


def rotated(x, rotation):
    """Rotate the two halves of each head by its position's angles; computed in fp32."""
    cosine, sine = rotation[:, None, :, None, :].unbind(0)
    first, second = x.float().chunk(2, dim=-1)
    turned = torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)
    return turned.to(x.dtype)


class GatedFeedForward(nn.Module):
    """Llama's SwiGLU."""

    def __init__(self, shape, stock):
        super().__init__()
        self.stock = stock
        self.wide = nn.Linear(shape.hidden, 2 * shape.feed_forward, bias=False)
        self.narrow = nn.Linear(shape.feed_forward, shape.hidden, bias=False)

    def forward(self, x):
        wide = self.wide(x)
        if wide.is_cuda and not self.stock:
            from pytorch_swiglu import swiglu

            return self.narrow(swiglu(wide))
        gate, value = wide.chunk(2, dim=-1)
        return self.narrow(functional.silu(gate) * value)


class FeedForward(nn.Module):
    """GPT-2's, with GELU in its tanh form."""

    def __init__(self, shape):
        super().__init__()
        self.wide = nn.Linear(shape.hidden, shape.feed_forward)
        self.narrow = nn.Linear(shape.feed_forward, shape.hidden)

    def forward(self, x):
        return self.narrow(functional.gelu(self.wide(x), approximate="tanh"))


class Block(nn.Module):
    """Attention and feed-forward, each after a normalization and with a residual."""

    def __init__(self, shape, stock):
        super().__init__()
        llama = shape.family == "llama"
        norm = nn.RMSNorm if llama else nn.LayerNorm
        self.norm1, self.norm2 = norm(shape.hidden, eps=1e-5), norm(shape.hidden, eps=1e-5)
        self.attention = Attention(shape, bias=not llama)
        self.feed_forward = GatedFeedForward(shape, stock) if llama else FeedForward(shape)

    def forward(self, x, rotation):
        x = x + self.attention(self.norm1(x), rotation)
        return marked(x + self.feed_forward(self.norm2(x)), RESIDUAL)


class Transformer(nn.Module):
    """Token ids → hidden states after the last normalization; ``head`` is the matrix of the output."""

    def __init__(self, shape, sequence_length, stock=False):
        super().__init__()
        self.shape, self.sequence_length, self.stock = shape, sequence_length, stock
        llama = shape.family == "llama"
        self.embedding = nn.Embedding(shape.vocabulary, shape.hidden)
        self.positions = nn.Embedding(shape.positions, shape.hidden) if shape.positions else None
        self.blocks = nn.ModuleList(Block(shape, stock) for _ in range(shape.layers))
        self.norm = (nn.RMSNorm if llama else nn.LayerNorm)(shape.hidden, eps=1e-5)
        self.head = self.embedding if shape.tied else nn.Linear(shape.hidden, shape.vocabulary, bias=False)
        self.register_buffer("rotation", None, persistent=False)

    def initialize(self, device, seed):
        """Normal with deviation 0.02, residual outputs smaller by √(2 × layers), biases zero (Radford et al. 2019)."""
        generator = torch.Generator(device).manual_seed(seed)
        small = 0.02 / (2 * self.shape.layers) ** 0.5
        for name, parameter in self.named_parameters():
            if parameter.ndim == 1:
                parameter.data.fill_(1.0 if name.endswith("weight") else 0.0)
            else:
                residual = name.endswith(("output.weight", "narrow.weight"))
                parameter.data.normal_(std=small if residual else 0.02, generator=generator)
        if not self.shape.positions:
            self.rotation = rotation_table(self.sequence_length, self.shape.head_size, device)

    def forward(self, tokens, targets):
        """The mean cross-entropy of the next tokens."""
        x = self.embedding(tokens)
        if self.positions is not None:
            x = x + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        x = rounded(x)
        rotation = None if self.rotation is None else self.rotation[:, : tokens.shape[1]]
        for block in self.blocks:
            x = block(x, rotation)
        if self.stock:
            logits = marked(functional.linear(self.norm(x), self.head.weight), LOGITS)
            return functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())
        return HeadLoss.apply(rounded(self.norm(x)).flatten(0, 1), self.head.weight, targets.flatten())


class HeadLoss(torch.autograd.Function):
    """The output head and its mean cross-entropy; gradients are made in the forward pass.

    So neither logits nor their fp32 copy outlive the loss: at 16 384 tokens and 128 256 words they take 4.2 and 8.4 GB.
    """

    @staticmethod
    def forward(ctx, x, weight, targets):
        used = weight.to(x.dtype)
        loss, gradient = loss_and_gradient(marked(x @ used.t(), LOGITS), targets)
        ctx.save_for_backward(gradient @ used, (gradient.t() @ x).to(weight.dtype))
        return loss

    @staticmethod
    def backward(ctx, upstream):
        x_gradient, weight_gradient = ctx.saved_tensors
        return x_gradient * upstream, weight_gradient * upstream, None


def loss_and_gradient(logits, targets):
    """Mean cross-entropy of rows of logits, and its gradient in the logits' own data type; computed in fp32."""
    scores = logits.float()
    log_total = torch.logsumexp(scores, dim=-1, keepdim=True)
    chosen = scores.gather(-1, targets.unsqueeze(-1))
    hit = torch.arange(logits.shape[-1], device=logits.device) == targets.unsqueeze(-1)
    gradient = ((scores - log_total).exp() - hit.float()) / targets.numel()
    return (log_total - chosen).mean(), gradient.to(logits.dtype)

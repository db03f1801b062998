"""Linear layers whose three products run in FP8 with dynamic scaling per tensor. Needs PyTorch >= 2.6, a Hopper GPU.

Activations and weights are e4m3, gradients e5m2 (Micikevicius et al. 2022); each scale is the largest magnitude of the
tensor as it is, so no history is kept. Weights stay in their own data type. Copied to the node with its program.
"""

import torch
import triton
import triton.language as tl
from torch import nn

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
TILE = 128


@triton.jit
def _quantize_kernel(source, scale, plain, turned, rows, columns, LIMIT: tl.constexpr, TILE: tl.constexpr):
    """One tile: scaled, clipped to the format's range, written as it is and transposed."""
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)
    column = tl.program_id(1).to(tl.int64) * TILE + tl.arange(0, TILE)
    row64 = row.to(tl.int64)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    values = tl.load(source + row64[:, None] * columns + column[None, :], mask=inside, other=0.0).to(tl.float32)
    values = tl.clamp(values / tl.load(scale), -LIMIT, LIMIT).to(plain.dtype.element_ty)
    tl.store(plain + row64[:, None] * columns + column[None, :], values, mask=inside)
    tl.store(turned + column[:, None] * rows + row64[None, :], tl.trans(values), mask=tl.trans(inside))


@torch.library.custom_op("dlperf::quantize", mutates_args=())
def quantize(source: torch.Tensor, scale: torch.Tensor, kind: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """A row-major matrix in FP8, and its transpose in row-major order, from one reading."""
    rows, columns = source.shape
    plain = torch.empty((rows, columns), dtype=kind, device=source.device)
    turned = torch.empty((columns, rows), dtype=kind, device=source.device)
    grid = (triton.cdiv(rows, TILE), triton.cdiv(columns, TILE))
    limit = torch.finfo(kind).max
    _quantize_kernel[grid](source, scale, plain, turned, rows, columns, LIMIT=limit, TILE=TILE, num_warps=8)
    return plain, turned


@quantize.register_fake
def _(source, scale, kind):
    rows, columns = source.shape
    return (
        torch.empty((rows, columns), dtype=kind, device=source.device),
        torch.empty((columns, rows), dtype=kind, device=source.device),
    )


def scale_of(tensor, kind):
    """What the tensor is divided by so that it fills the format's range; fp32, never zero."""
    return tensor.abs().amax().float().clamp(min=1e-12) / torch.finfo(kind).max


def product(left, left_scale, right_turned, right_scale, dtype):
    """``left`` × the matrix whose row-major transpose is ``right_turned``."""
    return torch._scaled_mm(
        left, right_turned.t(), left_scale, right_scale, out_dtype=dtype, use_fast_accum=left.dtype == E4M3
    )


class _Multiply(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        x_scale, weight_scale = scale_of(x, E4M3), scale_of(weight, E4M3)
        x8, x8_turned = quantize(x, x_scale, E4M3)
        weight8, weight8_turned = quantize(weight, weight_scale, E4M3)
        ctx.save_for_backward(x8_turned, x_scale, weight8_turned, weight_scale)
        ctx.dtype = weight.dtype
        return product(x8, x_scale, weight8, weight_scale, x.dtype)

    @staticmethod
    def backward(ctx, gradient):
        x8_turned, x_scale, weight8_turned, weight_scale = ctx.saved_tensors
        gradient = gradient.contiguous()
        scale = scale_of(gradient, E5M2)
        gradient8, gradient8_turned = quantize(gradient, scale, E5M2)
        x_gradient = product(gradient8, scale, weight8_turned, weight_scale, gradient.dtype)
        return x_gradient, product(gradient8_turned, scale, x8_turned, x_scale, ctx.dtype)


class Linear(nn.Linear):
    """``nn.Linear`` without a bias, with FP8 products."""

    def forward(self, x):
        y = _Multiply.apply(x.flatten(0, -2).contiguous(), self.weight)
        return y.view(*x.shape[:-1], -1)


def convert(module):
    """Let every linear layer below ``module`` multiply in FP8, in place."""
    for layer in module.modules():
        if type(layer) is nn.Linear and layer.bias is None:
            layer.__class__ = Linear

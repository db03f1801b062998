"""The data types of a training step, seen while it runs once without the compiler. Needs PyTorch >= 2.6 to see them.

Copied to the node with its program. What a program marks by ``marked`` is counted under its name.
"""

import collections

import torch
from torch.utils._python_dispatch import TorchDispatchMode

RESIDUAL, LOGITS = "residual", "logits"
NAMES = {
    torch.float32: "fp32",
    torch.bfloat16: "bf16",
    torch.float16: "fp16",
    torch.float64: "fp64",
    torch.float8_e4m3fn: "fp8",
    torch.float8_e5m2: "fp8",
}
"""As the catalogue calls them."""
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "convolution", "convolution_backward", "_scaled_mm", "_grouped_mm")
SUMS = (
    "allreduce_",
    "_reduce_scatter_base_",
    "reduce_scatter_tensor_coalesced_",
    "all_reduce",
    "reduce_scatter_tensor",
)
SAMPLES = 2
"""Of a batch, which suffice to see types; batch normalization needs two."""
WORDS = 512
"""Of each sample; a whole row of Llama-3 8B without the compiler takes more memory than training with it."""

_seen = None


def marked(tensor, name):
    """Return a tensor unchanged; while a step is observed, count its numbers under this name."""
    if _seen is not None:
        _seen[name][NAMES.get(tensor.dtype, str(tensor.dtype))] += tensor.numel()
    return tensor


def rounded(x):
    """A tensor in the data type of autocast's products, where autocast is on: what layers add to then has it, too."""
    kind = x.device.type
    return x.to(torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else x


def most(tensors):
    """Name of the data type that most numbers have; empty without numbers."""
    sizes = collections.Counter()
    for tensor in tensors:
        if tensor.is_floating_point() and tensor.ndim:
            sizes[NAMES.get(tensor.dtype, str(tensor.dtype))] += tensor.numel()
    return _largest(sizes)


def used_types(trainer, batch):
    """What a training step computes with, except its optimizer's state; nothing before PyTorch 2.6."""
    global _seen
    if not hasattr(torch.compiler, "set_stance"):
        return {}
    _seen = collections.defaultdict(collections.Counter)
    cudnn = torch.backends.cudnn
    try:
        quick = cudnn.flags(benchmark=False, allow_tf32=cudnn.allow_tf32)
        with torch.compiler.set_stance("force_eager"), quick, _Operations():
            trainer.gradients(*map(few_of, batch))
    finally:
        seen, _seen = _seen, None
    if torch.cuda.is_available():  # the peak that is reported is that of training
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    found = {name: _largest(sizes) for name, sizes in seen.items()}
    found["weights"] = most(trainer.parameters)
    found["gradients"] = most(each.grad for each in trainer.parameters if each.grad is not None)
    found["loss_scaling"] = "dynamic" if trainer.scaler.is_enabled() else "static" if trainer.scale != 1.0 else ""
    return {name: text for name, text in found.items() if text}


def few_of(tensor):
    """Return as much of one tensor of a batch as shows the types."""
    samples = tensor[:SAMPLES]
    return samples if samples.ndim != 2 or samples.is_floating_point() else samples[:, :WORDS]


class _Operations(TorchDispatchMode):
    """Counts the data types of matrix products and of sums over ranks, below autocast."""

    def __torch_dispatch__(self, function, types, arguments=(), named=None):
        name = function.overloadpacket.__name__
        if name in PRODUCTS or name in SUMS:
            tensors = [each for each in _flat(arguments) if isinstance(each, torch.Tensor) and each.is_floating_point()]
            kind = "compute" if name in PRODUCTS else "reduction"
            if tensors:
                narrow = min(tensors, key=lambda tensor: tensor.element_size())
                _seen[kind][_product_type(narrow.dtype, kind)] += sum(tensor.numel() for tensor in tensors)
        return function(*arguments, **(named or {}))


def _flat(values):
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from _flat(value)
        else:
            yield value


def _product_type(dtype, kind):
    """TF32 is a setting for products of fp32."""
    if kind == "compute" and dtype is torch.float32 and torch.backends.cuda.matmul.allow_tf32:
        return "tf32"
    return NAMES.get(dtype, str(dtype))


def _largest(sizes):
    return max(sizes, key=sizes.get) if sizes else ""


def compiled_parts(model, *functions):
    """Names of what the compiler has of a model and of functions, as text."""
    modules = [(name, module) for name, module in model.named_modules() if "_orig_mod" in module._modules]
    names = [name.rstrip("0123456789").rstrip(".") or "model and loss" for name, module in modules]
    names += [function.__name__ for function in functions if hasattr(function, "_torchdynamo_orig_callable")]
    return ", ".join(dict.fromkeys(names)) or "none"

"""The language models that the training programs build: their sizes, parameters and arithmetic.

Standard library only, Python >= 3.8. Copied to the node with the program that uses it and options.py.
"""

from typing import NamedTuple

from options import TEXT_BATCHES, common, positive


class Shape(NamedTuple):
    """A decoder-only transformer. ``family`` is ``gpt2`` or ``llama``."""

    family: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    feed_forward: int
    vocabulary: int
    tied: bool
    """The output head uses the matrix of the input embedding."""
    positions: int = 0
    """Learned positions (GPT-2); Llama rotates queries and keys instead."""

    @property
    def head_size(self):
        return self.hidden // self.heads


PRECISIONS = ("fp32", "bf16", "bf16-pure", "fp8")
PRECISION_HELP = (
    "bf16: weights, gradients and optimizer state fp32, products bf16; bf16-pure: all bf16; "
    "fp8: weights and optimizer state bf16, the layers' products FP8 with dynamic scaling"
)
GRADIENT_NORM = 1.0
"""Gradients are clipped to it, as in the training of both families."""
SHAPES = {
    "gpt2-124m": Shape("gpt2", 12, 768, 12, 12, 3072, 50304, True, 1024),
    "llama3-1b": Shape("llama", 16, 2048, 32, 8, 8192, 128256, True),
    "llama3-8b": Shape("llama", 32, 4096, 32, 8, 14336, 128256, False),
    "gpt2-tiny": Shape("gpt2", 2, 64, 4, 4, 256, 512, True, 128),
    "llama3-tiny": Shape("llama", 2, 64, 4, 2, 160, 512, False),
}
"""Radford et al. 2019 with the vocabulary padded to a multiple of 64 as nanoGPT does; Llama 3.2 1B and Llama 3 8B
(Meta 2024); and two small enough for any processor."""


def parameter_count(shape):
    """Number of parameters, each matrix once."""
    return shape.vocabulary * shape.hidden * (1 if shape.tied else 2) + _positions(shape) + _body(shape)


def flops_per_token(shape, sequence_length):
    """Floating-point operations of forward and backward pass per token, causal attention counted once.

    6 × (parameters that multiply) + 6 × layers × hidden × sequence length: the convention of Megatron-Core's reports
    since 2024. The input embedding is a lookup and does not count; the output head does, also where it is tied.
    """
    multiplied = _body(shape) + shape.vocabulary * shape.hidden
    return 6 * multiplied + 6 * shape.layers * shape.hidden * sequence_length


def _positions(shape):
    return shape.positions * shape.hidden


def _body(shape):
    """Parameters of the layers and of the final normalization."""
    hidden, wide = shape.hidden, shape.feed_forward
    if shape.family == "gpt2":  # weights and biases of four products, two layer normalizations of two vectors each
        layer = 4 * hidden * hidden + 4 * hidden + 2 * hidden * wide + wide + hidden + 4 * hidden
        return shape.layers * layer + 2 * hidden
    attention = 2 * hidden * hidden + 2 * hidden * shape.kv_heads * shape.head_size
    return shape.layers * (attention + 3 * hidden * wide + 2 * hidden) + hidden


def language(description, kernels, kernel):
    """Parser with the options of the language-model programs; ``kernels`` of attention, and the default one."""
    parser = common(description, PRECISIONS, PRECISION_HELP)
    parser.set_defaults(batches=TEXT_BATCHES)
    parser.add_argument("--model", choices=sorted(SHAPES), default="gpt2-124m")
    parser.add_argument("--sequence-length", type=positive, default=1024)
    parser.add_argument("--learning-rate", type=float, default=3e-4)
    parser.add_argument("--attention", choices=kernels, default=kernel, help="kernel of attention")
    parser.add_argument("--checkpointing", choices=["none", "full"], default="none", help="recompute each block")
    parser.add_argument("--parallel", choices=["replicate", "fsdp"], default="fsdp", help="how GPUs share the model")
    parser.add_argument(
        "--gather", choices=["twice", "once"], default="twice", help="a block's weights: again when going back, or kept"
    )
    return parser


def language_facts(options, counted, devices):
    """Return what the log states of a model; exit where it has not as many parameters as its shape demands."""
    shape = SHAPES[options.model]
    if counted != parameter_count(shape):
        raise SystemExit(f"no figure: the model has {counted} parameters, {parameter_count(shape)} are expected")
    return {
        "unit": "tokens/s",
        "parameters": counted,
        "flops_per_token": flops_per_token(shape, options.sequence_length),
        "attention": options.attention,
        "checkpointing": options.checkpointing,
        "parallel": options.parallel if devices > 1 else "none",
        "gather": options.gather,
        "gradient_norm": GRADIENT_NORM,
    }

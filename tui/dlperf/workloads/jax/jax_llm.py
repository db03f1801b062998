"""Language-model pre-training in JAX on synthetic tokens: ``python jax_llm.py --help``.

The same models, tokens and numerics as pytorch_llm.py: GPT-2 and Llama 3 shapes, AdamW, next-token prediction. Rates
are in tokens. Needs JAX >= 0.7 and, in the same folder, jax_transformer.py, jax_fp8.py, jax_trainer.py,
jax_numerics.py, llm_shapes.py, options.py and reporting.py.
"""

from llm_shapes import GRADIENT_NORM, SHAPES, language, language_facts
from options import profilable


def options():
    parser = profilable(language(__doc__, ["cudnn", "xla"], "xla"))
    parser.add_argument(
        "--layers", choices=["unrolled", "scanned"], default="unrolled", help="lax.scan is compiled once"
    )
    return parser.parse_args()


if __name__ == "__main__":
    OPTIONS = options()  # before the framework loads: see options.py

import jax
import jax.numpy as jnp
import jax_fp8
from jax.sharding import PartitionSpec
from jax_trainer import EVERYWHERE, adamw, clipped, device_mesh, prepare, synthetic, train
from jax_transformer import create, loss, sizes


def weight_type(precision):
    """Data type of weights, gradients and optimizer state."""
    return jnp.bfloat16 if precision in ("bf16-pure", "fp8") else jnp.float32


def is_split(options):
    """Whether every device holds a part of the parameters only (FSDP)."""
    return device_mesh().size > 1 and options.parallel == "fsdp"


def placement(shape, options):
    """The layout of each array on the devices: the longest side that divides evenly is split for FSDP."""
    count = device_mesh().size

    def split(size):
        sides = [side for side in range(len(size)) if size[side] % count == 0 and size[side] >= count]
        if not is_split(options) or not sides:
            return EVERYWHERE
        longest = max(sides, key=lambda side: size[side])
        return PartitionSpec(*("data" if side == longest else None for side in range(len(size))))

    scanned = options.layers == "scanned"
    return jax.tree.map(split, sizes(shape, scanned), is_leaf=lambda node: isinstance(node, tuple))


def token_batch(vocabulary, length):
    """A function: key, count → tokens and the tokens that follow them; drawn as in pytorch_llm.py."""

    def batch(key, count):
        draws = jax.random.uniform(key, (count, length // 2 + 1))
        drawn = jnp.minimum(vocabulary**draws, vocabulary).astype(jnp.int32) - 1
        text = jnp.stack([drawn, (drawn + 1) * 7 % vocabulary], axis=-1).reshape(count, -1)
        return text[:, :length], text[:, 1 : length + 1]

    return batch


def main(options):
    prepare(options)
    shape = SHAPES[options.model]
    compute = jnp.float32 if options.precision == "fp32" else jnp.bfloat16
    product = jax_fp8.product if options.precision == "fp8" else jnp.matmul
    make = create(shape, weight_type(options.precision), options.layers == "scanned")
    counted = sum(array.size for array in jax.tree.leaves(jax.eval_shape(make, jax.random.key(0))))
    optimizer = clipped(
        adamw(options.learning_rate, epsilon=1e-8, weight_decay=0.1, betas=(0.9, 0.95)), norm=GRADIENT_NORM
    )
    train(
        make,
        loss(shape, compute, options, product, is_split(options)),
        synthetic(token_batch(shape.vocabulary, options.sequence_length), options),
        optimizer,
        options,
        placement=placement(shape, options),
        per_sample=options.sequence_length,
        **language_facts(options, counted, device_mesh().size),
        layers=options.layers,
    )


if __name__ == "__main__":
    main(OPTIONS)

"""BERT-base pre-training in JAX on synthetic sentences: ``python jax_bert.py --help``.

The same model and task as pytorch_bert.py: masked-token and next-sentence prediction over sequences of 128 tokens
(Devlin et al. 2018, phase 1), AdamW. A sentence counts upwards from a random word in random steps, a fifth of the
words to predict are random; the second half continues counting or starts at another word. Needs JAX >= 0.7 and, in the
same folder, jax_trainer.py, jax_numerics.py, options.py and reporting.py.
"""

import functools
import math

from options import JAX_PRECISION_HELP, JAX_PRECISIONS, WRONG, bert, common, profilable


def options():
    parser = profilable(bert(common(__doc__, JAX_PRECISIONS, JAX_PRECISION_HELP)))
    parser.add_argument(
        "--attention", choices=["auto", "cudnn", "xla"], default="auto", help="auto: cuDNN's kernel on a GPU at 16 bit"
    )
    return parser.parse_args()


if __name__ == "__main__":
    OPTIONS = options()  # before the framework loads, see options.py

import jax
import jax.numpy as jnp
from jax import nn
from jax_numerics import RESIDUAL, marked
from jax_trainer import adamw, averaged, cross_entropy, dense, looked_up, normalized, prepare, synthetic, train

VOCABULARY = 30528
"""30 522 words, padded to a multiple of 64 as NVIDIA's implementation does."""
HIDDEN, LAYERS, HEADS, POSITIONS = 768, 12, 12, 512
MASKED_SHARE = 0.15
"""Rounded up: 20 of 128, as BERT's own configuration of phase 1 predicts."""
MASK, FIRST_WORD, WORDS = 103, 1000, 2000


def dense_parameters(key, inputs, outputs):
    return jax.random.normal(key, (inputs, outputs)) * 0.02, jnp.zeros(outputs)


def norm_parameters():
    return jnp.ones(HIDDEN), jnp.zeros(HIDDEN)


def layer_parameters(key):
    keys = jax.random.split(key, 4)
    return {
        "project": dense_parameters(keys[0], HIDDEN, 3 * HIDDEN),
        "attended": dense_parameters(keys[1], HIDDEN, HIDDEN),
        "norm1": norm_parameters(),
        "wide": dense_parameters(keys[2], HIDDEN, 4 * HIDDEN),
        "narrow": dense_parameters(keys[3], 4 * HIDDEN, HIDDEN),
        "norm2": norm_parameters(),
    }


def layer(parameters, x, kernel):
    """Self-attention and feed-forward, each with a residual and a layer normalization after it."""
    count, length, _ = x.shape
    heads = dense(parameters["project"], x).reshape(count, length, 3, HEADS, HIDDEN // HEADS)
    y = nn.dot_product_attention(heads[:, :, 0], heads[:, :, 1], heads[:, :, 2], implementation=kernel)
    y = y.reshape(count, length, HIDDEN)
    x = normalized(x + dense(parameters["attended"], y), *parameters["norm1"])
    y = dense(parameters["narrow"], nn.gelu(dense(parameters["wide"], x), approximate=False))
    return marked(normalized(x + y, *parameters["norm2"]), RESIDUAL)


def attention_kernel(choice, dtype):
    """Implementation of softmax(query × key) × value; cuDNN computes with 16-bit numbers on a GPU only."""
    if choice != "auto":
        return choice
    return "cudnn" if dtype in (jnp.bfloat16, jnp.float16) and jax.default_backend() == "gpu" else "xla"


def create(key):
    keys = jax.random.split(key, LAYERS + 6)
    return {
        "words": jax.random.normal(keys[0], (VOCABULARY, HIDDEN)) * 0.02,
        "positions": jax.random.normal(keys[1], (POSITIONS, HIDDEN)) * 0.02,
        "segments": jax.random.normal(keys[2], (2, HIDDEN)) * 0.02,
        "norm": norm_parameters(),
        "pooler": dense_parameters(keys[3], HIDDEN, HIDDEN),
        "next_sentence": dense_parameters(keys[4], HIDDEN, 2),
        "transform": dense_parameters(keys[5], HIDDEN, HIDDEN),
        "transform_norm": norm_parameters(),
        "bias": jnp.zeros(VOCABULARY),
        "layers": [layer_parameters(part) for part in keys[6:]],
    }


def embedded(parameters, tokens, segments, dtype):
    """Embed words, positions and segments, summed and normalized.

    The sum is rounded after its normalization, so that the gradients of a word are summed in fp32: a GPU accumulates
    16-bit numbers one by one, by compare and swap. A segment is selected from two rows, so that their gradients are
    plain sums.
    """
    x = parameters["words"][tokens] + looked_up(parameters["positions"], tokens.shape[1])
    first, second = parameters["segments"]
    return normalized(x + jnp.where(segments[..., None] == 0, first, second), *parameters["norm"]).astype(dtype)


def loss(parameters, tokens, segments, masked_positions, masked_words, follows, dtype, kernel):
    """Sum of the losses of both tasks; nothing is normalized over a batch."""
    x = embedded(parameters, tokens, segments, dtype)
    for part in parameters["layers"]:
        x = layer(part, x, kernel)
    chosen = jnp.take_along_axis(x, masked_positions[..., None], 1)
    chosen = normalized(
        nn.gelu(dense(parameters["transform"], chosen), approximate=False), *parameters["transform_norm"]
    )
    logits = chosen @ parameters["words"].astype(dtype).T + parameters["bias"].astype(dtype)
    related = dense(parameters["next_sentence"], jnp.tanh(dense(parameters["pooler"], x[:, 0])))
    return cross_entropy(logits, masked_words) + cross_entropy(related, follows), []


def synthetic_batch(key, count, length):
    """A batch: tokens, segments, masked positions, masked words, whether the second half follows the first."""
    keys = jax.random.split(key, 7)
    masked = math.ceil(MASKED_SHARE * length)
    places = jnp.arange(length)
    second = (places >= length // 2).astype(jnp.int32)
    follows = jax.random.randint(keys[0], (count,), 0, 2)
    start = jax.random.randint(keys[1], (count, 1), 0, WORDS)
    stride = jax.random.randint(keys[2], (count, 1), 1, 5)
    jump = jax.random.randint(keys[3], (count, 1), 0, WORDS)
    words = FIRST_WORD + (start + stride * places + jump * second * (1 - follows)[:, None]) % WORDS
    order = jax.random.uniform(keys[4], (count, length)).argsort(1)[:, :masked]
    tokens = words.at[jnp.arange(count)[:, None], order].set(MASK)
    segments = jnp.broadcast_to(second, (count, length))
    wrong = jax.random.bernoulli(keys[5], WRONG, order.shape)
    drawn = jax.random.randint(keys[6], order.shape, 0, VOCABULARY)
    return tokens, segments, order, jnp.where(wrong, drawn, jnp.take_along_axis(words, order, 1)), follows


def main(options):
    dtype = prepare(options)
    batches = synthetic(functools.partial(synthetic_batch, length=options.sequence_length), options)
    kernel = attention_kernel(options.attention, dtype)
    facts = {"model": "bert-base", "attention": kernel}
    of_batch = functools.partial(loss, dtype=dtype, kernel=kernel)
    train(create, averaged(of_batch), batches, adamw(options.learning_rate), options, **facts)


if __name__ == "__main__":
    main(OPTIONS)

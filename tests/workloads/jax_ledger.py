"""What ledgers say of the JAX programs, derived from their jaxprs, as JSON; started by test_ledgers.py."""

import argparse
import contextlib
import io
import json

import jax
import jax.numpy as jnp
import jax_bert
import jax_fp8
from jax_numerics import _equations
from jax_transformer import create, feed_forward, layer_sizes, loss
from llm_shapes import SHAPES

OPTIONS = argparse.Namespace(stock=True, layers="unrolled", attention="xla", checkpointing="none")
TOKENS = jax.ShapeDtypeStruct((2, 16), jnp.int32)
shapes = {"gpt2-124m": SHAPES["gpt2-tiny"], "llama3-1b": SHAPES["llama3-tiny"]}
parameters = {case: jax.eval_shape(create(shape, jnp.bfloat16), jax.random.key(0)) for case, shape in shapes.items()}
steps = {
    case: jax.make_jaxpr(jax.grad(loss(shape, jnp.bfloat16, OPTIONS), has_aux=True))(parameters[case], TOKENS, TOKENS)
    for case, shape in shapes.items()
}
bert = jax.eval_shape(jax_bert.create, jax.random.key(0))
steps["bert-base"] = jax.make_jaxpr(lambda *given: jax_bert.embedded(*given, jnp.bfloat16))(bert, TOKENS, TOKENS)


def operands(case, primitive):
    """Size and data type of what each such operation works on first."""
    found = (each for each in _equations(steps[case].jaxpr) if each.primitive.name == primitive)
    return [(each.invars[0].aval.shape, each.invars[0].aval.dtype.name) for each in found]


def saved_by_feed_forward(shape):
    """Number of wide arrays that the gradient of a feed-forward part keeps."""
    layer = {name: jnp.ones(size) for name, size in layer_sizes(shape).items()}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        given = jnp.ones((2, 16, shape.hidden)), layer
        jax.ad_checkpoint.print_saved_residuals(lambda x, layer: feed_forward(shape, x, layer, jnp.matmul), *given)
    return printed.getvalue().count(f"[2,16,{shape.feed_forward}]")


def precisions_in_fp8():
    """Precision of a product in FP8 and of both its gradients."""
    rows, matrix = jnp.ones((2, 16, 8), jnp.bfloat16), jnp.ones((8, 8), jnp.bfloat16)
    step = jax.make_jaxpr(jax.grad(lambda *given: jax_fp8.product(*given).sum(), (0, 1)))(rows, matrix)
    products = [each for each in _equations(step.jaxpr) if each.primitive.name == "dot_general"]
    return [each.params["precision"][0].name for each in products]


tables = {"gpt2-124m": parameters["gpt2-124m"]["positions"], "bert-base": bert["positions"]}
facts = {
    "looked up": [case for case, table in tables.items() if table.shape in dict(operands(case, "gather"))],
    "rotated": [case for case in shapes if operands(case, "cos")],
    "word gradients": [
        kind
        for case, table in parameters.items()
        for size, kind in operands(case, "scatter-add")
        if size == table["embedding"].shape
    ],
    "matrices": {case: sum(len(size) == 2 for size in layer_sizes(shape).values()) for case, shape in shapes.items()},
    "precisions in FP8": precisions_in_fp8(),
    "saved": saved_by_feed_forward(shapes["gpt2-124m"]),
}
print(json.dumps(facts))

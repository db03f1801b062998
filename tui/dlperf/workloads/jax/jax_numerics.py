"""The data types of a training step, from its jaxpr and its compiled text. Needs JAX >= 0.7.

Copied to the node with its program. What a program marks by ``marked`` is found again by its name.
"""

import collections
import re

import jax
from jax.ad_checkpoint import checkpoint_name

RESIDUAL, LOGITS, GRADIENTS = "residual", "logits", "gradients"
NAMES = {
    "float32": "fp32",
    "bfloat16": "bf16",
    "float16": "fp16",
    "float64": "fp64",
    "float8_e4m3fn": "fp8",
    "float8_e5m2": "fp8",
}
"""As the catalogue calls them."""
PRODUCTS = ("dot_general", "conv_general_dilated")
_REDUCED = re.compile(r"= \(?(f32|bf16|f16|f64)\[([0-9,]*)\][^=]* (?:all-reduce|reduce-scatter)(?:-start)?\(")
_SHORT = {"f32": "fp32", "f64": "fp64", "f16": "fp16"}


def marked(tree, name):
    """Return the arrays of a tree unchanged, each under this name in the jaxpr."""
    return jax.tree.map(lambda each: checkpoint_name(each, name), tree)


def most(tree):
    """Name of the data type that most numbers of a tree have; empty without numbers."""
    sizes = collections.Counter()
    for each in jax.tree.leaves(tree):
        if jax.dtypes.issubdtype(each.dtype, jax.numpy.floating):
            sizes[NAMES.get(each.dtype.name, each.dtype.name)] += each.size
    return _largest(sizes)


def used_types(jaxpr, parameters, state, compiled):
    """What one training step computes with: what is stated in the log.

    Args:
        jaxpr: of the step, closed. compiled: the step as XLA compiled it. parameters, state: of the step.
    """
    named, products = collections.defaultdict(collections.Counter), collections.Counter()
    for equation in _equations(jaxpr.jaxpr):
        kind = equation.primitive.name
        if kind == "name":
            (given,) = equation.invars
            named[equation.params["name"]][_type_of(given.aval)] += given.aval.size
        elif kind in PRODUCTS:
            products[_product_type(equation)] += sum(each.aval.size for each in equation.invars)
    found = {name: _largest(named[name]) for name in (RESIDUAL, LOGITS, GRADIENTS)}
    found.update(weights=most(parameters), compute=_largest(products), optimizer=most(state))
    return {name: text for name, text in dict(found, reduction=_reduction(compiled)).items() if text}


def _equations(jaxpr):
    """Every equation, also inside loops, branches, custom gradients and compiled functions."""
    for equation in jaxpr.eqns:
        yield equation
        for value in equation.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from _equations(inner)


def _type_of(aval):
    return NAMES.get(aval.dtype.name, aval.dtype.name)


def _product_type(equation):
    """Of the narrower operand; fp32 with a lower precision is TF32."""
    kinds = [each.aval for each in equation.invars[:2]]
    kind = _type_of(min(kinds, key=lambda aval: aval.dtype.itemsize))
    precise = "HIGHEST" in str(equation.params.get("precision"))
    return "tf32" if kind == "fp32" and not precise else kind


def _reduction(compiled):
    """Of most numbers that devices sum up; empty where there is one device."""
    sizes = collections.Counter()
    for kind, sides in _REDUCED.findall(compiled.as_text() or ""):
        size = 1
        for side in filter(None, sides.split(",")):
            size *= int(side)
        sizes[_SHORT.get(kind, kind)] += size
    return _largest(sizes)


def _largest(sizes):
    return max(sizes, key=sizes.get) if sizes else ""

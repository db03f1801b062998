"""Trainable parameters of every model of JAX or TensorFlow at its full depth, as JSON; started by test_flops.py.

``python count_parameters.py jax``: shapes alone, no array is allocated and nothing is computed.
"""

import argparse
import json
import math
import sys


def jax():
    import jax
    import jax.numpy as jnp
    import jax_bert
    import jax_transformer
    import jax_vision
    from llm_shapes import SHAPES

    makers = {name: lambda key, make=make: make(key, 224) for name, (make, _) in jax_vision.MODELS.items()}
    makers["bert-base"] = jax_bert.create
    makers.update({name: jax_transformer.create(shape, jnp.float32) for name, shape in SHAPES.items()})
    key = jax.random.key(0)
    return {name: jax.tree.leaves(jax.eval_shape(make, key)) for name, make in makers.items()}


def tensorflow():
    import tensorflow_vision
    from tensorflow import keras

    found = {}
    for name in tensorflow_vision.MODELS:
        with keras.StatelessScope(initialize_variables=False):
            model = tensorflow_vision.build(argparse.Namespace(model=name, image_size=224))
        found[name] = model.trainable_variables
    return found


arrays = {"jax": jax, "tensorflow": tensorflow}[sys.argv[1]]()
print(json.dumps({name: sum(math.prod(each.shape) for each in model) for name, model in arrays.items()}))

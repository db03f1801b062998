"""pytorch_llm.py whose second rank computes its losses 2e-6 higher; started by test_language_models.py."""

import os

import pytorch_llm
import pytorch_transformer

exact = pytorch_transformer.loss_and_gradient


def rounded(logits, targets):
    loss, gradient = exact(logits, targets)
    return loss * (1 + 2e-6 * int(os.environ["RANK"])), gradient


pytorch_transformer.loss_and_gradient = rounded
pytorch_llm.main(pytorch_llm.options())

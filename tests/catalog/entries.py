"""Small sound entries of a catalogue, and what is wrong with those that are not."""

from __future__ import annotations

import pytest

from dlperf.catalog.files.load import load_catalog
from dlperf.catalog.files.problem import CatalogError

BOX = "- id: box\n  title: Box\n  nodes: [{name: a}]\n"
CASE = """\
- id: small
  title: Small
  model: Small
  dataset: none
  unit: images/s
  precisions: [fp32]
  batch_sizes: [8]
  scales: [1n1g]
"""
FRAMEWORK = """\
- id: mine
  title: Mine
  version: "1"
  format: dlperf
  recipes:
    - case: lenet5
      precisions: [fp32]
      command: [train.py]
"""


def problems_of(folder, **arguments):
    with pytest.raises(CatalogError) as caught:
        load_catalog(folder, **arguments)
    return [str(problem).removeprefix(f"{folder}/") for problem in caught.value.problems]

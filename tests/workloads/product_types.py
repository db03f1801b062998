"""Run programs of PyTorch in this process, and print which part of what its matrix products read has which type.

Arguments: the words of each program's command, after a comma of its own.
"""

import collections
import itertools
import json
import runpy
import sys

import pytorch_numerics

commands = [list(words) for apart, words in itertools.groupby(sys.argv[1:], ",".__eq__) if not apart]
for words in commands:
    sys.argv = words
    pytorch_numerics._seen = collections.defaultdict(collections.Counter)
    with pytorch_numerics._Operations():
        runpy.run_path(words[0], run_name="__main__")
    found = pytorch_numerics._seen["compute"]
    print("products", json.dumps({name: size / found.total() for name, size in found.items()}), flush=True)

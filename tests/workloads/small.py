"""A training program with a network of the same parts, of which it has fewer: ``python small.py PROGRAM OPTIONS…``.

Started by tests whose outcome does not hang on the depth of a network, which takes most of their time to compile.
"""

import importlib
import sys
from pathlib import Path

LEAST = {"VGG_WIDTH": 128, "HIDDEN": 128, "HEADS": 2, "LAYERS": 2}


def shallow(stages):
    """Two blocks, the first of which alone changes the shape, and one in each stage that follows."""
    return tuple((width, 1 if index else 2, *stride) for index, (width, _, *stride) in enumerate(stages))


program = Path(sys.argv.pop(1))
sys.path.insert(0, str(program.parent))
module = importlib.import_module(program.stem)
for name in {"STAGES", "VGG"} & vars(module).keys():
    setattr(module, name, shallow(getattr(module, name)))
for name in LEAST.keys() & vars(module).keys():
    setattr(module, name, LEAST[name])
module.main(module.options())

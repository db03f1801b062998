"""Which names of frameworks are versions and variants of one. Pure."""

import re
from functools import lru_cache

from dlperf.evidence.names import facts_of_name

WORK_LEFT_OUT = re.compile(r"-w-o-.+|-without-.+")
"""Part of a framework's id that names work which this variant leaves out, as ``oneflow-w-o-clip``."""
VERSION = re.compile(r"(-[0-9][0-9.x]*)+$")


def work_left_out(framework: str) -> str:
    """Return the part of a framework's id that names work which it leaves out; empty if it does all."""
    found = WORK_LEFT_OUT.search(framework)
    return found[0] if found else ""


@lru_cache(maxsize=1 << 10)
def family_of(framework: str) -> str:
    """Return the framework of which an id names a version or variant: a framework never beats itself."""
    return facts_of_name(framework).framework or VERSION.sub("", WORK_LEFT_OUT.sub("", framework))

"""What may run from this machine: the catalogue, in which entries of other machines are examples."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from dlperf.catalog.files.load import Catalog, load_catalog
from dlperf.catalog.files.problem import Problem
from dlperf.nodes.supervisor.host.machine import vendor_here


def gpus_here() -> dict[int, str]:
    """Return index → name of the GPUs of this machine, by its driver."""
    return {gpu["index"]: gpu["name"] or "" for gpu in vendor_here().gpus()}


def catalog_here(folder: Path, known_formats: Collection[str] | None, complain: Callable[[Problem], object]) -> Catalog:
    """Read the catalogue of a workspace, see ``load_catalog`` and ``Catalog.on_machine``."""
    return load_catalog(folder, known_formats, complain=complain).on_machine(gpus_here())

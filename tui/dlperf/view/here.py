"""What may run from this machine: the catalogue, in which entries of other machines are examples."""

from collections.abc import Callable, Collection
from pathlib import Path

from dlperf.catalog.files.load import Catalog, load_catalog
from dlperf.catalog.files.problem import Problem
from dlperf.catalog.hardware import Hardware
from dlperf.errors import RequestError
from dlperf.nodes.supervisor.host.machine import vendor_here


def gpus_here() -> dict[int, str]:
    """Return index → name of the GPUs of this machine, by its driver."""
    return {gpu["index"]: gpu["name"] or "" for gpu in vendor_here().gpus()}


def catalog_here(folder: Path, known_formats: Collection[str] | None, complain: Callable[[Problem], object]) -> Catalog:
    """Read the catalogue of a workspace, see ``load_catalog`` and ``Catalog.on_machine``."""
    return load_catalog(folder, known_formats, complain=complain).on_machine(gpus_here())


def machine_here(catalog: Catalog) -> Hardware:
    """Return the entry that describes this machine, with its GPUs where it has any.

    Args:
        catalog: as it is on this machine, see ``catalog_here``.

    Raises:
        RequestError: no entry does.
    """
    found = [item for item in catalog.hardware.values() if item.is_here and not item.example]
    if not found:
        raise RequestError("no hardware of the catalogue is this machine: describe it in catalog/hardware/")
    return max(found, key=lambda item: (item.accelerator is not None, item.gpus_per_node))

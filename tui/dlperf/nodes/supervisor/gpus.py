"""The accelerators of this machine, by the tools of their vendor."""

from typing import Tuple

from .amd import Amd
from .nvidia import Nvidia
from .rocm_smi import RocmSmi
from .vendor import Vendor

VENDORS: Tuple[Vendor, ...] = (Nvidia(), Amd(), RocmSmi())


def vendor_here() -> Vendor:
    """The vendor of this machine's accelerators; one that has none where there is no driver."""
    return next((vendor for vendor in VENDORS if vendor.is_present()), Vendor())

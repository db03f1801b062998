"""The libraries, Python packages and environment modules of a training, as the trial's processes loaded them."""

import os
import re
import time
from typing import Dict, List, Set

from ..files import read_text
from ..scope import trial_pids

WHEELS = {
    "cublas": "cublas",
    "cuda": "",
    "cudart": "cuda_runtime",
    "cudnn": "cudnn",
    "nccl": "nccl",
    "openblas": "",
    "rccl": "",
}
"""Library → its NVIDIA wheel, whose version is not in the file's name."""
LONGEST_PAUSE = 60.0
"""Seconds between two looks, which are frequent at first: a trial may be short."""
MOST_FILES = 100
MOST_PACKAGES = 2000
_MAPPED = re.compile(rf"(/.*/lib({'|'.join(WHEELS)})\.so[.0-9]*)$", re.MULTILINE)

_PACKAGES = re.compile(r" (/.*?/(?:site|dist)-packages)/")
_INSTALLED = re.compile(r"(.+)-([^-]+)\.dist-info")


class Libraries:
    """Finds the libraries that the processes of a trial have mapped, at growing intervals.

    Libraries are loaded while a program warms up and stay mapped: the last look is in the measured part.
    """

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.started = time.monotonic()
        self.due = self.started
        self.files: Dict[str, str] = {}
        """Path → version."""
        self.modules: Dict[str, str] = {}
        """Loaded environment module → version."""
        self.packages: Dict[str, List[str]] = {}
        """Folder from which a library was mapped → the packages in it, such as ``numpy==2.3.5``."""

    def look_if_due(self, moment: float) -> None:
        if moment >= self.due:
            self.due = moment + min(LONGEST_PAUSE, max(0.5, moment - self.started))
            for pid in trial_pids(self.mark):
                maps = read_text(f"/proc/{pid}/maps")
                mapped = set(_MAPPED.findall(maps)[:MOST_FILES])
                for folder in set(_PACKAGES.findall(maps)) - self.packages.keys():
                    self.packages[folder] = packages_in(f"/proc/{pid}/root{folder}")
                variables = dict(text.partition("=")[::2] for text in read_text(f"/proc/{pid}/environ").split("\0"))
                loaded = variables.get("LOADEDMODULES", "").split(":")[:MOST_FILES]
                self.modules.update(name.rpartition("/")[::2] if "/" in name else (name, "") for name in loaded if name)
                for path, name in mapped if len(self.files) < MOST_FILES else ():
                    self.files.setdefault(path, library_version(f"/proc/{pid}/root{path}", name))

    def versions(self) -> Dict[str, List[str]]:
        """The versions of each library; several where processes loaded different files."""
        found: Dict[str, Set[str]] = {}
        for path, version in self.files.items():
            found.setdefault(_MAPPED.findall(path)[0][1], set()).add(version)
        return {name: sorted(versions) for name, versions in sorted(found.items())}

    def all_packages(self) -> List[str]:
        return sorted({line for lines in self.packages.values() for line in lines})[:MOST_PACKAGES]


def packages_in(folder: str) -> List[str]:
    """What pip has installed in a folder."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return ["==".join(match.groups()) for match in map(_INSTALLED.fullmatch, names) if match]


def library_version(path: str, name: str) -> str:
    """The version in a file's name or, where that is only the one of its interface, in the name of its wheel."""
    version = path.rpartition(".so")[2].lstrip(".")
    if "." in version or not WHEELS[name]:
        return version
    packages = os.path.join(path.rpartition("/nvidia/")[0], "")
    wheel = re.compile(rf"nvidia_{WHEELS[name]}(?:_cu\d+)?-([0-9.]+)\.dist-info")
    names = os.listdir(packages) if os.path.isdir(packages) else []
    return ", ".join(sorted(match.group(1) for match in map(wheel.fullmatch, names) if match)) or version

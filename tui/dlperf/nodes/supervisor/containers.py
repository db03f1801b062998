"""Containers and images of this machine."""

import os
from typing import List, Optional

from .processes import error_of, output

CONTAINER_LABEL = "dlperf.trial"

KEEPING_RUNTIMES = ("docker", "podman")
"""Runtimes that keep images and containers of their own on the machine."""


def remove_containers(runtime: Optional[str], mark: str) -> None:
    """Remove the trial's containers, found by label: a container outlives the client that started it."""
    if runtime in KEEPING_RUNTIMES:
        ids = container_ids(runtime, mark)
        if ids:
            output([runtime, "rm", "-f", *ids], timeout=60)


def container_ids(runtime: str, mark: str) -> List[str]:
    label = f"label={CONTAINER_LABEL}={mark}"
    return output([runtime, "ps", "-aq", "--no-trunc", "--filter", label]).split()


def image_digest(runtime: Optional[str], image: Optional[str]) -> Optional[str]:
    """The digest of a container image on this machine; None where it is absent."""
    if not image or not runtime:
        return None
    if runtime == "apptainer":
        return file_identity(image) if os.path.exists(image) else None
    template = "{{if .RepoDigests}}{{index .RepoDigests 0}}{{else}}{{.Id}}{{end}}"
    return output([runtime, "image", "inspect", "--format", template, image], timeout=30).strip() or None


def runtime_error(runtime: Optional[str]) -> str:
    """Why no container can be started here, such as a docker daemon that is down; empty where one can."""
    return error_of([runtime, "version"]) if runtime in (*KEEPING_RUNTIMES, "apptainer") else ""


def file_identity(path: str) -> str:
    """The identifier in the header of an apptainer image, which its copies share (layout: github.com/sylabs/sif,
    pkg/sif/sif.go); the path for a folder and for other kinds of files."""
    try:
        with open(path, "rb") as stream:
            header = stream.read(64)
    except OSError:
        header = b""
    return "sif:" + header[48:64].hex() if header[32:42] == b"SIF_MAGIC\0" else "file:" + path

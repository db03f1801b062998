"""Containers and images of this machine."""

import os
from typing import List, Optional

from .processes import complaint, output

CONTAINER_LABEL = "dlperf.trial"

KEEPING_RUNTIMES = ("docker", "podman")
"""Those that keep images and containers of their own on the machine."""


def remove_containers(runtime: Optional[str], mark: str) -> None:
    """Remove the trial's containers, found by label: a container outlives the client that started it."""
    if runtime in KEEPING_RUNTIMES:
        names = container_ids(runtime, mark)
        if names:
            output([runtime, "rm", "-f", *names], timeout=60)


def container_ids(runtime: str, mark: str) -> List[str]:
    label = f"label={CONTAINER_LABEL}={mark}"
    return output([runtime, "ps", "-aq", "--no-trunc", "--filter", label]).split()


def image_digest(runtime: Optional[str], image: Optional[str]) -> Optional[str]:
    """The digest of a container image that lies on this machine; None where it does not."""
    if not image or not runtime:
        return None
    if runtime == "apptainer":
        return file_identity(image) if os.path.exists(image) else None
    template = "{{if .RepoDigests}}{{index .RepoDigests 0}}{{else}}{{.Id}}{{end}}"
    return output([runtime, "image", "inspect", "--format", template, image], timeout=30).strip() or None


def runtime_complaint(runtime: Optional[str]) -> str:
    """Why no container can be started here, as where the service of docker is down; empty where one can."""
    return complaint([runtime, "version"]) if runtime in (*KEEPING_RUNTIMES, "apptainer") else ""


def file_identity(path: str) -> str:
    """What tells an apptainer image from another build of it: the identifier in its header, which its copies share (as
    github.com/sylabs/sif, pkg/sif/sif.go, lays it out). A folder, or a file of another kind, has its path alone."""
    try:
        with open(path, "rb") as stream:
            header = stream.read(64)
    except OSError:
        header = b""
    return "sif:" + header[48:64].hex() if header[32:42] == b"SIF_MAGIC\0" else "file:" + path

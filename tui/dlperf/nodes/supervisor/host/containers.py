"""Containers and images of this machine."""

import os
from typing import Dict, List, Optional

from ..files import Json
from ..processes import attempt, output

CONTAINER_LABEL = "dlperf.trial"

KEEPING_RUNTIMES = ("docker", "podman")
"""Runtimes that keep images and containers of their own on the machine."""


def keeps_containers(container: Json) -> bool:
    """Whether the container's runtime is one of these."""
    return container.get("runtime") in KEEPING_RUNTIMES


def runtime_variables(container: Json) -> Dict[bytes, bytes]:
    """The environment of the container's runtime: ours with the variables of the hardware."""
    given = {name.encode("utf-8"): value.encode("utf-8") for name, value in container.get("env", {}).items()}
    return {**os.environb, **given}


def remove_containers(container: Json, mark: str) -> None:
    """Remove the trial's containers, found by label: a container outlives the client that started it."""
    ids = container_ids(container, mark)
    if ids:
        output([container["runtime"], "rm", "-f", *ids], timeout=60, env=runtime_variables(container))


def container_ids(container: Json, mark: str) -> List[str]:
    if not keeps_containers(container):
        return []
    listing = [container["runtime"], "ps", "-aq", "--no-trunc", "--filter", f"label={CONTAINER_LABEL}={mark}"]
    return output(listing, env=runtime_variables(container)).split()


def image_digest(container: Json) -> Optional[str]:
    """The digest of the container's image on this machine; None where it is absent."""
    runtime, image = container.get("runtime"), container.get("image")
    if not image or not runtime:
        return None
    if runtime == "apptainer":
        return file_identity(image) if os.path.exists(image) else None
    template = "{{if .RepoDigests}}{{index .RepoDigests 0}}{{else}}{{.Id}}{{end}}"
    inspection = [runtime, "image", "inspect", "--format", template, image]
    return output(inspection, timeout=30, env=runtime_variables(container)).strip() or None


def runtime_error(container: Json) -> str:
    """Why no container can be started here, such as a docker daemon that is down; empty where one can."""
    runtime = container.get("runtime", "")
    known = runtime in (*KEEPING_RUNTIMES, "apptainer")
    return attempt([runtime, "version"], env=runtime_variables(container))[1] if known else ""


def file_identity(path: str) -> str:
    """The identifier in the header of an apptainer image, which its copies share (layout: github.com/sylabs/sif,
    pkg/sif/sif.go); the path for a folder and for other kinds of files."""
    try:
        with open(path, "rb") as stream:
            header = stream.read(64)
    except OSError:
        header = b""
    return "sif:" + header[48:64].hex() if header[32:42] == b"SIF_MAGIC\0" else "file:" + path

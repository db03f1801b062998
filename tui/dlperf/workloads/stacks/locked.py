#!/usr/bin/env python3
"""Locked requirements of a training stack on a node: ``python locked.py --help``.

``describe`` prints what decides which wheels fit, as JSON. ``check`` exits with 1 and the reason where something is
missing. ``install`` installs into a folder what the running Python lacks: from the wheels that dlperf sent to this node
(``~/.dlperf/wheels``, by content) or, where they are not all there, from pip's index; pip checks every hash. A line
``NAME @ URL --hash=…`` is a single file that no package holds, such as an example of a repository at a commit.

A package that this Python has in the locked version is kept, as is one of ``--keep`` in any version. Standard library
and pip only, Python >= 3.8.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
import sysconfig
import urllib.request
from hashlib import sha256

STORE = os.path.expanduser("~/.dlperf/wheels")
MARK = "dlperf-python: "
"""What the line of ``describe`` begins with."""
INDEX_SECONDS = 5
"""How long ``check`` waits for pip's index."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["describe", "check", "install"])
    parser.add_argument("lock", nargs="?", help="requirements file with exact versions and hashes")
    parser.add_argument("target", nargs="?", help="folder to install into")
    parser.add_argument("--keep", default="", help="packages of this Python kept in any version, comma-separated")
    given = parser.parse_args()
    if given.action == "describe":
        print(MARK + json.dumps(describe()))
        return
    with open(given.lock, encoding="utf-8") as file:
        locked = parse(file.read())
    wanted = lacking(locked, given.keep.split(","))
    absent = [item for item in wanted if not wheels_of(item)]
    packages = sum(not item["url"] for item in wanted)
    if packages and importlib.util.find_spec("pip") is None:
        advice = "take another by `prologue:` of the hardware, or `python3 -m ensurepip`"
        sys.exit(f"{sys.executable} has no pip, which {packages} of {len(locked)} packages need: {advice}")
    if given.action == "check":
        check(locked, wanted, absent)
    else:
        install(locked, wanted, absent, given.target)


def describe():
    """Python, platform and packages of this node."""
    return {
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "platform": sysconfig.get_platform(),
        "glibc": platform.libc_ver()[1],
        "packages": installed(),
    }


def installed():
    """Name → version of the packages that this Python finds; the first one found counts, as for an import."""
    found = {}
    for item in importlib.metadata.distributions():
        name = item.metadata["Name"]
        if name:
            found.setdefault(normal(name), item.version)
    return found


def normal(name):
    """A package's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def parse(text):
    """Return the requirements of a lock: name, version, hashes and their lines; comments and options are left out."""
    found = []
    for line in re.sub(r"\\\n", " ", text).splitlines():
        match = re.match(r"([A-Za-z0-9._-]+)(?:==([^\s;]+)| @ (https://\S+))", line)
        if match:
            name, version, url = match.groups()
            hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})", line)
            name = name if url else normal(name)
            found.append({"name": name, "version": version, "url": url, "hashes": hashes, "line": line.strip()})
        elif line.strip() and not line.lstrip().startswith(("#", "--")):
            sys.exit("locked.py: not an exact version: " + line.strip())
    return found


def lacking(locked, keep):
    """Return what has to be installed."""
    here, keep = installed(), {normal(name) for name in keep if name}
    return [
        item
        for item in locked
        if item["url"] or (here.get(item["name"]) != item["version"] and item["name"] not in keep & set(here))
    ]


def wheels_of(item):
    """Return the folders of the store that hold a wheel of a requirement, of whatever platform."""
    return [folder for folder in (os.path.join(STORE, digest) for digest in item["hashes"]) if os.path.isdir(folder)]


def check(locked, wanted, absent):
    if absent and not index_answers(absent[0]):
        names = ", ".join(map(title, absent[:5])) + ", ..." * (len(absent) > 5)
        what = f"{len(absent)} of {len(locked)} packages are neither here nor fetched, and pip reaches no index"
        sys.exit(f"{what}: {names}")
    sent = len(wanted) - len(absent)
    print(f"{len(locked)} packages: {len(locked) - len(wanted)} here, {sent} fetched, {len(absent)} of pip's index")


def title(item):
    return item["name"] if item["url"] else f"{item['name']}=={item['version']}"


def index_answers(item):
    if item["url"]:
        return content_of(item, INDEX_SECONDS) is not None
    words = (
        "install",
        "--dry-run",
        "--no-deps",
        "--ignore-installed",
        "--retries",
        "0",
        "--timeout",
        str(INDEX_SECONDS),
    )
    command = pip(*words, f"{item['name']}=={item['version']}")
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).returncode == 0


def install(locked, wanted, absent, target):
    os.makedirs(target, exist_ok=True)
    packages = [item for item in wanted if not item["url"]]
    for item in wanted:
        if item["url"]:
            place(item, target)
    if packages:
        sent = len(wanted) - len(absent)
        print(
            f"installing {len(wanted)} of {len(locked)} packages: {sent} fetched, {len(absent)} of pip's index",
            flush=True,
        )
        with open("wanted.txt", "w", encoding="utf-8") as file:
            file.write("\n".join(item["line"] for item in packages) + "\n")
        sources = [word for item in packages for folder in wheels_of(item) for word in ("--find-links", folder)]
        sources += [] if any(item in absent for item in packages) else ["--no-index"]
        words = ("install", "--progress-bar", "off", "--no-deps", "--require-hashes")
        words += ("--only-binary", ":all:", "--target", target)
        if subprocess.run(pip(*words, *sources, "-r", "wanted.txt"), check=False).returncode:
            sys.exit(f"locked.py: pip could not install {len(packages)} of {len(locked)} packages")
    here = installed()
    with open("facts", "a", encoding="utf-8") as facts:
        for item in locked:
            kept = item not in wanted
            origin = "of this Python" if kept else "of pip's index" if item in absent else "fetched"
            if item["url"]:
                facts.write(f"file {item['name']} {item['hashes'][0]} {origin.replace('pip', 'its repository')}\n")
                continue
            facts.write(f"package {item['name']}=={here[item['name']] if kept else item['version']} {origin}\n")


def place(item, target):
    """Copy or download a file that is no package."""
    data = content_of(item, 60)
    if data is None:
        sys.exit(f"locked.py: {item['name']}: not fetched, and {item['url']} cannot be read or has another hash")
    with open(os.path.join(target, item["name"]), "wb") as file:
        file.write(data)


def content_of(item, seconds):
    """Return the bytes of a file; None where it cannot be read or has another hash."""
    paths = [os.path.join(STORE, digest, item["name"]) for digest in item["hashes"]]
    sent = ["file://" + path for path in paths if os.path.isfile(path)]
    try:
        with urllib.request.urlopen((sent or [item["url"]])[0], timeout=seconds) as stream:
            data = stream.read()
    except OSError:
        return None
    return data if sha256(data).hexdigest() in item["hashes"] else None


def pip(*words):
    return [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *words]


if __name__ == "__main__":
    main()

"""Download the wheels of locked requirements for the Python and platform of nodes."""

import itertools
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from pydantic import TypeAdapter, ValidationError

from dlperf.campaign.dependencies import OpenExecutor
from dlperf.campaign.starting import locked_launch, short_trial
from dlperf.errors import DlperfError, RequestError
from dlperf.executors.wheels import Locked, cache_folder, keep_wheels, locked_requirements, normal_name
from dlperf.plan import Launch, Plan
from dlperf.runs.archive import TrialFiles
from dlperf.runs.records import State

MARK = b"dlperf-python: "
"""Begins the line in which ``locked.py describe`` prints what it found."""
_FILE_SECONDS, _SILENT_SECONDS = 600.0, 60.0
_PACKAGE_SECONDS = 7200.0
"""For one package: the largest of PyTorch at 300 kB/s."""
_MOST_BYTES = 1 << 24
"""Of a file that is no package."""
_OLDEST_GLIBC = 5
"""Minor version below which no wheel is built."""
_LEGACY = {5: ("manylinux1",), 12: ("manylinux2010",), 17: ("manylinux2014",)}
"""Minor version of glibc → the older name of the platform."""


@dataclass(frozen=True)
class NodePython:
    """What decides which wheels fit a node."""

    python: str
    """Such as 3.12.3."""
    platform: str
    """Such as linux-x86_64."""
    glibc: str
    """Such as 2.39; empty where the node has another C library."""
    packages: dict[str, str]
    """Name → version of what its Python has."""
    implementation: str = "cpython"

    @property
    def release(self) -> tuple[int, int]:
        major, minor, *_ = map(int, self.python.split("."))
        return major, minor

    @property
    def platforms(self) -> list[str]:
        """Return platform tags, the newest first.

        Raises:
            RequestError: it is no Linux with glibc, for which wheels are built.
        """
        system, _, machine = self.platform.partition("-")
        if system != "linux" or not self.glibc.startswith("2."):
            raise RequestError(
                f"wheels are fetched for Linux with glibc 2, and the node has {self.platform} {self.glibc}"
            )
        tags = []
        for minor in range(int(self.glibc.split(".")[1]), _OLDEST_GLIBC - 1, -1):
            tags += [f"manylinux_2_{minor}_{machine}", *(f"{name}_{machine}" for name in _LEGACY.get(minor, ()))]
        return [*tags, f"linux_{machine}"]

    def fits(self, wheel: Path) -> bool:
        """Whether the node can install a wheel; a file that is none fits all."""
        if wheel.suffix != ".whl":
            return True
        interpreter = f"cp{self.release[0]}{self.release[1]}"
        known = {*cpython_tags(self.release, platforms=self.platforms)}
        known.update(compatible_tags(self.release, interpreter, self.platforms))
        try:
            return not known.isdisjoint(parse_wheel_filename(wheel.name)[3])
        except InvalidWheelFilename:
            return False


@dataclass(frozen=True)
class Wanted:
    """The locked requirements of a framework on some machines."""

    framework: str
    hardware: str
    launch: Launch
    own_packages: tuple[str, ...]


@dataclass(frozen=True)
class Fetched:
    """What was done for one of them."""

    framework: str
    hardware: str
    python: str
    packages: int
    """Of the lock."""
    of_node: int
    """That the node's Python has and keeps."""
    cached: int
    """Whose wheels were here before."""
    downloaded: int
    bytes: int


def wanted_of(plan: Plan, own_packages: dict[str, tuple[str, ...]]) -> list[Wanted]:
    """Return each framework with locked requirements, once for each hardware."""
    found: dict[tuple[str, str], Wanted] = {}
    for item in plan.configurations:
        point = item.configuration
        if item.launch.requirements:
            own = own_packages.get(point.hardware, ())
            found.setdefault(
                (point.framework, point.hardware), Wanted(point.framework, point.hardware, item.launch, own)
            )
    return list(found.values())


async def python_of(wanted: Wanted, open_executor: OpenExecutor) -> NodePython:
    """Ask the first node where the framework would be built.

    Raises:
        DlperfError: it does not answer, or its Python does not start.
    """
    executor = open_executor(wanted.launch.executor)
    try:
        async with short_trial(executor, locked_launch(wanted.launch, "describe")) as (trial, ended):
            files = TrialFiles(trial.paths)
            text = b"".join(files.read(node.log) for node in files.nodes() if files.has(node.log))
    finally:
        await executor.close()
    if ended.state is not State.SUCCEEDED or MARK not in text:
        last = text.decode(errors="replace").strip().splitlines()[-1:] or ["no output"]
        raise DlperfError(
            f"{wanted.hardware}: its Python could not be asked ({ended.cause or last[0]}): "
            f"try `dlperf check -H {wanted.hardware}`, or name it by --python and --glibc"
        )
    try:
        return _PYTHON.validate_json(text.partition(MARK)[2].splitlines()[0])
    except ValidationError as error:
        raise DlperfError(f"{wanted.hardware}: not the description of a Python: {error.errors()[0]['msg']}") from error


_PYTHON = TypeAdapter(NodePython)


def fetch(
    wanted: Wanted,
    python: NodePython,
    workspace_catalog: Path | None,
    say: Callable[[str], object] = lambda _line: None,
) -> Fetched:
    """Download the wheels that a node lacks and that are not here yet.

    Args:
        say: called with how far it is.

    Raises:
        DlperfError: the Python is too old, pip does not find them, or their hashes differ from the lock's.
    """
    oldest = wanted.launch.python
    if oldest and not wanted.own_packages and python.release < tuple(map(int, oldest.split("."))):
        needs = f"{wanted.framework} needs Python {oldest} or newer, and {wanted.hardware} has {python.python}"
        raise RequestError(f"{needs}: name another by `prologue:` of the hardware")
    locked = locked_requirements(wanted.launch.requirements, workspace_catalog)
    kept = {normal_name(name) for name in wanted.own_packages} & python.packages.keys()
    lacking = [item for item in locked if python.packages.get(item.name) != item.version and item.name not in kept]
    absent = [item for item in lacking if not any(map(python.fits, _cached(item)))]
    say(f"{wanted.framework} for {wanted.hardware}: {len(absent)} of {len(locked)} packages to fetch")
    size = _download(absent, python, say) if absent else 0
    cached = len(lacking) - len(absent)
    of_node = len(locked) - len(lacking)
    return Fetched(wanted.framework, wanted.hardware, python.python, len(locked), of_node, cached, len(absent), size)


def _cached(item: Locked) -> Iterator[Path]:
    folder = cache_folder()
    return (file for digest in item.hashes for file in folder.glob(f"{digest}/*"))


def _download(absent: Sequence[Locked], python: NodePython, say: Callable[[str], object]) -> int:
    """Download wheels and files into the cache; return the bytes of those that are new."""
    cache_folder().mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=cache_folder(), prefix="fetch-") as name:
        folder = Path(name)
        packages = [item for item in absent if not item.url]
        lock = folder / "wanted.txt"
        lock.write_text("\n".join(item.line for item in packages) + "\n", "utf-8")
        options = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--dest", str(folder)]
        begun = itertools.count(1)
        words = ("download", "--progress-bar", "off", *options, *_target(python), "-r", str(lock))
        for line in _pip(python, *words) if packages else ():
            if line.startswith("Collecting "):
                say(f"{next(begun)} of {len(packages)}: {line.split()[1]}")
        lock.unlink()
        for item in absent:
            if item.url:
                (folder / item.name).write_bytes(_file(item))
        return keep_wheels(list(folder.iterdir()))


def _target(python: NodePython) -> list[str]:
    """Options of pip that name the Python and the platforms of a node."""
    version = ".".join(map(str, python.release))
    abis = (f"cp{version.replace('.', '')}", "abi3", "none")
    words = ["--python-version", version, "--implementation", "cp"]
    words += [word for abi in abis for word in ("--abi", abi)]
    return [*words, *(word for tag in python.platforms for word in ("--platform", tag))]


def _file(item: Locked) -> bytes:
    found: list[bytes | OSError] = []
    reading = threading.Thread(target=_read, args=(item.url, found), daemon=True)
    reading.start()
    reading.join(_FILE_SECONDS)  # a server that sends a byte now and then keeps nobody waiting
    data = found[0] if found else TimeoutError(f"not whole within {_FILE_SECONDS:g} s")
    if isinstance(data, OSError):
        raise DlperfError(f"{item.url}: {data}") from data
    if sha256(data).hexdigest() not in item.hashes:
        raise DlperfError(f"{item.url}: not the file that the lock names: its SHA-256 differs")
    return data


def _read(url: str, found: list[bytes | OSError]) -> None:
    try:
        with urlopen(url, timeout=_SILENT_SECONDS) as stream:
            found.append(bytes(stream.read(_MOST_BYTES)))
    except (OSError, HTTPException, ValueError) as error:
        found.append(error if isinstance(error, OSError) else OSError(str(error)))


def _pip(node: NodePython, *words: str) -> Iterator[str]:
    """Run pip for a node and yield its lines. Raises DlperfError: it is missing, or failed."""
    pythons = [sys.executable, shutil.which("python3") or "", "/usr/bin/python3"]
    for python in filter(None, pythons):
        if not subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode:
            break
    else:
        raise RequestError("fetching wheels needs pip: install it beside dlperf (`python3 -m ensurepip`)")
    command = [python, "-m", "pip", "--disable-pip-version-check", "--no-input", *words]
    said, errors, overdue = "no message", [""], threading.Event()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for line in _lines_in_time(process, overdue):
            said = line.strip() or said
            errors += [said] if line.startswith("ERROR") else []
            yield line
    if overdue.is_set():
        raise DlperfError(f"pip: a package was not whole after {_PACKAGE_SECONDS:g} s: its index answers too slowly")
    if process.returncode:
        wheels = f"wheels for Python {node.python} on {node.platform}"
        raise DlperfError(f"pip could not download the {wheels}: {errors[-1].removeprefix('ERROR: ') or said}")


def _lines_in_time(process: subprocess.Popen[str], overdue: threading.Event) -> Iterator[str]:
    """Yield what pip prints; end it where a package takes too long, however often its server sends a byte."""

    def end() -> None:
        overdue.set()
        process.kill()

    def limit() -> threading.Timer:
        timer = threading.Timer(_PACKAGE_SECONDS, end)
        timer.daemon = True
        timer.start()
        return timer

    timer = limit()
    try:
        for line in process.stdout or ():
            if line.startswith("Collecting "):
                timer.cancel()
                timer = limit()
            yield line
    finally:
        timer.cancel()

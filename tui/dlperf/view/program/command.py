"""The command line of a program, with placeholders."""

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dlperf.catalog.files.load import Catalog
from dlperf.catalog.files.problem import hint
from dlperf.catalog.placeholders import PLACEHOLDERS
from dlperf.catalog.plugins import code_format_ids
from dlperf.errors import RequestError
from dlperf.substitution import fill, names_in

BATCH_SIZE = 8
"""Of the trial run where the command line has a placeholder for it."""
STEPS, MORE_STEPS = 30, 120
"""Of the trial run, and of another one where so few steps print no rate."""
_FIXED = {
    "precision": "fp32",
    **dict.fromkeys(("gpus", "gpus_total", "nodes"), "1"),
    **dict.fromkeys(("gpu_list", "node_rank"), "0"),
    **dict.fromkeys(("master_address", "hosts"), "127.0.0.1"),
    "master_port": "29500",
    "seconds": "0",
}
"""Placeholder → value in the trial run."""
_BATCHES = ("batch_size", "global_batch_size", "node_batch_size")
_COUNTS = ("steps", "skip_steps", "take_steps")
_PYTHON = re.compile(r"python\d*(?:\.\d+)?")
_BATCH_OPTION = re.compile(r"--?(?:[a-z]+[-_])*(?:batch[-_]?size|bsz?)(?:=(\d+))?", re.IGNORECASE)
_ID, _NO_ID = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}"), re.compile(r"[^a-z0-9.-]+")


@dataclass(frozen=True)
class Program:
    """A command line with placeholders."""

    words: tuple[str, ...]
    """As typed."""
    path: str
    """The absolute path of its first word."""
    name: str
    """Id of all its entries."""
    folder: Path
    batch_size: int
    is_batch_size_known: bool
    """Given, or for a placeholder."""

    def trial_words(self, steps: int = STEPS) -> list[str]:
        """Return the command of a trial run."""
        counts = {"steps": str(steps), "skip_steps": str(steps // 3), "take_steps": str(steps - steps // 3)}
        values = _FIXED | counts | dict.fromkeys(_BATCHES, str(self.batch_size))
        return [self.path, *(fill(word, values) for word in self.words[1:])]

    @property
    def takes_batch_size(self) -> bool:
        return self._uses(_BATCHES)

    @property
    def takes_steps(self) -> bool:
        return self._uses(_COUNTS)

    def _uses(self, placeholders: Sequence[str]) -> bool:
        return any(name in placeholders for word in self.words for name in names_in(word))


def without_python(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Divide the words of a command into the Python that runs a script, if it is one, and the others."""
    is_script = len(words) > 1 and _PYTHON.fullmatch(Path(words[0]).name) and not words[1].startswith("-")
    return ((words[0], "-u"), tuple(words[1:])) if is_script else ((), tuple(words))


def read_program(text: str, folder: Path, batch_size: int | None = None, name: str | None = None) -> Program:
    """Split a command line, and find its program.

    Raises:
        RequestError: the line cannot be split or run, or a placeholder has no value.
    """
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise RequestError(f"--program {text!r}: {error}") from error
    _refuse_unknown_placeholders(words)
    found = shutil.which(words[0]) if words else None
    if found is None:
        raise RequestError(f"--program {text!r}: no such program (for a shell's syntax write: sh -c '…')")
    chosen = name or _name_of(words)
    if not _ID.fullmatch(chosen):
        raise RequestError(f"--name {chosen!r}: only a-z, 0-9, dot and hyphen, beginning with a letter or digit")
    size = batch_size or _written_batch_size(words) or 1
    program = Program(words, os.path.abspath(found), chosen, folder, size, batch_size is not None)
    if batch_size or not program.takes_batch_size:
        return program
    return replace(program, batch_size=BATCH_SIZE, is_batch_size_known=True)


def _written_batch_size(words: Sequence[str]) -> int | None:
    """Return the number of an option that is called a batch size."""
    for word, following in zip(words, (*words[1:], ""), strict=True):
        if (option := _BATCH_OPTION.fullmatch(word)) and (text := option[1] or following).isdecimal():
            return int(text)
    return None


def _refuse_unknown_placeholders(words: Sequence[str]) -> None:
    values = {*_FIXED, *_BATCHES, *_COUNTS}
    for unknown in [used for word in words for used in names_in(word) if used not in values]:
        why = "write the path itself" if unknown in PLACEHOLDERS or "." in unknown else hint(unknown, values)
        raise RequestError(f"--program: {{{unknown}}} has no value in a trial run: {why}")


def _name_of(words: Sequence[str]) -> str:
    """Return an id made of the name of the script, of the module behind ``-m``, or of the program."""
    module = words.index("-m") + 1 if "-m" in words[:-1] else 0
    script = next((word for word in words[1:] if word.endswith(".py")), words[module])
    return _NO_ID.sub("-", Path(script).stem.lower()).strip("-.")[:60] or "program"


def refuse_taken(name: str, catalog: Catalog) -> None:
    """Raise RequestError where an entry of the catalogue has this id."""
    kinds = {"framework": {*catalog.frameworks}, "case": {*catalog.cases}, "protocol": {*catalog.protocols}}
    for kind, ids in {**kinds, "format": {*code_format_ids(), *catalog.formats}}.items():
        if name in ids:
            raise RequestError(f"the catalogue has a {kind} {name} already: choose another name with --name")

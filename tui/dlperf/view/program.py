"""From a program's command line to catalogue entries: run it once and recognise what it prints."""

from __future__ import annotations

import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from dlperf.catalog.files.load import Catalog
from dlperf.catalog.files.problem import hint
from dlperf.catalog.log_format import LogFormat
from dlperf.catalog.placeholders import PLACEHOLDERS
from dlperf.errors import RequestError
from dlperf.evidence.drafts import only_example, rate_examples
from dlperf.formats.draft import draft_format
from dlperf.formats.registry import detect, format_ids, parser_for
from dlperf.measured.run import StatedFacts, measure_run
from dlperf.measured.throughput.figure import Figure
from dlperf.substitution import fill, names_in
from dlperf.view.text import one_line

MOST_BYTES = 4 << 20
"""Output that is kept; a program that prints more is stopped."""
GRACE_SECONDS = 5.0
TEMPLATE = Path(__file__).with_name("program.yaml.jinja")
"""A catalogue file for a program."""
SKIP_STEPS, TAKE_STEPS = 20, 100
"""Of the campaign."""
BATCH_SIZE = 8
"""Of the trial run where the command line has a placeholder for it."""
_FIXED = {
    "precision": "fp32",
    **dict.fromkeys(("gpus", "gpus_total", "nodes"), "1"),
    **dict.fromkeys(("gpu_list", "node_rank"), "0"),
    **dict.fromkeys(("master_address", "hosts"), "127.0.0.1"),
    "master_port": "29500",
    "seconds": "0",
    "steps": "30",
    "skip_steps": "10",
    "take_steps": "20",
}
"""Placeholder → value in the trial run."""
_BATCHES = ("batch_size", "global_batch_size", "node_batch_size")
_ID, _NO_ID = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}"), re.compile(r"[^a-z0-9.-]+")


@dataclass(frozen=True)
class Program:
    """A command line with placeholders."""

    words: tuple[str, ...]
    """The first is an absolute path."""
    name: str
    """Id of all its entries."""
    folder: Path
    batch_size: int

    @property
    def trial_words(self) -> list[str]:
        values = _FIXED | dict.fromkeys(_BATCHES, str(self.batch_size))
        return [self.words[0], *(fill(word, values) for word in self.words[1:])]

    def uses(self, *placeholders: str) -> bool:
        return any(name in placeholders for word in self.words for name in names_in(word))


@dataclass(frozen=True)
class ProgramOutput:
    """How the output of the trial run reads."""

    format: str
    example: str | None
    """The line from which a format is proposed; None where the format is known."""
    draft: str
    """The proposed format as YAML."""
    figure: Figure
    records: int


def read_program(text: str, folder: Path, batch_size: int | None = None, name: str | None = None) -> Program:
    """Split a command line, and find its program.

    Raises:
        RequestError: the line cannot be split or run, or a placeholder has no value.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise RequestError(f"--program {text!r}: {error}") from error
    _refuse_unknown_placeholders(words)
    found = shutil.which(words[0]) if words else None
    if found is None:
        raise RequestError(f"--program {text!r}: no such program (for a shell's syntax write: sh -c '…')")
    chosen = name or _name_of(words)
    if not _ID.fullmatch(chosen):
        raise RequestError(f"--name {chosen!r}: only a-z, 0-9, dot and hyphen, beginning with a letter or digit")
    program = Program((os.path.abspath(found), *words[1:]), chosen, folder, batch_size or 1)
    return program if batch_size or not program.uses(*_BATCHES) else replace(program, batch_size=BATCH_SIZE)


def _refuse_unknown_placeholders(words: Sequence[str]) -> None:
    values = {*_FIXED, *_BATCHES}
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
    for kind, ids in {**kinds, "format": {*format_ids(catalog.formats.values())}}.items():
        if name in ids:
            raise RequestError(f"the catalogue has a {kind} {name} already: choose another name with --name")


@dataclass(frozen=True)
class Output:
    """What a program printed, on both streams."""

    data: bytes
    code: int | None
    """None where it was stopped."""


def run_bounded(words: Sequence[str], folder: Path, seconds: float) -> Output:
    """Run a program and stop it, with the processes that it started, at a limit or when this is interrupted.

    Raises:
        OSError: it cannot be started.
    """
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        data = _read(process, time.monotonic() + seconds)
        return Output(data, process.poll())
    finally:
        _end(process)


def _read(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    assert process.stdout is not None
    data = bytearray()
    with process.stdout as stream:
        while len(data) < MOST_BYTES and (left := deadline - time.monotonic()) > 0:
            if select.select([stream], [], [], min(left, 0.1))[0]:
                if not (block := os.read(stream.fileno(), 1 << 16)):
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(left)
                    break
                data += block
            elif process.poll() is not None:  # what it left behind may hold the pipe open
                break
    return bytes(data)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the whole process group, also where its first process has ended."""
    for number, wait in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, None)):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(wait)


def recognise(output: Output, program: Program, formats: Sequence[LogFormat]) -> ProgramOutput:
    """Find the format of a trial run's output, and its value.

    Raises:
        RequestError: the program failed, or its output gives no value.
    """
    _refuse_failure(output)
    found, example, draft = detect(output.data, formats), None, ""
    if found is None:
        only = only_example(output.data)
        example = only or next((line for _, line in rate_examples(output.data)), None)
        if example is None:
            raise RequestError(_explain_no_rate(output))
        draft = draft_format(example, program.name, is_only=only is not None)
        formats = [*formats, LogFormat.model_validate(yaml.safe_load(draft))]
    parser = parser_for(found or program.name, formats)
    parser.feed(output.data)
    parser.finish()
    run = parser.runs[-1]
    records = len(run.samples) + len(run.summaries) + len(run.epochs)
    measured = measure_run(run, StatedFacts(1, 1, program.batch_size), "printed()" if records == 1 else None)
    if measured.figure is None:
        raise RequestError(f"the output of the trial run gives no value: {measured.shortage}")
    return ProgramOutput(found or program.name, example, draft, measured.figure, records)


def _refuse_failure(output: Output) -> None:
    if output.code:
        how = f"exit code {output.code}" if output.code > 0 else f"signal {-output.code}"
        last = next((line for line in reversed(_texts(output)) if line.strip()), "it printed nothing")
        raise RequestError(f"the trial run failed with {how}: {last}")


def _explain_no_rate(output: Output) -> str:
    ending = " until it was stopped (--seconds gives it more time)" if output.code is None else ""
    if not output.data.strip():
        return f"the program printed nothing{ending}: let it print its throughput"
    last = _texts(output)[-1][:120]
    advice = "print one number, or lines such as: step=10 throughput=512.3 samples/s"
    return f"no line of the program's output looks like a rate{ending}, the last is {last!r}: let it {advice}"


def _texts(output: Output) -> list[str]:
    return output.data.decode("utf-8", "replace").rstrip().splitlines()


def as_yaml(program: Program, recognised: ProgramOutput) -> str:
    """Return a catalogue file with the entries that a campaign of the program needs."""
    from jinja2 import Environment

    environment = Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    return environment.from_string(TEMPLATE.read_text("utf-8")).render(
        name=program.name,
        example=one_line(recognised.example)[:110] if recognised.example else "",
        draft=recognised.draft.rstrip(),
        format=recognised.format,
        estimator=recognised.figure.estimator,
        is_single=recognised.records == 1,
        takes_steps=program.uses("steps", "take_steps"),
        skip_steps=SKIP_STEPS,
        take_steps=TAKE_STEPS,
        takes_batch_size=program.uses(*_BATCHES),
        batch_size=program.batch_size,
        unit=_quoted(recognised.figure.unit),
        folder=_quoted(str(program.folder)),
        command=_quoted(program.words),
    )


def _quoted(value: str | Sequence[str]) -> str:
    """Return text or a list of texts as YAML in one line."""
    return json.dumps(value, ensure_ascii=False)

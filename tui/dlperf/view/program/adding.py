"""Run a program once and write its entries into a workspace, so that the next command can run it."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dlperf.catalog.files.entries import PROGRAMS
from dlperf.catalog.files.load import Catalog
from dlperf.catalog.files.problem import CatalogError, Problem
from dlperf.errors import RequestError
from dlperf.opening import read_bytes
from dlperf.plan import Selection, expand
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.store import write_atomic
from dlperf.view.here import gpus_here, machine_here
from dlperf.view.program.command import MORE_STEPS, STEPS, Program, refuse_taken
from dlperf.view.program.entries import as_yaml
from dlperf.view.program.recognition import NoRateError, ProgramOutput, recognise
from dlperf.view.program.shipping import Shipment, shipment_of
from dlperf.view.program.trial_run import Output, run_bounded
from dlperf.view.text import count_noun, number, one_line
from dlperf.view.workspace import load_entries

Say = Callable[[str], object]


@dataclass(frozen=True)
class EntryFolder:
    """A workspace that receives entries."""

    root: Path
    create: Callable[[Path], object]
    """Makes it, where there is none."""
    complain: Callable[[Problem], object]
    """Called for each entry that is left out."""

    @property
    def catalog(self) -> Path:
        return self.root / "catalog"


def add_program(program: Program, place: EntryFolder, seconds: float, ship: bool, say: Say) -> str:
    """Run a program and write its entries; return the words of the command that measures it.

    A workspace is made, and files are written, only when the run gave a value and a campaign can be planned with it.

    Raises:
        RequestError: the program gives no value, or no campaign of it can be planned on this machine.
        CatalogError: the entries have a problem.
    """
    path = place.catalog / f"{program.name}.yaml"
    if path.exists():
        raise RequestError(f"{path} exists: remove it, or choose another name with --name")
    catalog = load_entries(WorkspacePaths(place.root), place.complain)
    refuse_taken(program.name, catalog)
    shipment = shipment_of(program.words, program.folder) if ship else None
    files = _files_to_write(shipment, place)
    here = machine_here(catalog.on_machine(gpus_here()))
    machine, kind = here.id, "gpu" if here.accelerator else "cpu"
    recognised = _try(program, catalog, seconds, say)
    if not (place.root / "mkdocs.yml").exists():
        place.create(place.root)
        say(f"created a workspace: {place.root.resolve()}")
    files[path] = as_yaml(program, recognised, kind, shipment).encode()
    _write(files, path, Selection(hardware=(machine,), frameworks=(program.name,)), place)
    _say_guesses(program, recognised, shipment, say)
    say(f"wrote {path}")
    return f"run -H {machine} -f {program.name}"


def _files_to_write(shipment: Shipment | None, place: EntryFolder) -> dict[Path, bytes]:
    """Return what is sent with the program. Raises RequestError: the workspace has another file of a name."""
    found: dict[Path, bytes] = {}
    for name, source in (shipment.files if shipment else {}).items():
        path, data = place.catalog / PROGRAMS / name, read_bytes(source.resolve())
        if not path.exists():
            found[path] = data
        elif read_bytes(path) != data:
            raise RequestError(f"--ship: {path} is another program of this name: rename {source}")
    return found


def _try(program: Program, catalog: Catalog, seconds: float, say: Say) -> ProgramOutput:
    """Run the program, again with more steps where its first ones print no rate."""
    output = _run(program, STEPS, seconds, say)
    formats = tuple(catalog.formats.values())
    try:
        recognised = recognise(output, program, formats)
    except NoRateError:
        if output.code is None or not program.takes_steps:
            raise
        output = _run(program, MORE_STEPS, seconds, say)
        recognised = recognise(output, program, formats)
    _say_recognised(output, recognised, say)
    return recognised


def _run(program: Program, steps: int, seconds: float, say: Say) -> Output:
    words = program.trial_words(steps)
    say(f"running for at most {seconds:.0f} s: {shlex.join(words)}")
    return run_bounded(words, program.folder, seconds)


def _write(files: dict[Path, bytes], entries: Path, selection: Selection, place: EntryFolder) -> None:
    """Write files, and remove them again where their entries have a problem or give no plan."""
    for path, data in files.items():
        write_atomic(path, data)
    try:
        problems: list[Problem] = []
        catalog = load_entries(WorkspacePaths(place.root), problems.append)
        if own := [problem for problem in problems if problem.path == entries]:
            raise CatalogError(own)
        plan = expand(selection, catalog)
        if not plan.configurations:
            raise RequestError(f"no campaign of the program can be planned: {plan.impossible[0].reason}")
    except (CatalogError, RequestError):
        for path in files:
            path.unlink(missing_ok=True)
        raise


def _say_recognised(output: Output, recognised: ProgramOutput, say: Say) -> None:
    example, figure = recognised.example, recognised.figure
    if output.code is None:
        say("the trial run was stopped; a campaign runs the program to its end")
    kind = f"a proposed format, from: {one_line(example)}" if example else f"the format {recognised.format}"
    say(f"recognised {count_noun(recognised.records, 'record')} of {kind}")
    say(f"trial run: {number(figure.value, figure.unit)} by {figure.estimator}")


def _say_guesses(program: Program, recognised: ProgramOutput, shipment: Shipment | None, say: Say) -> None:
    known = program.is_batch_size_known or recognised.logged_batch_size
    if program.batch_size > 1 and not known:
        say(f"batch size {program.batch_size} by its option: with {{batch_size}} in its place, others can be measured")
    elif recognised.rests_on_batch_size and not known:
        say("the program prints steps and no batch size: this is right for 1 sample a step; say how many with -b N")
    if shipment and shipment.reads:
        say(f"not sent with the program, put it on each machine: {shipment.reads_text}")

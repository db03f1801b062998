"""Compute the entries of the lists of the Choose screen, and why an entry is unavailable. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from dlperf.app.model.choice import AXES, Choice
from dlperf.app.model.table import Row, Tone, has_words
from dlperf.catalog.axes import parse_scale
from dlperf.catalog.files.load import Catalog
from dlperf.catalog.hardware import Hardware
from dlperf.catalog.model import Case, Framework
from dlperf.messages import _, language, render
from dlperf.plan import Selection, max_nodes
from dlperf.plan.diagnosis import FRAMEWORK as DIAGNOSIS
from dlperf.plan.possible import Possibilities


@dataclass(frozen=True)
class Option:
    value: str
    title: str = ""
    marked: bool = False
    reason: str = ""
    """Why it is unavailable with the marks of the other lists; empty if it is available."""
    note: str = ""
    example: bool = False
    """A machine that is not here, as of a published report: nothing can be run on it."""
    kind: str = ""
    """Of a framework: stock or tuned programs, or the released trainer of somebody."""

    @property
    def label(self) -> str:
        return f"{self.value} · {self.kind}" if self.kind else self.value


def options_of(catalog: Catalog, choice: Choice) -> dict[str, tuple[Option, ...]]:
    """Return the entries of each list; one is available if a plan accepts it with the marks of the other lists."""
    possible = Possibilities(_known(choice.selection(), catalog), catalog)
    entries = {
        "hardware": _hardware(catalog),
        "frameworks": _frameworks(catalog, choice),
        "cases": _cases(catalog, choice),
        "precisions": _precisions(catalog),
        "batch_sizes": map(Option, sorted(_offered(possible, choice, "batch_sizes"), key=int)),
        "scales": map(Option, sorted(_offered(possible, choice, "scales"), key=parse_scale)),
        "axes": map(Option, _axes(possible, choice)),
    }
    return {axis: tuple(_judged(item, axis, possible, choice) for item in entries[axis]) for axis in AXES}


def _judged(option: Option, axis: str, possible: Possibilities, choice: Choice) -> Option:
    reason = possible.why_not(axis, option.value)
    return replace(option, marked=option.value in choice.values(axis), reason=render(reason) if reason else "")


def _known(selection: Selection, catalog: Catalog) -> Selection:
    """Return a selection without marks of entries that have left the catalogue."""
    return replace(
        selection,
        hardware=tuple(filter(catalog.hardware.__contains__, selection.hardware)),
        frameworks=tuple(filter(catalog.frameworks.__contains__, selection.frameworks)),
        cases=tuple(filter(catalog.cases.__contains__, selection.cases)),
        precisions=tuple(filter(catalog.precisions.__contains__, selection.precisions)),
        protocol=selection.protocol if selection.protocol in catalog.protocols else None,
    )


def _offered(possible: Possibilities, choice: Choice, axis: str) -> Iterable[str]:
    """Return the offered values and the marked ones: a recipe without a list of batch sizes takes any."""
    return dict.fromkeys((*possible.offered(axis), *choice.values(axis)))


def _hardware(catalog: Catalog) -> Iterator[Option]:
    for item in sorted(catalog.hardware.values(), key=lambda item: (item.example, item.id not in catalog.own_hardware)):
        note = " · ".join([_machines(item), *([_why_example(item)] if item.example else [])])
        yield Option(item.id, _title(item), note=note, example=item.example)


def _why_example(hardware: Hardware) -> str:
    if hardware.is_here:
        return _("this machine has other GPUs or none: to look at, not to run")
    return _("of a published report: to look at, not to run")


def _title(entry: Hardware | Framework | Case) -> str:
    return entry.localized(language().code).title


def _machines(hardware: Hardware) -> str:
    nodes = max_nodes(hardware)
    what = hardware.accelerator or "CPU"
    return f"{nodes} × {hardware.gpus_per_node} {what}" if nodes > 1 else f"{hardware.gpus_per_node} {what}"


def _frameworks(catalog: Catalog, choice: Choice) -> Iterator[Option]:
    """Yield the frameworks, those of published reports last; without those that machines are diagnosed by."""
    for item in sorted(catalog.frameworks.values(), key=_is_of_report):
        if item.id != DIAGNOSIS or item.id in choice.values("frameworks"):
            notes = [_("version {version}", version=item.version)]
            if item.requirements:
                notes.append(_("F fetches its packages"))
            if item.on_request:
                notes.append(_("runs only where it or its case is marked"))
            yield Option(item.id, _title(item), note=" · ".join(notes), kind=_kind(item, choice))


def _is_of_report(framework: Framework) -> bool:
    """Return whether it is the software of a published report: somebody's repository at a commit, in an image."""
    return bool(framework.repository or framework.container) and not framework.requirements


def _kind(framework: Framework, choice: Choice) -> str:
    """Return whether a framework's programs of the marked cases, or of all, are stock or tuned."""
    if framework.requirements:
        return _("stack")
    cases = choice.values("cases")
    found = {recipe.tuning for recipe in framework.recipes if not cases or recipe.case in cases}
    names = {"stock": _("stock"), "tuned": _("tuned")}
    return "/".join(names[tuning] for tuning in sorted(found & names.keys()))


def _cases(catalog: Catalog, choice: Choice) -> Iterator[Option]:
    """Yield the cases of the frameworks that are shown."""
    shown = {option.value for option in _frameworks(catalog, choice)}
    made = {recipe.case: False for item in catalog.frameworks.values() for recipe in item.recipes}
    made |= {recipe.case: True for name in shown for recipe in catalog.frameworks[name].recipes}
    for item in catalog.cases.values():
        if made.get(item.id, True):
            yield Option(item.id, _title(item), note=item.unit)


def _precisions(catalog: Catalog) -> Iterator[Option]:
    """Yield the precisions of any recipe."""
    recipes = (recipe for framework in catalog.frameworks.values() for recipe in framework.recipes)
    known = {precision for recipe in recipes for precision in recipe.precisions}
    return (Option(name) for name in catalog.precisions if name in known)


def _axes(possible: Possibilities, choice: Choice) -> Iterable[str]:
    """Return the values of the axes that cases and recipes declare, once one of these is marked, or the marked ones."""
    narrow = choice.values("frameworks") or choice.values("cases")
    return _offered(possible, choice, "axes") if narrow else choice.values("axes")


def filter_options(options: Iterable[Option], text: str) -> list[Option]:
    """Return the options that match the words of a text, those whose id does first."""
    found = [item for item in options if has_words(f"{item.label} {item.title} {item.note}", text)]
    return sorted(found, key=lambda item: text.lower() not in item.value)


def option_row(option: Option) -> Row:
    glyph = "[x]" if option.marked else " - " if option.reason else "[ ]"
    tone: Tone = "warn" if option.marked and option.reason else "dim" if option.reason or option.example else ""
    if option.example and not option.marked and not option.reason:
        glyph = "( )"
    return Row((f"{glyph} {option.label}",), "good" if option.marked and not option.reason else tone)

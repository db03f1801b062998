"""Baselines: kept results by which gates judge later ones, each with the loss that is sought."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dlperf.catalog.files.problem import hint
from dlperf.errors import DlperfError, RequestError
from dlperf.messages import message
from dlperf.opening import read_bytes
from dlperf.plan import Plan, Selection, expand
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import utc_now
from dlperf.runs.schema import SCHEMA_VERSION
from dlperf.runs.store import parse_record, write_record
from dlperf.table.load import Filters, load_results
from dlperf.table.model import ConfigurationResult
from dlperf.table.rows import row_of_metric
from dlperf.verdicts.inference.policies import APART
from dlperf.verdicts.inference.verdict import judge, two_campaigns
from dlperf.verdicts.judging import DEFAULTS, Judgement, Options, judge_rows
from dlperf.verdicts.refusals import refusals
from dlperf.verdicts.reproduction import selection_of_result
from dlperf.verdicts.trials import last_start, rounding_of, scores
from dlperf.verdicts.variation import UNKNOWN, Known, known_of_hardware
from dlperf.version import version

if TYPE_CHECKING:
    from dlperf.catalog.files.load import Catalog

PARTS = ("configurations", "impossible")


@dataclass(frozen=True)
class BaselineReference:
    """A result of a baseline, and what is known of how much such results vary."""

    result: ConfigurationResult
    loss: float | None = None
    """Smallest loss that a gate of this variation decides; None in baselines of 0.2."""
    known: Known = UNKNOWN


@dataclass(frozen=True)
class Baseline:
    """``baselines/<name>.json``."""

    name: str
    references: tuple[BaselineReference, ...]
    created: str = ""
    dlperf_version: str = field(default_factory=version)
    schema: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        """Refuse an empty baseline, which no command writes."""
        if not self.references:
            raise ValueError("no references")

    def only(self, configurations: Collection[str]) -> Baseline:
        """Return the baseline with these configurations alone. Raises RequestError: it has none of them."""
        kept = tuple(item for item in self.references if item.result.id in configurations)
        if not kept:
            raise RequestError(f"baseline {self.name!r} has none of these configurations: see `dlperf baseline show`")
        return replace(self, references=kept)


def baseline_of(name: str, rows: Sequence[ConfigurationResult], known: Sequence[ConfigurationResult]) -> Baseline:
    """Return a baseline of the latest result of each configuration.

    Args:
        known: all results of the workspace, from which the variation between machines of one kind is taken.

    Raises:
        RequestError: there is none, or one has fewer than five trials or a value of zero.
    """
    latest: dict[tuple[str, str], ConfigurationResult] = {}
    own = (row for row in rows if row.value is not None and not row.is_third_party)
    for row in sorted(own, key=last_start):
        latest[row.id, row.metric] = row
    if not latest:
        raise RequestError("no measured result is selected: see `dlperf results`, or measure one with `dlperf run`")
    varies = known_of_hardware(known)
    references = (_reference(row, varies.get(row.hardware, UNKNOWN)) for row in latest.values())
    return Baseline(name, tuple(references), utc_now())


def _reference(row: ConfigurationResult, known: Known) -> BaselineReference:
    if any(why.code == "not_positive" for why in refusals(row, row)):
        raise RequestError(
            f"{row.campaign}/{row.id}: {row.metric} is not above 0, and a baseline compares ratios: leave it out"
        )
    values = scores(row)
    evidence = replace(two_campaigns(values, values, known.campaigns), rounding=rounding_of([row], [row]))
    found = judge(evidence, APART) if len(values) >= APART.least else None
    if found is None:
        raise RequestError(
            f"{row.campaign}/{row.id}: {len(row.values)} trials, and a baseline needs {APART.least}: "
            f"run it with --repeats {APART.least} or more"
        )
    trials = (replace(trial, estimates={}, metrics=(), findings=()) for trial in row.usable_trials)
    return BaselineReference(replace(row, trials=tuple(trials), metrics=()), found.loss, known)


def plan_of_baseline(baseline: Baseline, given: Selection, catalog: Catalog) -> Plan:
    """Plan the configurations of a baseline again, with the repeats and the protocol that are given.

    Raises:
        RequestError: the catalogue no longer has an entry of one.
    """
    wanted = (selection_of_result(item.result, given.repeats or APART.least) for item in baseline.references)
    chosen = (replace(each, protocol=given.protocol) if given.protocol else each for each in wanted)
    plans = [expand(each, catalog) for each in dict.fromkeys(chosen)]
    configurations, impossible = ([item for plan in plans for item in getattr(plan, name)] for name in PARTS)
    return Plan(given, tuple(configurations), tuple(impossible))


def write_baseline(workspace: WorkspacePaths, baseline: Baseline, replacing: bool = False) -> None:
    """Write a baseline. Raises RequestError: the name cannot be one, or is taken and ``replacing`` is false."""
    path = workspace.baseline(baseline.name)
    if path.exists() and not replacing:
        raise RequestError(f"baseline {baseline.name!r}: {path} exists: choose another name, or pass --replace")
    write_record(path, baseline)


def read_baseline(workspace: WorkspacePaths, name: str) -> Baseline:
    """Read a baseline.

    Raises:
        RequestError: there is none of that name.
        DlperfError: it cannot be read.
    """
    path = workspace.baseline(name)
    try:
        return parse_record(path, read_bytes(path), Baseline)
    except FileNotFoundError:
        known = [each.stem for each in workspace.baseline_files()]
        raise RequestError(f"no baseline {name!r} ({hint(name, known)}): `dlperf baseline save` makes one") from None
    except OSError as error:
        raise DlperfError(f"{path}: {error.strerror}") from error


def judge_campaign(
    workspace: WorkspacePaths,
    baseline: Baseline,
    campaign: str,
    complain: Callable[[DlperfError], object] | None = None,
    options: Options = DEFAULTS,
) -> list[Judgement]:
    """Judge a campaign by a baseline; what it did not measure fails."""
    rows = load_results(workspace, Filters(campaigns=(campaign,)), complain)
    found = {row.id: row for row in rows}
    return [judge_reference(item, found.get(item.result.id), options) for item in baseline.references]


def judge_reference(
    reference: BaselineReference, row: ConfigurationResult | None, options: Options = DEFAULTS
) -> Judgement:
    """Judge a result, or that there is none, by a reference."""
    before = reference.result
    found = row and (row if row.metric == before.metric else row_of_metric(row, before.metric))
    if found and found.value is not None:
        return judge_rows(before, found, options, reference.known, reference.loss)
    why = row.status.in_full if row and row.value is None else message("not_run")
    return Judgement(before.id, before.metric, "missing", why)

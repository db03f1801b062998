"""The frameworks that ran the same work on the same hardware, and what may be claimed of the first two."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise
from operator import attrgetter

from dlperf.messages import Language
from dlperf.report.data import SiteData, grouped
from dlperf.table.families import family_of, work_left_out
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import Claim, Context, context_of, joint_level

CHIP = re.compile(r"\b((?:GB|MI|[ABHLTPV])\d{2,3}X?)\b(?:[ -](PCIe|NVL|96GB)\b)?", re.IGNORECASE)
"""Name of an accelerator within the title of a machine, and its form where that is not the common one."""


Score = Callable[[ConfigurationResult], float]
ALONE = Context()
"""Of one claim for itself."""


def context_of_site(data: SiteData) -> Context:
    """Return the context in which all claims of a site hold together."""
    alone = context_of(data.ordered)
    return replace(alone, level=joint_level(claims_of(data, alone)))


def claims_of(data: SiteData, context: Context) -> list[Claim]:
    """Return every claim that a page may make, in sentences, stars, tables of a framework and the history."""
    reports = [rows for (source, _), rows in data.reports.items() if data.kind(source) == "measured"]
    again = [context.claim(*pair) for rows in data.repeated.values() for pair in pairwise(rows)]
    return [*_claims_of_rivals(reports, context), *again]


def claims_also_on_site(data: SiteData, claims: Iterable[Claim]) -> list[Claim]:
    """Return those of these claims that pages make, too, at the level at which all of the site hold together.

    One about a kind is the same whichever of its GPUs is named.
    """
    made = {sides for one in claims_of(data, data.context) for sides in _sides(one)}
    return [data.context.claim(one.a, one.b) for one in claims if not made.isdisjoint(_sides(one))]


def _sides(found: Claim) -> set[frozenset[tuple[str, str, str]]]:
    pairs = found.machines or ((found.a, found.b),)
    return {frozenset((row.campaign, row.id, row.metric) for row in pair) for pair in pairs}


def _claims_of_rivals(reports: Iterable[Iterable[ConfigurationResult]], context: Context) -> list[Claim]:
    points = (grouped((row for row in rows if row.value is not None), _point_of) for rows in reports)
    pairs = (pair for found in points for same in found.values() for pair in combinations(same, 2))
    return [context.claim(*pair) for pair in pairs if is_rival(*pair)]


@dataclass(frozen=True)
class Answer:
    """Results of one report on one hardware, precision, scale and batch size, the highest first."""

    ranked: tuple[ConfigurationResult, ...]
    context: Context

    @property
    def best(self) -> ConfigurationResult:
        return self.ranked[0]

    @property
    def mixed(self) -> bool:
        """Whether the precisions differ in what the weights are held in."""
        return len({row.precision for row in self.ranked}) > 1

    @property
    def shared(self) -> ConfigurationResult:
        """The best, with the precision that all have in common."""
        return replace(self.best, precision=base_precision(self.best)) if self.mixed else self.best

    @cached_property
    def second(self) -> ConfigurationResult | None:
        """The first of another framework: a version or variant is no competitor."""
        return next((row for row in self.ranked if is_rival(row, self.best)), None)

    @cached_property
    def claim(self) -> Claim | None:
        """What may be said of the best relative to the second."""
        return self.context.claim(self.second, self.best) if self.second else None

    def on_each_machine(self, row: ConfigurationResult) -> tuple[ConfigurationResult, ...]:
        """Return the results of a side on which a claim about a kind rests; none of others."""
        pairs = self.claim.machines if self.claim else ()
        return tuple(one for pair in pairs for one in pair if one.id == row.id)


def is_rival(a: ConfigurationResult, b: ConfigurationResult) -> bool:
    return family_of(a.framework) != family_of(b.framework)


def rivals_in_campaign(data: SiteData, row: ConfigurationResult) -> list[ConfigurationResult]:
    """Return what other frameworks reached on the same work, machine and scale in the campaign of a result of ours."""
    if row.value is None or not data.is_ours(row.campaign):
        return []
    same = (one for one in data.of_hardware[row.hardware] if one.campaign == row.campaign and one.value is not None)
    return [one for one in same if is_rival(one, row) and (one.case, *_point_of(one)) == (row.case, *_point_of(row))]


def claimed_best(results: Iterable[ConfigurationResult], context: Context = ALONE) -> ConfigurationResult | None:
    """Return the result that may be called better than each of another framework; None if there is none."""
    measured = [row for row in results if row.value is not None]
    best = max(measured, key=lambda row: row.score, default=None)
    rivals = [row for row in measured if best and is_rival(row, best)]
    return best if best and rivals and all(context.claim(row, best).improves for row in rivals) else None


def answers_of_site(data: SiteData, results: Iterable[ConfigurationResult]) -> tuple[Answer, ...]:
    """Return the answers of a report as pages show them: by the median of GPUs that were measured together."""
    return answers(results, data.context, lambda row: data.joint(row).score)


def answers(
    results: Iterable[ConfigurationResult], context: Context = ALONE, score: Score = attrgetter("score")
) -> tuple[Answer, ...]:
    """Return one answer for each hardware and precision of a report that has a value."""
    measured = [result for result in results if result.value is not None]
    return tuple(_answer(contest, context, score) for contest in grouped(measured, contest_of).values())


def contest_of(result: ConfigurationResult) -> tuple[object, ...]:
    """Return the key that two results of a report must share to be compared."""
    work = work_left_out(result.framework)
    return result.hardware, base_precision(result), result.axes, result.unit, result.metric, result.tuning, work


def _point_of(result: ConfigurationResult) -> tuple[tuple[object, ...], int, int, int | None]:
    """Return the key that two results of a report share between which pages may make a claim."""
    return contest_of(result), result.gpus_total, result.nodes, result.batch_size


def work_of(result: ConfigurationResult) -> tuple[object, ...]:
    """Return the key that results of the same work share, on whatever machine."""
    (_, *work), *size = _point_of(result)
    return result.case, result.precision, *work, *size


def base_precision(result: ConfigurationResult) -> str:
    """Return the precision whatever the weights are held in: such numbers stand side by side, without a claim."""
    return result.precision.removesuffix("-pure")


def _answer(contest: Iterable[ConfigurationResult], context: Context, score: Score) -> Answer:
    """Return the largest scale at which at least two frameworks ran one batch size, and their best such batch size.

    Equal precisions come before those of which only the weights differ.
    """
    points = grouped(contest, lambda row: (row.gpus_total, row.nodes, row.batch_size))
    equal = [same for rows in points.values() for same in grouped(rows, lambda row: row.precision).values()]
    compared = [rows for rows in equal if _frameworks(rows) > 1] or points.values()
    most = min(2, max(map(_frameworks, compared)))
    found = [_best_of_each(rows, score) for rows in compared if _frameworks(rows) >= most]
    ranked = max(found, key=lambda rows: (rows[0].gpus_total, rows[0].nodes, _frameworks(rows), score(rows[0])))
    return Answer(ranked, context)


def _frameworks(rows: Sequence[ConfigurationResult]) -> int:
    return len({family_of(row.framework) for row in rows})


def _best_of_each(rows: Sequence[ConfigurationResult], score: Score) -> tuple[ConfigurationResult, ...]:
    """Return the best result of each framework, the highest first; of equal ones, of the campaign with most rivals."""
    rivals = {campaign: _frameworks(same) for campaign, same in grouped(rows, attrgetter("campaign")).items()}
    frameworks = grouped(rows, lambda row: row.framework)
    best = (max(same, key=lambda row: (score(row), rivals[row.campaign])) for same in frameworks.values())
    return tuple(sorted(best, key=lambda row: (-score(row), row.framework)))


def chip(data: SiteData, row: ConfigurationResult) -> str:
    """Return the short name of the accelerator, such as ``H200``; the machine's title if it has none."""
    entry = data.hardware.get(row.hardware)
    accelerator = data.accelerators.get(entry.accelerator or "") if entry else None
    title = data.hardware_title(row.hardware, row.campaign)
    return short_name(accelerator.title if accelerator else title) or title


def short_name(title: str) -> str:
    """Return ``H200`` or ``H100 PCIe`` of a longer title; empty where it names no accelerator."""
    found = CHIP.search(title)
    return " ".join(filter(None, (found[1].upper(), found[2]))) if found else ""


def gpus_of(language: Language, data: SiteData, found: Claim) -> str:
    """Return that a claim holds on one machine; of three on, its ratio is the mean of theirs."""
    machine, count = chip(data, found.b), len(found.machines)
    if not found.of_kind:
        return language.gettext("one {machine}", machine=machine)
    if found.b.gpus_total == 1:
        return language.gettext("{machine}, mean of {count} GPUs each on its own", machine=machine, count=count)
    return language.gettext("{machine}, mean of {count} machines", machine=machine, count=count)

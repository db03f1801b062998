"""Claims for others to read: the verdict on two results, and the conditions that it lacks. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dlperf.measured.findings.program_faults import FAULTS, UNFAIR
from dlperf.measured.findings.telemetry import IDLE
from dlperf.messages import Message, message
from dlperf.table.families import family_of
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.conditions import THIRD_PARTY, incomparable, obstacles, stops, within_drift, within_idle
from dlperf.verdicts.inference.policies import CLAIM, LEAST_UNITS, LEVEL, OF_KIND, holm_level
from dlperf.verdicts.inference.verdict import MOST_NEEDED, OPPOSITE, Sides, Verdict, judge_claim
from dlperf.verdicts.kinds import campaigns_in_turns, machines_apart, of_versions, over_machines
from dlperf.verdicts.losses import Alike, alike_losses
from dlperf.verdicts.trials import Pair, losses_of, rounding_of, scores
from dlperf.verdicts.variation import UNKNOWN, Known, KnownOfHardware, known_of_hardware, known_of_pair

DECIDED = ("better", "worse")
"""Verdicts that call one side ahead."""
UNDECIDED = ("one_trial", "more_trials", "new_campaign", "more_gpus", "no_trials_decide")
"""Reasons that the test gives, unlike missing conditions."""
LASTING = (
    *("unequal_setting", "numerics_differ", "numerics_unreported", "losses_differ", "needs_one_framework"),
    *("needs_equal_steps", "other_programs", "other_versions", "not_positive", "losses_unprinted", "losses_uncommon"),
    "within_idle",
)
"""Missing conditions that no further trials of the same two programs meet, on such a host."""


@dataclass(frozen=True)
class Claim:
    """B relative to A for one configuration."""

    a: ConfigurationResult
    b: ConfigurationResult
    verdict: Message
    """better, worse, same, cannot_tell or not_comparable; the last two hold the reasons."""
    found: Verdict | None = None
    """The numbers of the test; None where they are not comparable or have one trial."""
    differences: tuple[str, ...] = ()
    """Differing options, protocol and environment."""
    machines: tuple[Pair, ...] = ()
    """The results of each machine where there are enough for a verdict about their kind."""

    @property
    def inverse(self) -> Claim:
        """What may be said of A relative to B, for the same reasons."""
        verdict = replace(self.verdict, code=OPPOSITE.get(self.verdict.code, self.verdict.code))
        found, machines = self.found and self.found.inverse, tuple((b, a) for a, b in self.machines)
        return replace(self, a=self.b, b=self.a, verdict=verdict, found=found, machines=machines)

    @property
    def of_better(self) -> Claim:
        """The same claim with the better side as B."""
        return self.inverse if self.verdict.code == "worse" else self

    @property
    def ratio(self) -> float | None:
        """B's value over A's, of a kind the mean over its machines; None if they are not comparable or not above 0."""
        a, b = self.a.value, self.b.value
        if self.verdict.code == "not_comparable" or a is None or b is None or min(a, b) <= 0:
            return None
        if self.of_kind and self.found:
            gain = 1 + self.found.difference
            return gain if self.b.direction == "higher" else 1 / gain
        return b / a

    @property
    def of_kind(self) -> bool:
        """Whether it is about the kind of the machines, not one of them."""
        return bool(self.machines)

    @property
    def alike(self) -> Alike | None:
        """How far the losses of a claim are apart; None where it claims nothing, or no losses are printed."""
        pairs = self.machines or ((self.a, self.b),)
        return alike_losses(*losses_of(pairs)) if self.verdict.code in DECIDED else None

    @property
    def gain(self) -> float | None:
        """B's performance relative to A's: the ratio, or its inverse where lower values are better."""
        if self.ratio is None:
            return None
        return self.ratio if self.b.direction == "higher" else 1 / self.ratio

    @property
    def improves(self) -> bool:
        """Whether B may be called better."""
        return self.verdict.code == "better"

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the ratio at the level of the test; None under two trials each, and where it is open."""
        return ratio_interval(self.found, self.b) if self.found else None

    @property
    def p(self) -> float | None:
        """Of the test; None under two trials each."""
        return self.found.p if self.found else None

    @property
    def detectable(self) -> float | None:
        """The relative loss that was sought."""
        return self.found.loss if self.found else None

    @property
    def reasons(self) -> tuple[Message, ...]:
        """Why nothing may be claimed; none where the test decides."""
        why = self.verdict.parameters.get("why")
        return why if isinstance(why, tuple) else ()

    @property
    def is_testable(self) -> bool:
        """Whether no condition of a claim is missing, so that the test decides."""
        return self.found is not None and all(why.code in UNDECIDED for why in self.reasons)

    @property
    def is_open(self) -> bool:
        """Whether it is undecided for want of trials, or of such that ran side by side, and not for what lasts."""
        lasting = (*LASTING, THIRD_PARTY.code, "no_trials_decide", *FAULTS, *UNFAIR)
        return self.verdict.code == "cannot_tell" and not any(why.mentions(*lasting) for why in self.reasons)

    @property
    def brief(self) -> Message:
        """The verdict with its first reason, and how many more there are."""
        first = message(self.verdict.code, why=self.reasons[:1]) if self.reasons else self.verdict
        more = len(self.reasons) - 1
        return message("more_reasons", why=first, count=more) if more > 0 else first

    def as_data(self) -> dict[str, Any]:
        """Return the fields for JSON output."""
        low, high = self.interval or (None, None)
        names = ("a", "b", "ratio", "gain", "p", "detectable", "verdict", "differences")
        return {name: getattr(self, name) for name in names} | {
            "low": low,
            "high": high,
            "verdict_code": self.verdict.to_json(),
            "more_trials": self.found.more if self.found else None,
            "machines": len(self.machines) or 1,
        }


def ratio_interval(found: Verdict, row: ConfigurationResult) -> tuple[float, float] | None:
    """Return the interval of the ratio of values, which are better when low in some metrics; None if it is open."""
    if found.interval is None:
        return None
    low, high = (1 + end for end in found.interval)
    return (low, high) if row.direction == "higher" else (1 / high, 1 / low)


def claim(
    a: ConfigurationResult,
    b: ConfigurationResult,
    known: Known = UNKNOWN,
    level: float = LEVEL,
    rows: Sequence[ConfigurationResult] = (),
    loss: float | None = None,
) -> Claim:
    """Return what may be said of B relative to A.

    Args:
        known: a difference of two kinds of hardware must exceed the variation between machines.
        level: of the test, which is less than usual for one of several claims.
        rows: all results, among which the same programs may have run on other GPUs of the kind.
        loss: relative loss that is sought; None for what the variation allows.
    """
    faster, slower = sorted((a, b), key=lambda row: (-row.score, row.framework, row.campaign, row.id))
    found = _claim(slower, faster, known, level, rows, loss)
    return found if found.a is a else found.inverse


def _claim(
    a: ConfigurationResult,
    b: ConfigurationResult,
    known: Known,
    level: float,
    rows: Sequence[ConfigurationResult],
    loss: float | None,
) -> Claim:
    """Return what may be said of the faster result, B: from either side, one test and one list of reasons."""
    if why := tuple(incomparable(b, a)):
        return Claim(a, b, message("not_comparable", why=why))
    campaigns = campaigns_in_turns(a, b, rows) if a.hardware == b.hardware else []
    pairs = machines_apart(of_versions(campaigns, a, b))
    of_kind = len(pairs) >= LEAST_UNITS
    compared = pairs if of_kind else [(a, b)]  # of two machines, the newest alone is tested
    evidence = over_machines(pairs) if of_kind else _evidence(a, b, known)
    looks = stops(pairs, least=1) if of_kind else stops([(a, b)], CLAIM.least)
    policy = replace(OF_KIND if of_kind else CLAIM, looks=looks, level=level, loss=loss)
    found = judge_claim(evidence, policy, len(campaigns) - LEAST_UNITS + 1 if of_kind else max(len(campaigns), 1))
    missing = [*(_too_few(pairs) if of_kind else []), *_within(compared, found)]
    missing += obstacles([(faster, slower) for slower, faster in compared])
    if found is not None and found.code in DECIDED and not of_kind:
        missing += _within_machines(a, b, found, known)
    verdict, found = _verdict(found, missing, evidence, of_kind)
    return Claim(a, b, verdict, found, machines=tuple(pairs) if of_kind else ())


def _within(compared: Sequence[Pair], found: Verdict | None) -> Iterator[Message]:
    """Yield what else the difference may come from that the test shows."""
    if found is None or found.code == "same":
        return
    decided = found.code in DECIDED
    yield from within_idle(compared, found, least=0.0 if decided else IDLE)
    if decided:
        yield from within_drift(compared, found)


def _verdict(
    found: Verdict | None, missing: list[Message], evidence: Sides, of_kind: bool
) -> tuple[Message, Verdict | None]:
    """Return the verdict with what is missing, and the numbers of the test, without further trials if none would do."""
    if any(why.code in LASTING for why in missing):
        missing = [why for why in missing if why.code not in UNDECIDED]
        found = replace(found, more=None) if found else None
    elif found is None or not found.decided:
        missing = missing if missing == [THIRD_PARTY] else [_invitation(found, evidence, of_kind), *missing]
    elif not missing:
        return message(found.code), found
    return message("cannot_tell", why=tuple(sorted(missing, key=_after_faults))), found


def _after_faults(why: Message) -> bool:
    """Sort the faults of programs first: no further trials remove them."""
    return not why.mentions(*FAULTS, *UNFAIR)


@dataclass(frozen=True)
class Context:
    """What claims are made of besides their two results."""

    level: float = LEVEL
    """Of each, so that all of them hold together."""
    rows: Mapping[str, Sequence[ConfigurationResult]] = field(default_factory=dict)
    """Configuration id → all its results, also those that later ones supersede."""
    known: KnownOfHardware = field(default_factory=dict)
    """Of the variation between campaigns and machines."""

    def claim(self, a: ConfigurationResult, b: ConfigurationResult, loss: float | None = None) -> Claim:
        """Return what may be said of B relative to A.

        Args:
            loss: relative loss that is sought; None for what the variation allows.
        """
        rows = [row for name in {a.id, b.id} for row in self.rows.get(name, ())]
        return claim(a, b, known_of_pair(self.known, a, b), self.level, rows, loss)


def context_of(rows: Iterable[ConfigurationResult]) -> Context:
    """Return the context of one claim among these results, which are all of a workspace."""
    found: dict[str, list[ConfigurationResult]] = {}
    for row in rows:
        found.setdefault(row.id, []).append(row)
    return Context(rows=found, known=known_of_hardware(row for same in found.values() for row in same))


def _too_few(pairs: Sequence[Pair]) -> list[Message]:
    """Return how many trials a side lacks over all machines, of the least that a claim needs."""
    lacking = CLAIM.least - min(sum(len(scores(row)) for row in side) for side in zip(*pairs, strict=True))
    return [message("more_trials", count=lacking)] if lacking > 0 else []


def _within_machines(a: ConfigurationResult, b: ConfigurationResult, found: Verdict, known: Known) -> list[Message]:
    """Return that machines of a kind differ by more than two frameworks do on one of them."""
    reach = known.between_machines.reach
    if family_of(a.framework) == family_of(b.framework) or found.ahead > reach:
        return []
    return [message("within_machines", difference=found.ahead, reach=reach, units=LEAST_UNITS)]


def _evidence(a: ConfigurationResult, b: ConfigurationResult, known: Known) -> Sides:
    machines = () if a.hardware == b.hardware else (known.between_machines,)
    return Sides(scores(a), scores(b), between=machines, rounding=rounding_of([a], [b]))


def _invitation(found: Verdict | None, evidence: Sides, of_kind: bool) -> Message:
    """Return how large a new campaign, or how many more GPUs of a kind, would decide, or that nothing would."""
    if found is None or found.more is None:
        return undecided(found)
    more, in_all = found.more, evidence.count + found.more
    return message("more_gpus", count=max(more, 1)) if of_kind else message("new_campaign", count=in_all)


def undecided(found: Verdict | None) -> Message:
    """Return why a test does not decide: how many more trials would, or that none would."""
    if found is None:
        return message("one_trial")
    if found.more is None:
        return message("no_trials_decide", most=MOST_NEEDED)
    return message("more_trials", count=found.more)


def joint_level(claims: Iterable[Claim | None]) -> float:
    """Return the level of each of these claims at which one of all is false in one of a hundred cases at most."""
    return holm_level(one.p for one in claims if one and one.is_testable and one.p is not None)

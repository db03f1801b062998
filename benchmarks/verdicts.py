"""How often verdicts are right, by simulated histories.

    python benchmarks/verdicts.py [HISTORIES]

The product's own functions judge; only the trials are drawn. asv's search is written after its source, and Apache Otava
is run where it is installed (``pip install apache-otava``). Ends with 1 where a share is beyond what is to be reached.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from itertools import accumulate

from dlperf.verdicts.inference.commit_search import MOST_OF_ENDS, History, Step, search
from dlperf.verdicts.inference.level_change import LEAST_VALUES, last_change
from dlperf.verdicts.inference.policies import APART, CLAIM, IN_TURNS, LEAST_UNITS, OF_KIND, Policy
from dlperf.verdicts.inference.variations import between_steps
from dlperf.verdicts.inference.verdict import ASSUMED_MACHINES, Sides, Verdict, judge, judge_claim, two_campaigns
from dlperf.verdicts.trend import CAMPAIGNS

NOISE = 0.0035
"""Relative deviation from trial to trial where a row does not name another."""
TRIALS = "trials"
MOST_INVITED = 60
"""Trials of a side of a claim."""

Outcome = tuple[str, int]
"""What came out, and the trials of both sides."""


def scores(draw: random.Random, count: int, noise: float, level: float = 0.0) -> list[float]:
    return [math.exp(level + draw.gauss(0, noise)) for _ in range(count)]


def in_turns(seed: int, loss: float, noise: float = NOISE, policy: Policy = IN_TURNS) -> Outcome:
    """``dlperf ab``: pairs are added until the verdict is clear."""
    draw = random.Random(seed)
    a, b = scores(draw, policy.most, noise), scores(draw, policy.most, noise, math.log1p(-loss))
    for count in range(policy.least, policy.most + 1):
        found = judge(Sides(a[:count], b[:count], paired=True), policy)
        if found and found.decided:
            return found.code, 2 * count
    return "cannot_tell", 2 * policy.most


def gate(
    seed: int, loss: float, campaign: float, machine: float = 0.0, noise: float = NOISE, known: int = 0
) -> Outcome:
    """``run --gate`` and ``reproduce``: a new campaign against a kept one, with levels of their own.

    Args:
        campaign: deviation of the campaigns' levels, in those of a trial.
        machine: relative deviation of two machines' levels; 0 for one machine.
        known: earlier campaigns from which the deviation is estimated.
    """
    draw = random.Random(seed)

    def level() -> float:
        return draw.gauss(0, campaign * noise) + draw.gauss(0, machine)

    kept = scores(draw, 7, noise, level())
    new = scores(draw, APART.most, noise, level() + math.log1p(-loss))
    earlier = [scores(draw, 7, noise, draw.gauss(0, campaign * noise)) for _ in range(known)]
    between = between_steps([[sum(each) / len(each) for each in earlier]]) if known else None
    machines = ASSUMED_MACHINES if machine else None
    reference = judge(two_campaigns(kept, kept, between), APART)
    # a baseline keeps the loss that its gates seek; `reproduce` has none
    policy = APART if machine or reference is None else replace(APART, loss=reference.loss)
    found: Verdict | None = None
    for count in (APART.least, APART.most):
        found = judge(two_campaigns(kept, new[:count], between, machines), policy)
        if found and found.decided:
            return found.code, count
    return "cannot_tell", APART.most


def year_of(
    draw: random.Random, loss: float, looks: int, machine_looks: int, machine: float, memory: float = 0.0
) -> tuple[list[float], list[int]]:
    """Return a value for each look, and its machine; the loss comes after the first 29 looks.

    Args:
        memory: correlation of each value with the one before.
    """
    machines = [look // machine_looks if machine_looks else 0 for look in range(looks)]
    levels = [draw.gauss(0, machine) for _ in range(max(machines) + 1)]
    losses = [math.log1p(-loss if look >= 29 else 0.0) for look in range(looks)]
    fresh = [draw.gauss(0, NOISE) for _ in range(looks)]
    own = math.sqrt(1 - memory**2)
    noise = list(accumulate(fresh, lambda before, now: memory * before + own * now))
    return [math.exp(levels[on] + lost + by) for on, lost, by in zip(machines, losses, noise, strict=True)], machines


def year(
    seed: int, loss: float, looks: int = 52, machine_looks: int = 0, machine: float = 0.0, memory: float = 0.0
) -> Outcome:
    """``baseline trend`` after each campaign of a year."""
    values, machines = year_of(random.Random(seed), loss, looks, machine_looks, machine, memory)
    for look in range(LEAST_VALUES, looks + 1):
        first = max(0, look - CAMPAIGNS)
        found = last_change(values[first:look], machines[first:look], look)
        if found:
            return "worse" if found.fell else "better", look
    return "none", looks


def otava_year(seed: int, loss: float, machine_looks: int = 0, machine: float = 0.0) -> Outcome:
    """Apache Otava, if installed, on the same series: ``compute_change_points`` at its default p of 0.001."""
    from otava.analysis import compute_change_points

    values, _ = year_of(random.Random(seed), loss, 52, machine_looks, machine)
    for week in range(LEAST_VALUES, 53):
        series = values[max(0, week - CAMPAIGNS) : week]
        for change in compute_change_points(series, window_len=50, max_pvalue=0.001)[0]:
            if change.stats.mean_2 < change.stats.mean_1:
                return "worse", week
    return "none", 52


def kind(seed: int, effect: float, gpus: int = 3, trials: int = 7, noise: float = NOISE, lead: float = 0.0) -> Outcome:
    """A claim about a kind of GPU: each GPU has a difference of its own for each program, in deviations of a trial."""
    draw = random.Random(seed)
    a, b = (
        [sum(scores(draw, trials, noise, draw.gauss(0, effect * noise) + side * lead)) / trials for _ in range(gpus)]
        for side in (0, 1)
    )
    found = judge_claim(Sides(a, b, paired=True), OF_KIND, 1)
    return found.code if found else "cannot_tell", gpus


def claims(seed: int, campaigns: int = 5, noise: float = 0.03, of_b: float = 1.0, speeds: float = 0.0) -> Outcome:
    """A claim about two equal programs, measured again with as many trials as the last verdict asked for.

    Args:
        of_b: noise of B, in that of A.
        speeds: relative distance of two speeds, at one of which each trial runs.
    """
    draw, count, trials = random.Random(seed), CLAIM.least, 0
    for number in range(1, campaigns + 1):
        a, b = (
            [score * (1 + speeds * draw.getrandbits(1)) for score in scores(draw, count, noise * by)]
            for by in (1, of_b)
        )
        found = judge_claim(Sides(a, b), CLAIM, number)
        trials += 2 * count
        if found and found.decided:
            return found.code, trials
        count = min(MOST_INVITED, count + (found.more or 0 if found else 0))
    return "cannot_tell", trials


def kinds(seed: int, effect: float, most: int = 10) -> Outcome:
    """A claim about a kind of GPU without a difference, with one GPU more whenever more are asked for."""
    draw = random.Random(seed)
    a, b = ([sum(scores(draw, 7, NOISE, draw.gauss(0, effect * NOISE))) / 7 for _ in range(most)] for _ in "ab")
    for gpus in range(LEAST_UNITS, most + 1):
        found = judge_claim(Sides(a[:gpus], b[:gpus], paired=True), OF_KIND, gpus - LEAST_UNITS + 1)
        if found and found.decided:
            return found.code, gpus
    return "cannot_tell", most


def find_commit(
    seed: int, commits: int, loss: float, noise: float, at: int | None = None, step: float = 0.0, heavy: bool = False
) -> Outcome:
    """``dlperf bisect``; ``at`` is the first bad commit, ``step`` the deviation of steps' levels."""
    draw = random.Random(seed)
    first = at or draw.randint(1, commits)
    names = [str(index) for index in range(commits + 1)]
    history = History("0", {name: [] if name == "1" else [names[index]] for index, name in enumerate(names[1:])})
    count = Counter[str]()

    def trial(name: str, level: float) -> tuple[str, float]:
        count[name] += 1
        # a chi-squared value of three degrees of freedom: Student's t scaled to the same variance
        deviation = draw.gauss(0, 1) / (math.sqrt(draw.gammavariate(1.5, 2)) if heavy else 1)
        return name, level + deviation * noise + (math.log1p(-loss) if int(name) >= first else 0.0)

    def measure(commit: str, reference: str) -> Step:
        level = draw.gauss(0, step * noise)
        return trial(commit, level), trial(reference, level)

    ends: list[tuple[str, float]] = []
    for _ in range(MOST_OF_ENDS):
        ends += measure(history.bad, history.good)
        values = [[math.exp(value) for name, value in ends if name == side] for side in (history.good, history.bad)]
        found = judge(Sides(*values, paired=True), replace(IN_TURNS, loss=0.0))
        if found and found.decided:
            break
    if found is None or found.code != "worse":
        return found.code.replace("_", " ") if found else "cannot tell", count.total()
    beliefs, _ = search(history, tuple(ends), measure)
    if beliefs.found:
        return "right" if beliefs.found == str(first) else "wrong", count.total()
    return "range" if str(first) in beliefs.range() else "wrong range", count.total()


def asv_find(seed: int, commits: int, loss: float, noise: float, at: int | None = None) -> Outcome:
    """The search of ``asv find`` 0.6 (commands/find.py): medians of five, halves compared, no repeats where unsure."""
    draw = random.Random(seed)
    first = at or draw.randint(1, commits)
    known: dict[int, float] = {}

    def value(index: int) -> float:
        if index not in known:
            level = math.log1p(-loss) if index >= first else 0.0
            known[index] = sorted(1 / score for score in scores(draw, 5, noise, level))[2]
        return known[index]

    low, high = 0, commits
    while high - low > 1:
        middle = low + (high - low) // 2
        first_half, second_half = value(middle) - value(low), value(high) - value(middle)
        low, high = (low, middle) if first_half > second_half else (middle, high)
    return "right" if high == first else "wrong", 5 * len(known)


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    title: str
    simulate: Callable[[int], Outcome]
    wanted: str
    """Outcomes whose share is shown, comma-separated."""
    least: Mapping[str, float] = field(default_factory=dict)
    """Outcomes, comma-separated → the least that they have to be in percent together."""
    most: Mapping[str, float] = field(default_factory=dict)

    @property
    def reach(self) -> str:
        sides = [*(("≥", *item) for item in self.least.items()), *(("≤", *item) for item in self.most.items())]
        return ", ".join(f"{sign} {share:g} % {names.replace(',', ' or ')}" for sign, names, share in sides)

    def missed(self, counts: Counter[str], histories: int) -> bool:
        """Whether a share is beyond its limit by more than chance: three standard errors."""
        return any(
            sign * (limit - 100 * sum(counts[name] for name in names.split(",")) / histories)
            > 3 * math.sqrt(limit * (100 - limit) / histories)
            for sign, limits in ((1, self.least), (-1, self.most))
            for names, limit in limits.items()
        )


FALSE = {"better,worse": 1.0}
GATED = "worse,same,cannot_tell"
CLAIMED = "better,worse,same,cannot_tell"
SEARCHED = "right,range,wrong,wrong range,cannot tell"
FEW = {"commits": 12, "loss": 0.05, "noise": 0.02, "at": 8}
FAINT = {"commits": 20, "loss": 0.02, "noise": 0.02}
MANY = {"commits": 64, "loss": 0.01, "noise": NOISE}
ROWS = (
    Row(
        "bisect, 12 commits, -5 % at the eighth, noise 2 %",
        partial(find_commit, **FEW),
        SEARCHED,
        {"right": 95},
        {"wrong,wrong range": 5},
    ),
    Row("asv find, median of five, the same", partial(asv_find, **FEW), "right,wrong"),
    Row("… bisect, steps with levels of 1 sd", partial(find_commit, **FEW, step=1.0), SEARCHED),
    Row("… bisect, Student's t noise, 3 degrees of freedom", partial(find_commit, **FEW, heavy=True), SEARCHED),
    Row(
        "bisect, 64 commits, -1 %, noise 0.35 %",
        partial(find_commit, **MANY),
        SEARCHED,
        {"right,range": 95},
        {"wrong,wrong range": 1},
    ),
    Row("asv find, median of five, the same", partial(asv_find, **MANY), "right,wrong"),
    Row("bisect, 20 commits, -2 %, noise 0.35 %", partial(find_commit, commits=20, loss=0.02, noise=NOISE), SEARCHED),
    Row("bisect, 20 commits, -2 %, noise 2 %, Student's t", partial(find_commit, **FAINT, heavy=True), SEARCHED),
    Row("bisect, 20 commits, no loss", partial(find_commit, commits=20, loss=0.0, noise=NOISE), SEARCHED),
    Row("gate, no change, campaigns differ by 1 sd", partial(gate, loss=0.0, campaign=1.0), GATED, most={"worse": 1}),
    Row(
        "… by 1 sd, estimated from ten campaigns",
        partial(gate, loss=0.0, campaign=1.0, known=10),
        GATED,
        most={"worse": 1},
    ),
    Row("… by 3 sd, not known", partial(gate, loss=0.0, campaign=3.0), GATED),
    Row("… by 3 sd, estimated from ten campaigns", partial(gate, loss=0.0, campaign=3.0, known=10), GATED),
    Row("gate, a loss of 3 %, campaigns differ by 1 sd", partial(gate, loss=0.03, campaign=1.0), GATED),
    Row(
        "reproduce, identical program, machines differ by 1 %",
        partial(gate, loss=0.0, campaign=1.0, machine=0.01),
        CLAIMED,
        most={"better,worse": 2},
    ),
    Row(
        "… machines differ by 2 %",
        partial(gate, loss=0.0, campaign=1.0, machine=0.02),
        CLAIMED,
        most={"better,worse": 2},
    ),
    Row("trend, 52 weekly looks, no change", partial(year, loss=0.0), "worse,better", most={"worse": 1}),
    Row("trend, 365 nightly looks, no change", partial(year, loss=0.0, looks=365), "worse,better", most={"worse": 1}),
    Row(
        "trend, 52 weekly looks, machine changes every six, by 2 sd",
        partial(year, loss=0.0, machine_looks=6, machine=2 * NOISE),
        "worse,better",
        most={"worse": 2},
    ),
    Row("… each week correlated with the one before, 0.3", partial(year, loss=0.0, memory=0.3), "worse,better"),
    Row("… 0.5", partial(year, loss=0.0, memory=0.5), "worse,better"),
    Row("Otava 0.8, 52 weekly looks, no change", partial(otava_year, loss=0.0), "worse"),
    Row(
        "Otava 0.8, machine changes every six weeks, by 2 sd",
        partial(otava_year, loss=0.0, machine_looks=6, machine=2 * NOISE),
        "worse",
    ),
    Row("trend, a loss of 1 % in the thirtieth week", partial(year, loss=0.01), "worse"),
    Row("claim about a kind, GPU × framework effect of 2 sd", partial(kind, effect=2.0), CLAIMED, most=FALSE),
    Row("… no effect, one GPU more while it is open, up to ten", partial(kinds, effect=0.0), CLAIMED, most=FALSE),
    Row("… effect of 20 sd, the same", partial(kinds, effect=20.0), CLAIMED, most=FALSE),
    Row("claim about a kind, a lead of 9 %", partial(kind, effect=2.0, lead=0.09), CLAIMED),
    Row("claim, no difference, noise 3 %, five campaigns as large as asked for", claims, CLAIMED, most=FALSE),
    Row("… noise 3 % of A and 0.3 % of B", partial(claims, of_b=0.1), CLAIMED, most=FALSE),
    Row(
        "claim, no difference, trials at one of two speeds by chance",
        partial(claims, campaigns=1, noise=0.001, speeds=0.05),
        CLAIMED,
    ),
    Row("ab, a loss of 1 %, noise 0.35 %", partial(in_turns, loss=0.01), GATED, {"worse": 95}),
    Row("ab, no change", partial(in_turns, loss=0.0), CLAIMED, most=FALSE),
)


def main() -> None:
    histories = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    missed = []
    print(f"| {histories:,} histories each | reached | trials, mean | to reach |\n| --- | --- | --- | --- |")
    with ProcessPoolExecutor() as pool:
        for row in ROWS:
            if "Otava" in row.title and find_spec("otava") is None:
                continue
            outcomes = list(pool.map(row.simulate, range(histories), chunksize=max(1, histories // 64)))
            counts, trials = Counter(code for code, _ in outcomes), sum(count for _, count in outcomes) / histories
            shares = ", ".join(f"{100 * counts[name] / histories:.2f} % {name}" for name in row.wanted.split(","))
            print(f"| {row.title} | {shares.replace('_', ' ')} | {trials:.1f} | {row.reach} |", flush=True)
            missed += [row.title] if row.missed(counts, histories) else []
    sys.exit(f"not reached: {'; '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()

"""What a verdict rests on: how the p of its test was made, what would overturn it, and what decides an open one."""

from dataclasses import replace

from dlperf.messages import N_
from dlperf.plan import Selection
from dlperf.plan.axes import run_command
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.answer import chip
from dlperf.report.pages.page import Page
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import DECIDED, Claim
from dlperf.verdicts.inference.policies import CLAIM
from dlperf.verdicts.inference.verdict import Verdict
from dlperf.verdicts.overturning import least_further_lead, tests_of

P_OF_KIND = N_(
    "This p is {raw} of the paired t test over {count} GPUs, of which each counts by the mean of its trials, times "
    "{factor}: from three GPUs on each further one is a new test of the same two programs, and the p of the n-th is "
    "multiplied by n(n+1), here n = {test}. Beside the other claims of this site it must be {level} at most."
)
P_OF_MACHINE = N_(
    "This p is {raw} of Welch's t test on the logarithms of the trials, times {factor}: each further campaign is a new "
    "test of the same two programs, and the p of the n-th is multiplied by n(n+1), here n = {test}. Beside the other "
    "claims of this site it must be {level} at most."
)
STOPPED = N_("Of this {looks} are for campaigns that ended before their planned trials.")


def p_made(page: Page, found: Claim) -> str:
    """Return how the p of a claim was made; empty where nothing is claimed."""
    if found.found is None or found.verdict.code not in DECIDED:
        return ""
    policy, factor = found.found.policy, found.found.factor
    said = page._(
        P_OF_KIND if found.of_kind else P_OF_MACHINE,
        raw=f"{found.found.p / factor:.2g}",
        count=str(len(found.machines)),
        factor=str(factor),
        test=str(tests_of(policy.divisor)),
        level=f"{page.data.context.level:.2g}",
    )
    stopped = page._(STOPPED, looks=str(policy.looks)) if (policy.looks or 1) > 1 else ""
    return page.language.gap.join(filter(None, (said, stopped)))


def overturning(page: Page, found: Claim) -> str:
    """Return what would overturn a claim; empty where nothing is claimed."""
    better = found.of_better
    if better.found is None or better.verdict.code not in DECIDED:
        more = page._("a further campaign in which they may differ by more")
        return more if found.verdict.code == "same" else ""
    return page.language.semicolon.join((_further(page, better, better.found), _faster(page, better)))


def deciding(page: Page, found: Claim) -> str:
    """Return the command that runs both in turns, with the trials that a claim needs; empty where none would do."""
    a, b = found.b, found.a
    alike = replace(a, framework=b.framework).id == b.id and a.protocol == b.protocol
    if not (found.is_open and alike and all(page.data.is_ours(row.campaign) for row in (a, b))):
        return ""
    asked = [int(str(why.parameters["count"])) for why in found.reasons if why.code == "new_campaign"]
    wanted = Selection(
        hardware=("MACHINE",),
        frameworks=(a.framework, b.framework),
        cases=(a.case,),
        precisions=(a.precision,),
        batch_sizes=(a.batch_size,),
        scales=(a.scale,),
        axes=tuple(f"{name}={value}" for name, value in a.axes),
        repeats=max(CLAIM.least, *asked, 0),
        protocol=a.protocol,
    )
    return run_command(wanted)


def _further(page: Page, better: Claim, found: Verdict) -> str:
    """Return what a further measurement of the same two programs would have to show."""
    first, least = _title(page, better.b), least_further_lead(better)
    if least is not None:
        text = N_("one more {machine} on which {framework} is less than {lead} ahead")
        return page._(text, machine=chip(page.data, better.b), framework=first, lead=_percent(least))
    if better.of_kind:
        return page._("one more {machine}", machine=chip(page.data, better.b))
    return page._("a further campaign in which {framework} is not ahead", framework=first)


def _faster(page: Page, better: Claim) -> str:
    """Return what a program of the side behind would have to gain."""
    text = N_(
        "a program of {framework} that gains {lead} with equal data types, batch and losses on these GPUs, or a fault "
        "of either program"
    )
    return page._(text, framework=_title(page, better.a), lead=_percent((better.gain or 1.0) - 1))


def _title(page: Page, row: ConfigurationResult) -> str:
    return page.data.framework_title(row.framework, row.campaign)


def _percent(share: float) -> str:
    return md.unbreakable(figures.percent(share))

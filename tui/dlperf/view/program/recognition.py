"""What the output of a trial run says: its log format, its value, and what of them is a guess."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from dlperf.catalog.log_format import LogFormat
from dlperf.errors import RequestError
from dlperf.evidence.drafts import only_example, rate_examples
from dlperf.formats.draft import draft_format
from dlperf.formats.registry import describe, detect, parser_for
from dlperf.formats.samples import Run
from dlperf.measured.run import Measured, StatedFacts, measure_run
from dlperf.measured.throughput.figure import Figure
from dlperf.view.program.command import Program
from dlperf.view.program.trial_run import Output

PRINTED = ("printed()",)
"""Estimator of a log with one value."""
RULES = (None, "mean()", "rate()", *PRINTED)
"""Estimators of other logs, the best first; None is the natural one of the log."""


class NoRateError(RequestError):
    """Nothing in the output of a program looks like a rate."""


@dataclass(frozen=True)
class ProgramOutput:
    """How the output of the trial run reads."""

    format: str
    example: str | None
    """The line from which a format is proposed; None where the format is known."""
    draft: str
    """The proposed format as YAML."""
    figure: Figure
    estimator: str
    """Of the campaign: that of ``figure``, or of what a whole run prints where this one was stopped before."""
    records: int
    logged_batch_size: int | None
    """Per GPU, as the log states it."""
    rests_on_batch_size: bool
    """With another batch size the same output gives another value."""

    @property
    def is_single(self) -> bool:
        return self.records == 1


def recognise(output: Output, program: Program, formats: Sequence[LogFormat]) -> ProgramOutput:
    """Find the format of a trial run's output, and its value.

    Raises:
        NoRateError: nothing in it looks like a rate.
        RequestError: the program failed, or its output gives no value.
    """
    _refuse_failure(output)
    found, example, draft = detect(output.data, formats), None, ""
    if found is None or describe(found, formats).generic:
        only = only_example(output.data)
        example = only or next((line for _, line in rate_examples(output.data)), None)
        if example is None and found is None:
            raise NoRateError(_explain_no_rate(output))
        if example is not None:
            found, draft = None, draft_format(example, program.name, is_only=only is not None)
            formats = [*formats, LogFormat.model_validate_json(json.dumps(yaml.safe_load(draft)))]
    parser = parser_for(found or program.name, formats)
    parser.feed(output.data)
    parser.finish()
    run = parser.runs[-1]
    records = len(run.samples) + len(run.summaries) + len(run.epochs)
    logged = run.metadata.batch_size or measure_run(run, StatedFacts(1, 1)).logged_batch_size
    size = logged or program.batch_size
    rules = PRINTED if records == 1 else RULES
    measured, doubled = (_measured(run, StatedFacts(1, 1, number), rules) for number in (size, 2 * size))
    if measured.figure is None:
        raise RequestError(f"the output of the trial run gives no value{_ending(output)}: {measured.shortage}")
    rests = measured.value != doubled.value
    rule = measured.figure.estimator if parser.has_whole_records else PRINTED[0]
    return ProgramOutput(found or program.name, example, draft, measured.figure, rule, records, logged, rests)


def _measured(run: Run, facts: StatedFacts, rules: Sequence[str | None]) -> Measured:
    """Measure a run by the first rule that gives a value; where none does, by the first."""
    tried = [measure_run(run, facts, rule) for rule in rules]
    return next((measured for measured in tried if measured.figure), tried[0])


def _refuse_failure(output: Output) -> None:
    if output.code:
        how = f"exit code {output.code}" if output.code > 0 else f"signal {-output.code}"
        last = next((line for line in reversed(output.lines) if line.strip()), "it printed nothing")
        raise RequestError(f"the trial run failed with {how}: {last}")


def _ending(output: Output) -> str:
    return " until it was stopped (--seconds gives it more time)" if output.code is None else ""


def _explain_no_rate(output: Output) -> str:
    ending = _ending(output)
    if not output.data.strip():
        return f"the program printed nothing{ending}: let it print its throughput"
    last = output.lines[-1][:120]
    advice = "print one number, or lines such as: step=10 throughput=512.3 samples/s"
    return f"no line of the program's output looks like a rate{ending}, the last is {last!r}: let it {advice}"

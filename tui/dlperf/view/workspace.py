"""The Python API: a workspace and what the commands do in it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlperf.catalog.files.problem import hint
from dlperf.errors import DlperfError, RequestError
from dlperf.plan.model import Plan, Selection
from dlperf.runs import paths

if TYPE_CHECKING:
    import pandas as pd

    from dlperf.catalog.files.load import Catalog
    from dlperf.view.notebook.comparisons import ShownComparisons
    from dlperf.view.notebook.shown import Results, ShownPlan

Words = str | Sequence[str]
"""One or several, as ``Sizes``."""
Sizes = int | Sequence[int]
Complain = Callable[[Any], object]
EVERYTHING = Selection()
POLL_SECONDS = 0.2


def load_entries(workspace: paths.WorkspacePaths | None, complain: Complain | None) -> Catalog:
    """Load the built-in catalogue and, of a workspace, its entries.

    Args:
        complain: called for each problem of an entry that is left out.

    Raises:
        CatalogError: without ``complain``, a file is invalid.
    """
    from dlperf.catalog.files.load import load_catalog
    from dlperf.catalog.plugins import code_format_ids
    from dlperf.measured.throughput.estimators import parse_estimator

    return load_catalog(workspace.catalog if workspace else None, code_format_ids(), parse_estimator, complain)


class Workspace:
    """The workspace at or above a folder."""

    def __init__(self, folder: str | Path = ".", complain: Complain | None = None) -> None:
        """Find the workspace.

        Args:
            complain: called for each entry, campaign or report that is left out because it cannot be read; without it
                the first one raises an error.

        Raises:
            RequestError: there is none.
        """
        self.paths = paths.WorkspacePaths.find(Path(folder))
        self._complain = complain

    @staticmethod
    def select(
        *,
        hardware: Words = (),
        framework: Words = (),
        case: Words = (),
        precision: Words = (),
        batch_size: Sizes = (),
        gpus: Words = (),
        axes: Mapping[str, Words | Sizes] | None = None,
        repeats: int | None = None,
        protocol: str | None = None,
        profile: bool = False,
    ) -> Selection:
        """Return a selection; what is left out means everything that the catalogue offers. ``gpus`` are as ``2n8g``."""
        points = [f"{name}={value}" for name, values in (axes or {}).items() for value in _several(values)]
        return Selection(
            hardware=_several(hardware),
            frameworks=_several(framework),
            cases=_several(case),
            precisions=_several(precision),
            batch_sizes=_several(batch_size),
            scales=_several(gpus),
            axes=tuple(points),
            repeats=repeats,
            protocol=protocol,
            profile=profile,
        )

    def catalog(self) -> Catalog:
        """Return the entries that a selection can name, built-in ones included."""
        return load_entries(self.paths, self._complain)

    def plan(self, selection: Selection) -> ShownPlan:
        """Return the configurations that a selection would run, and those that cannot run, with the reason.

        Raises:
            RequestError: an id is unknown, or nothing fits the selection.
        """
        from dlperf.plan import expand
        from dlperf.view.notebook.shown import ShownPlan, showing

        return showing(ShownPlan, expand(selection, self.catalog()))

    def start(self, plan: Plan, name: str | None = None) -> str:
        """Start a campaign, whose engine runs on when Python ends, and return its name.

        Raises:
            DlperfError: nothing of the plan can run, the name is taken, or the engine did not start.
        """
        from dlperf.view.start import start_campaign

        return start_campaign(self.paths, plan, name)[0].name

    def run(self, plan: Plan, name: str | None = None) -> str:
        """Start a campaign, wait until all its trials have ended, and return its name.

        Raises:
            DlperfError: it cannot start, or its engine ended early.
        """
        from dlperf.runs.journal import CampaignReader
        from dlperf.runs.lock import engine_pid

        started = self.start(plan, name)
        reader = CampaignReader(self.paths.campaign(started))
        while engine_pid(reader.paths) is not None:
            time.sleep(POLL_SECONDS)
        if not reader.refresh().finished:
            log = reader.paths.engine_log
            raise DlperfError(f"campaign {started!r}: its engine ended early: see {log}, then run `dlperf resume`")
        return started

    def results(
        self, selection: Selection = EVERYTHING, *, campaigns: Words = (), statuses: Words = (), metrics: Words = ()
    ) -> pd.DataFrame:
        """Return ``rows`` as a data frame with the columns of ``dlperf results --json``; a missing value is NaN."""
        from dlperf.table.frame import results_frame

        return results_frame(self.rows(selection, campaigns=campaigns, statuses=statuses, metrics=metrics))

    def rows(
        self, selection: Selection = EVERYTHING, *, campaigns: Words = (), statuses: Words = (), metrics: Words = ()
    ) -> Results:
        """Return each measured or published configuration, or a row for each of the metrics (``all``: every one).

        Raises:
            RequestError: a campaign, status, metric, machine, framework, case or precision is unknown.
        """
        from dlperf.table.load import Filters, load_results
        from dlperf.view.notebook.shown import Results

        words = {"campaigns": _several(campaigns), "statuses": _several(statuses), "metrics": _several(metrics)}
        rows = load_results(self.paths, Filters(selection, **words), self._complain)
        if not rows:
            _refuse_unknown_statuses(words["statuses"])
            self.refuse_unknown(selection, words["campaigns"])
        return Results(rows)

    def compare(self, a: str, b: str, metric: str | None = None, loss: float | None = None) -> ShownComparisons:
        """Compare B with A, each a campaign, a configuration id, or ``axis=value[,axis=value…]``.

        Args:
            loss: relative loss that is sought, such as 0.01; the smallest that the trials can decide if None.

        Raises:
            RequestError: a side matches nothing, or the two share no configuration.
        """
        from dlperf.verdicts.workspace import compare_in_workspace
        from dlperf.view.notebook.comparisons import ShownComparisons
        from dlperf.view.notebook.shown import showing

        found = compare_in_workspace(self.paths, a, b, self._complain, metric, loss)
        return showing(ShownComparisons, found)

    def refuse_unknown(self, selection: Selection, campaigns: Sequence[str]) -> None:
        """Reject a misspelt name in what selects no result: it would look like one that was not measured."""
        known = [found.name for found in self.paths.campaigns()]
        known += [f"published/{found.name}" for found in self.paths.published_reports()]
        for name in campaigns:
            if name not in known:
                raise RequestError(f"--campaign {name}: no such campaign ({hint(name, known)})")
        for axis, wanted, entries in self._named(selection):
            if unknown := set(wanted) - set(entries):
                measured = {getattr(row, axis) for row in self.rows()}
                for name in sorted(unknown - measured):
                    known = sorted({*entries, *measured})
                    raise RequestError(f"--{axis} {name}: neither measured nor in the catalogue ({hint(name, known)})")

    def _named(self, selection: Selection) -> list[tuple[str, Sequence[str], Iterable[str]]]:
        """Return the axes whose values are entries of the catalogue: name, selected ids, all ids."""
        entries = self.catalog()
        return [
            ("hardware", selection.hardware, entries.hardware),
            ("framework", selection.frameworks, entries.frameworks),
            ("case", selection.cases, entries.cases),
            ("precision", selection.precisions, entries.precisions),
        ]


def _refuse_unknown_statuses(words: Sequence[str]) -> None:
    """Reject what is neither a status nor its text, after which a colon and a cause may stand."""
    from dlperf.table.model import STATUSES

    for word in words:
        if word.partition(":")[0].replace(" ", "_") not in STATUSES:
            raise RequestError(f"--status {word}: no such status ({hint(word, STATUSES)})")


def _several(values: Any) -> tuple[Any, ...]:
    return (values,) if isinstance(values, (str, int)) else tuple(values)

"""Search the fastest point of what a recipe can vary at equal numerics: batch size, checkpointing, parallelism …"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dlperf.catalog.axes import ACCUMULATION, AxisValue
from dlperf.errors import RequestError
from dlperf.plan.axes import ALL, declared_axes, parse_axes
from dlperf.plan.expand import expand
from dlperf.plan.model import PlannedConfiguration, Selection

if TYPE_CHECKING:
    from optuna import Trial

    from dlperf.catalog.files.load import Catalog

BATCH_SIZE = "batch_size"
MISSES = 5
"""Proposals in a row that were tried before, after which one that was not is drawn."""
RANDOM_POINTS = 5
"""Drawn before the sampler uses what it has learned, which is its own default for few trials."""
Point = tuple[AxisValue, ...]


@dataclass(frozen=True)
class SearchSpace:
    """The points of a search."""

    choices: Mapping[str, tuple[AxisValue, ...]]
    """Axis → its values, where there are several."""
    points: Mapping[Point, PlannedConfiguration]
    """What can run: a value of each choice → its plan of one trial."""
    default: Point
    """What runs where nothing is set."""

    def named(self, point: Point) -> dict[str, AxisValue]:
        """Return the values of a point by axis."""
        return dict(zip(self.choices, point, strict=True))

    def not_smaller(self, point: Point) -> set[Point]:
        """Return the points that need as much memory: the same but for a batch that is at least as large."""
        wanted = self.named(point)
        size = wanted.pop(BATCH_SIZE, 0)
        found = set()
        for each in self.points:
            values = self.named(each)
            if float(values.pop(BATCH_SIZE, 0)) >= float(size) and values == wanted:
                found.add(each)
        return found


def search_space(selection: Selection, catalog: Catalog) -> SearchSpace:
    """Return what a selection leaves open of one recipe: batch sizes and the recipe's own axes.

    The axes of the case and gradient accumulation change the training itself, so that they keep their defaults unless
    several values are selected; precision and GPUs are the recipe's first and the most that fit.

    Raises:
        RequestError: it is not one recipe on one machine, of one precision and scale.
    """
    named = {"--hardware": selection.hardware, "--framework": selection.frameworks, "--case": selection.cases}
    for option, values in named.items():
        if len(values) != 1:
            raise RequestError(f"{option}: name one, as a search is of one recipe on one machine")
    for option, values in {"--precision": selection.precisions, "--gpus": selection.scales}.items():
        if len(values) > 1:
            raise RequestError(f"{option}: name one, as speeds of several do not compare")
    usual = [item.configuration for item in expand(replace(selection, repeats=1), catalog).configurations]
    if not usual:
        return SearchSpace({}, {}, ())
    most = max(usual, key=lambda item: item.gpus_total)
    first = next(item for item in usual if item.scale == most.scale)
    wide = replace(selection, precisions=(first.precision,), scales=(first.scale,), repeats=1)
    return _space_of(_opened(wide, catalog), dict([(BATCH_SIZE, first.batch_size), *first.axes]), catalog)


def _opened(selection: Selection, catalog: Catalog) -> Selection:
    """Return the selection with every value of what may be varied."""
    case = catalog.cases[selection.cases[0]]
    recipe = catalog.frameworks[selection.frameworks[0]].recipe_for(case)
    own = set(recipe.axes) - {ACCUMULATION} if recipe else set()
    given = parse_axes(selection.axes)
    axes = [*selection.axes]
    for name, axis in declared_axes(case, recipe).items():
        if name not in given:
            axes.append(f"{name}={ALL if name in own else axis.values[0] if axis.default is None else axis.default}")
    sizes = selection.batch_sizes or (recipe and recipe.batch_sizes) or case.batch_sizes
    return replace(selection, axes=tuple(axes), batch_sizes=sizes)


def _space_of(selection: Selection, usual: Mapping[str, AxisValue], catalog: Catalog) -> SearchSpace:
    planned = expand(selection, catalog).configurations
    values = [dict([(BATCH_SIZE, item.configuration.batch_size), *item.configuration.axes]) for item in planned]
    distinct = {name: tuple(dict.fromkeys(each[name] for each in values)) for name in values[0]}
    choices = {name: each for name, each in distinct.items() if len(each) > 1}
    points = {tuple(each[name] for name in choices): item for each, item in zip(values, planned, strict=True)}
    default = tuple(usual[name] for name in choices)
    return SearchSpace(choices, points, default if default in points else next(iter(points)))


class Search:
    """Proposes points by optuna's tree-structured Parzen estimator (Bergstra et al. 2011), the default point first."""

    def __init__(self, space: SearchSpace, seed: int = 0) -> None:
        """Raise RequestError where optuna is not installed."""
        try:
            import optuna
        except ImportError as error:
            raise RequestError("tune needs optuna: `pip install optuna` into the environment of dlperf") from error
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=RANDOM_POINTS)
        self._study = optuna.create_study(direction="maximize", sampler=sampler)
        self._states = optuna.trial.TrialState
        self._draw = random.Random(seed)
        self._space, self._left = space, dict.fromkeys(space.points)
        self._asked: tuple[Trial, Point] | None = None
        self._enqueue(space.default)

    def propose(self) -> Point | None:
        """Return a point that was not tried and may fit into memory; None where all were."""
        if not self._left:
            return None
        for _ in range(MISSES):
            trial, point = self._ask()
            if point in self._left:
                break
            self._study.tell(trial, state=self._states.FAIL if point in self._space.points else self._states.PRUNED)
        else:
            self._enqueue(self._draw.choice(list(self._left)))
            trial, point = self._ask()
        self._asked = trial, point
        del self._left[point]
        return point

    def learn(self, score: float | None, out_of_memory: bool = False) -> None:
        """Take the score of the last point; None where it gave no value."""
        assert self._asked
        trial, point = self._asked
        if score is None:
            self._study.tell(trial, state=self._states.PRUNED)  # for the sampler the worst there is
        else:
            self._study.tell(trial, score)
        for each in self._space.not_smaller(point) if out_of_memory else ():
            self._left.pop(each, None)

    def _enqueue(self, point: Point) -> None:
        choices = self._space.choices
        self._study.enqueue_trial(
            {name: choices[name].index(value) for name, value in self._space.named(point).items()}
        )

    def _ask(self) -> tuple[Trial, Point]:
        trial = self._study.ask()
        places = {name: trial.suggest_int(name, 0, len(each) - 1) for name, each in self._space.choices.items()}
        return trial, tuple(self._space.choices[name][place] for name, place in places.items())

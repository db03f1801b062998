"""Loss at fixed steps, to see whether two programs train alike. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from dlperf.evidence.columns import MOST

STEPS = frozenset(lead * 10**power for power in range(1, 7) for lead in (1, 2, 5))
APART = 0.2
"""Of the first loss: five seeds of GPT-2 124M lie up to 3 % apart at step 200 (H100, 2026-11-25), three of Llama 3 8B
12 % at step 20 (H200); of BERT-base, one of three learned within 2000 steps and the others did not (75 %)."""

Losses = tuple[tuple[int, float], ...]


def losses_at_steps(steps: Iterable[float], losses: Iterable[float]) -> Losses:
    """Return the loss at the steps 10, 20, 50, 100, …, as far as they were recorded."""
    found: dict[int, float] = {}
    for step, loss in zip(steps, losses, strict=True):
        if step in STEPS and abs(loss) <= MOST:
            found.setdefault(int(step), loss)
    return tuple(found.items())


def common_steps(trials: Sequence[Losses]) -> list[int]:
    """Return the steps at which all trials have a loss."""
    return sorted(set.intersection(*(set(dict(losses)) for losses in trials))) if trials else []


def losses_apart(trials: Sequence[Losses]) -> Mapping[str, float]:
    """Return step, lowest and highest loss at the last common step if they differ by more than ``APART`` of the first;
    empty otherwise, or where losses are not known."""
    steps = common_steps(trials)
    if not steps:
        return {}
    first, last = ([dict(losses)[step] for losses in trials] for step in (steps[0], steps[-1]))
    apart = max(last) - min(last) > APART * max(map(abs, first))
    return {"step": steps[-1], "lowest": min(last), "highest": max(last)} if apart else {}

"""Note what a log declares about its runs, and interpret it."""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from math import inf, prod

from dlperf.formats.samples import Metadata

_COUNTS = (
    *("gpus", "gpus_per_node", "nodes", "ranks", "batch_size", "global_batch_size", "accumulation_steps", "steps"),
    *("sequence_length", "tokens_per_step", "model_parts", "derived_gpus"),
)
_LISTS = ("gpu_list", "all_gpus", "node_list", "mesh")
_SWITCHES = ("amp", "bf16", "pure_fp16", "inference")
_MARKS = frozenset({"continued_rate"})
"""Hold wherever they are declared, whatever the text: each is the code of a finding."""
FIELDS = frozenset({*_COUNTS, *_LISTS, *_SWITCHES, *_MARKS, "precision", "model", "framework"})
"""Names with a meaning, see ``docs/fields.toml``; any other declaration is kept among the run's arguments."""

_BATCH = frozenset({"batch_size", "global_batch_size", "accumulation_steps"})
_GPUS = frozenset({"gpus", "gpus_per_node", "nodes", "ranks", "derived_gpus", *_LISTS})

SETTINGS = {"sequence_length"}
"""Of these, settings of the program that readers want to see: arguments, too."""

MOST_GPUS = 10**7
ARGUMENT_LIMIT = 400
"""Arguments kept per run: a configuration of any size must not exhaust the memory."""

PRECISIONS = ("fp32", "tf32", "amp", "fp16", "bf16", "fp16-pure", "bf16-pure", "fp8", "mxfp8", "nvfp4", "int8")
"""Names as in the catalogue."""
_PRECISIONS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "16bit": "amp"}
_PRECISIONS |= {"o0": "fp32", "o1": "amp", "o2": "amp", "o3": "fp16"}  # levels of automatic mixed precision
_PRECISIONS.update({name: name for name in PRECISIONS})


class Declarations:
    """The declarations of a log: those of the current run, and those noted for the run of the next record."""

    def __init__(self, facts: Mapping[str, str], stated_once: bool) -> None:
        self._stated_once = stated_once
        self._pending: dict[str, str] = {}
        self._in_record: dict[str, str] = {}
        self._stated: dict[str, tuple[Sequence[int], Callable[[int], bytes]]] = {}
        self._contradicted: set[str] = set()
        self._overridden: set[str] = set()
        self._facts = dict(facts)
        self._declared = self._facts

    @property
    def accumulation_steps(self) -> int:
        """Micro-batches of a step, as declared so far."""
        stated = metadata(self._declared | self._pending).accumulation_steps
        return stated or 1

    def declare(self, name: str, text: str) -> None:
        """Note a declaration; of several equal names the first counts that is not ``None``, within one run."""
        if name in self._overridden:
            self._overridden.discard(name)
            self._contradicted.discard(name)
            self._pending.pop(name, None)
        if self._stated_once and name in FIELDS and not agree(name, self._pending.get(name, text), text):
            self._contradicted.add(name)
        if name in FIELDS or len(self._pending) < ARGUMENT_LIMIT:
            self._pending[name] = _first(self._pending.get(name), text)

    def override_declarations(self) -> None:
        """Let the next declaration of each name replace the one that is noted."""
        self._overridden = set(self._pending)

    def declare_in_records(self, name: str, lines: Sequence[int], text_at: Callable[[int], bytes]) -> None:
        """Note what the first record of each run states on its own line: it holds whatever programs stated before."""
        self._stated[name] = lines, text_at
        self._declare_at(lines[0])

    def _declare_at(self, line: int) -> None:
        for name, (lines, text_at) in self._stated.items():
            if line in lines:
                text = text_at(lines.index(line)).decode("utf-8", "replace")
                if self._stated_once:
                    self._in_record.setdefault(name, text)
                else:
                    self.declare(name, text)

    def declare_late(self, name: str, text: str) -> None:
        """Note what became known with later records; the last of several equal names counts."""
        self._pending[name] = text
        self._declared = {known: value for known, value in self._declared.items() if known != name}

    def _restates_settings(self, read: Callable[[], None]) -> bool:
        """Return whether the declarations that ``read`` reads state what a program stated before in this run."""
        noted = self._pending, self._contradicted, self._overridden
        self._pending, self._contradicted, self._overridden = {}, set(), set()
        read()
        stated = self._pending.keys() & self._declared.keys() & FIELDS
        self._pending, self._contradicted, self._overridden = noted
        return bool(stated - self._facts.keys())

    def _settle_declarations(self) -> bool:
        """Add what is noted to the current run's; return whether some contradict each other, which are left out."""
        known, mixed = self._declared, bool(self._contradicted - self._declared.keys())
        if mixed:
            self._pending = without_contradicted(self._pending, self._contradicted)
        self._declared = known | {name: _first(known.get(name), text) for name, text in self._pending.items()}
        self._declared.update((name, text) for name, text in self._in_record.items() if name not in known)
        self._pending, self._in_record, self._contradicted, self._overridden = {}, {}, set(), set()
        return mixed


def _first(known: str | None, later: str) -> str:
    """Return the first text unless a program printed it for a value that it did not have yet."""
    return later if known in (None, "None") else str(known)


def metadata(declared: Mapping[str, str]) -> Metadata:
    """Return what declarations state about a run, None for what they do not."""
    gpus = _stated_gpus(declared) or _counted_gpus(declared) or _gpus_of_batches(declared)
    batch_size, global_batch_size = _count(declared, "batch_size"), _count(declared, "global_batch_size")
    if gpus and batch_size and not global_batch_size:
        global_batch_size = gpus * batch_size * (_count(declared, "accumulation_steps") or 1)
    if gpus and global_batch_size and not batch_size and global_batch_size % gpus == 0:
        batch_size = global_batch_size // gpus
    return Metadata(
        gpus=gpus,
        gpus_per_node=_count(declared, "gpus_per_node") or _length(declared, "gpu_list"),
        batch_size=batch_size,
        global_batch_size=global_batch_size,
        accumulation_steps=_count(declared, "accumulation_steps"),
        sequence_length=_count(declared, "sequence_length"),
        tokens_per_step=_count(declared, "tokens_per_step"),
        precision=_precision(declared),
        model=declared.get("model"),
        framework=declared.get("framework"),
        arguments={name: text for name, text in declared.items() if name not in FIELDS - SETTINGS},
    )


def agree(name: str, text: str, other: str) -> bool:
    """Return whether two texts of a declaration mean the same, as meshes of as many GPUs do."""
    return text == other or (name == "mesh" and _product(text) == _product(other))


def without_contradicted(declared: Mapping[str, str], contradicted: Container[str]) -> dict[str, str]:
    """Leave out what was declared in several ways, with all fields that would give the same fact."""
    unknown = {name for group in (_BATCH, _GPUS) for name in group if any(other in contradicted for other in group)}
    return {name: text for name, text in declared.items() if name not in unknown and name not in contradicted}


def declared_notes(declared: Mapping[str, str]) -> list[str]:
    """Return the codes of findings that declarations give."""
    inference = ["inference"] if _is_on(declared, "inference") else []
    derived = ["derived_gpus"] if _count(declared, "derived_gpus") and not _stated_gpus(declared) else []
    return [*inference, *derived, *(_MARKS & declared.keys())]


def last_step(declared: Mapping[str, str]) -> float:
    """Return the number of the last step of a complete run, infinity where it is not declared."""
    return float(_count(declared, "steps") or inf)


def _stated_gpus(declared: Mapping[str, str]) -> int | None:
    gpus = _count(declared, "gpus") or _length(declared, "all_gpus") or _product(declared.get("mesh", ""))
    if gpus is not None:
        return gpus
    per_node = _count(declared, "gpus_per_node") or _length(declared, "gpu_list")
    nodes = _count(declared, "nodes") or _length(declared, "node_list")
    return per_node * nodes if per_node and nodes else None


def _counted_gpus(declared: Mapping[str, str]) -> int | None:
    """Return the GPUs that two rates give, else the ranks that print."""
    return _count(declared, "derived_gpus") or _count(declared, "ranks")


def _gpus_of_batches(declared: Mapping[str, str]) -> int | None:
    """Return the ranks that share the batch of a step, where that of a rank and its accumulation are stated, too.

    They are the GPUs unless several GPUs share one copy of the model.
    """
    step, gpu, accumulated = (
        _count(declared, name) for name in ("global_batch_size", "batch_size", "accumulation_steps")
    )
    if not (step and gpu and accumulated) or step % (gpu * accumulated) or "model_parts" in declared:
        return None
    return step // (gpu * accumulated)


def _precision(declared: Mapping[str, str]) -> str | None:
    """Mixed precision is a switch apart from the data type: ``dtype float32, amp True`` is amp."""
    if _is_on(declared, "pure_fp16"):
        return "fp16"
    if _is_on(declared, "amp"):
        return "amp"
    if _is_on(declared, "bf16"):
        return "bf16"
    stated = _PRECISIONS.get(declared.get("precision", "").lower())
    return stated or ("fp32" if "amp" in declared else None)


def _is_on(declared: Mapping[str, str], name: str) -> bool:
    return declared.get(name, "").lower() in ("true", "1", "on", "yes")


def _count(declared: Mapping[str, str], name: str) -> int | None:
    text = declared.get(name, "").replace(",", "")
    count = int(text) if text.isdecimal() and len(text) < 10 else 0
    return count or None


def _product(text: str) -> int | None:
    """Return the product of the numbers in a text, None without any."""
    numbers = [int(number) for number in re.findall(r"\b\d{1,5}\b", text[:1000])]
    return prod(numbers) if numbers and 0 < prod(numbers) < MOST_GPUS else None


def _length(declared: Mapping[str, str], name: str) -> int | None:
    """Return the length of a list such as 0,1 or CUDA:0 (A100, 40 GB) CUDA:1 (A100, 40 GB), None where it is absent."""
    text = declared.get(name)
    if text is None:
        return None
    return text.count("CUDA:") or len([entry for entry in text.split(",") if entry.strip()])

"""An agent in memory that answers with anything."""

from __future__ import annotations

import json
import random
import struct
import time
from collections.abc import Sequence
from typing import Any

from dlperf.nodes.bootstrap import ANSWER, READY

IDENTITY = {"pid": 1, "start_ticks": 2, "boot_id": "b", "started": "2026-01-01T00:00:00.000Z"}
EXIT = {"state": "failed", "cause": {"code": "exit_code", "code_value": 1}, "code": 1, "signal": None, "ended": "2026"}
REPORT = {
    **{"supervisor": IDENTITY, "alive": False, "orphaned": False, "rebooted": False, "exit": EXIT, "cancelled": False},
    **{"heartbeat": 1.5, "streams": {"out.log": 5, "ranks/a": 3}, "telemetry": 7, "arrivals": 9, "problem": None},
}
GPU = {"index": 0, "name": "H200", "uuid": "u", "driver": "1", "utilization_percent": 0.0}
FACTS = {
    **{"clock": 1.0, "lease": {"user": "u", "engine": "e", "since": "s", "trial": "t", "left": {"1": "x"}}},
    **{
        "disk_free_bytes": 1 << 40,
        "files_free": 1 << 20,
        "disk_problem": "",
        "gpus": [GPU],
        "nvlinks": {"u": 1},
        "missing": [],
        "unresolved": {"a": "b"},
        "cuda": "12",
    },
    **{"infiniband": [{"name": "a", "state": "ACTIVE", "rate": "1"}], "image_digest": None, "runtime_complaint": ""},
    "gpu_processes": [{"gpu": "u", "pid": 1, "user": None, "name": "x"}],
}
FREE = {"lease": None, "gpus": [], "gpu_processes": [], "nvlinks": {}, "unresolved": {}}
"""What differs on a machine that is ready."""
SOUND: dict[str, Any] = {
    "hello": {"python": "3.11", "hostname": "h", "clock": 1e9, "home": "/root", "port": 20000},
    "start": IDENTITY,
    "check": FACTS,
    "command": {"code": 0, "out": "1_1|PENDING|0|Priority|", "err": ""},
    "job": {"job": "17", "code": 0, "err": ""},
}
ODD: Sequence[Any] = (
    *(None, True, -1, 0, 1.5, 10**18, -(10**30), 10**4000, float("nan"), float("inf"), "", "x", "\ud800", "\0", "1"),
    *("x" * 5000, "../../../../etc/passwd", "/etc/passwd", "ranks/../../../x"),
    *("ranks/" + "a/" * 300, "ranks/" + "y" * 300),
    *([], {}, [[]], {"code": 1}, {"": {}}, [0] * 50, {"out.log": {}}, {"ranks": 1, "exit.json": 5, "ranks/a/b": 9}),
)


def mutated(value: Any, chance: random.Random) -> Any:
    """A copy with one part replaced, removed, doubled or put elsewhere."""
    if not isinstance(value, (dict, list)) or not value or chance.random() < 0.15:
        return chance.choice(ODD)
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key, copy = chance.choice(keys), value.copy()
    match chance.randrange(8):
        case 0:
            del copy[key]
        case 1 if isinstance(copy, list):
            copy += copy
        case 1:
            copy[str(chance.choice(ODD))] = copy[key]
        case _:
            copy[key] = mutated(copy[key], chance)
    return copy


def sound(request: dict[str, Any], chance: random.Random) -> tuple[Any, bytes]:
    """What an honest agent might answer."""
    if request["operation"] == "observe":
        size = chance.choice((0, 5, 9))
        return [REPORT | {"streams": {"out.log": size, "ranks/a": 3}} for _ in request["directories"]], b""
    if request["operation"] == "read":
        sizes = [chance.choice((-1, 0, 1, min(item["limit"], 9))) for item in request["ranges"]]
        reasons = ["gone" if size < 0 and chance.random() < 0.5 else "" for size in sizes]
        return {"sizes": sizes, "reasons": reasons}, b"x" * sum(max(size, 0) for size in sizes)
    return SOUND.get(request["operation"], {}), b""


def frame(request: dict[str, Any], chance: random.Random) -> bytes:
    """What an agent may send in answer to a request."""
    answer, raw = sound(request, chance)
    head: Any = {"id": request["id"], "raw": len(raw), "answer": answer}
    kind = chance.randrange(16)
    if kind <= 5:
        head["answer"] = mutated(answer, chance)
    elif kind == 6:
        head = mutated(head, chance)
    elif kind == 7:
        head = {"id": request["id"], "raw": 0, "error": mutated("x", chance)}
    body = json.dumps(head).encode()
    if kind == 8:
        body = chance.choice((b"[" * 9000, b"\xff\xfe", b"9" * 9000, b"[1,2", b'"\\ud800"', b"{" * 500, body[:-3], b""))
    size = len(body) if kind != 9 else chance.choice((0, len(body) + 5, 1 << 31, 0xFFFFFFFF, len(body) // 2))
    return struct.pack(">I", size) + body + raw


class FakeAgent:
    """A transport and its channel in memory, which ends where an answer is incomplete."""

    python = None

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.answers = 0
        self.output = b""

    async def open(self, argv: Sequence[str]) -> FakeAgent:
        self.output = f"{ANSWER} {READY}\n".encode()
        return self

    async def write(self, data: bytes) -> None:
        (size,) = struct.unpack_from(">I", data)
        if not size:  # the end of a wait, which is answered at once
            return
        self.answers += 1
        self.output += self.answer(json.loads(data[4 : 4 + size]))

    def answer(self, request: dict[str, Any]) -> bytes:
        return frame(request, self.chance)

    async def read(self, size: int) -> bytes:
        part, self.output = self.output[:size], self.output[size:]
        return part

    async def complaint(self) -> str:
        return ""

    async def close(self) -> None:
        self.output = b""


class SoundAgent(FakeAgent):
    """Answers as an honest one of a machine whose trial printed LOG and ended with exit code 1."""

    LOG = b"started\n"

    def answer(self, request: dict[str, Any]) -> bytes:
        answer, raw = sound(request, self.chance)
        if request["operation"] == "observe":
            report = REPORT | {"streams": {"out.log": len(self.LOG)}, "telemetry": None}
            answer = [report for _ in request["directories"]]
        elif request["operation"] == "read":
            parts = [self.part(**item) for item in request["ranges"]]
            raw = b"".join(part or b"" for part in parts)
            sizes = [-1 if part is None else len(part) for part in parts]
            answer = {"sizes": sizes, "reasons": [""] * len(parts)}
        elif request["operation"] in ("hello", "check"):
            answer = answer | {"clock": time.time()} | (FREE if request["operation"] == "check" else {})
        body = json.dumps({"id": request["id"], "raw": len(raw), "answer": answer}).encode()
        return struct.pack(">I", len(body)) + body + raw

    def part(self, path: str, offset: int, limit: int) -> bytes | None:
        contents = {"out.log": self.LOG, "exit.json": json.dumps(EXIT).encode()}
        content = contents.get(path.rpartition("/")[2])
        return None if content is None else content[offset : offset + limit]


class ReadyAgent(SoundAgent):
    """Answers with anything once its machine was found ready."""

    def answer(self, request: dict[str, Any]) -> bytes:
        honest = request["operation"] in ("hello", "check")
        return super().answer(request) if honest else frame(request, self.chance)

"""The agent: answers requests on stdin and stdout until stdin closes.

A frame, request or answer, is four bytes of length (big endian), that much JSON, and as many raw bytes as the JSON's
``raw`` says. An answer has the request's ``id``, and either ``answer`` or ``error``. A length of zero ends a ``wait``.
"""

import json
import os
import select
import struct
import sys
from typing import IO

from .files import Json
from .operations import OPERATIONS, Answer

IDLE_AGENT_SECONDS = 900.0
NO_REQUEST = bytes(4)


def agent() -> None:
    """Answer on what was stdout; anything that prints by mistake goes to stderr."""
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(os.fdopen(0, "rb", buffering=0, closefd=False), sink)


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Answer requests until the client is gone, or has been silent for so long that it must be.

    The source has no buffer, so that ``select`` sees every request.
    """
    while select.select([source], [], [], IDLE_AGENT_SECONDS)[0]:
        size = exactly(source, 4)
        if len(size) < 4:
            return
        if size == NO_REQUEST:
            continue
        if not os.path.exists(sys.argv[0]):  # nobody can start a supervisor: the client uploads the file again
            return
        request = json.loads(exactly(source, struct.unpack(">I", size)[0]).decode("utf-8"))
        answer, raw = answer_to(request, exactly(source, request.get("raw", 0)))
        head = {"id": request.get("id"), "raw": len(raw)}
        body = json.dumps(dict(answer, **head)).encode("ascii")
        sink.write(struct.pack(">I", len(body)) + body + raw)
        sink.flush()


def exactly(source: IO[bytes], size: int) -> bytes:
    """So many bytes; fewer where the source ends."""
    found = bytearray()
    while len(found) < size:
        part = source.read(size - len(found))
        if not part:
            break
        found += part
    return bytes(found)


def answer_to(request: Json, raw: bytes) -> Answer:
    """Run an operation; an error is an answer too: one bad request must not end the agent."""
    try:
        answer, data = OPERATIONS[request["operation"]](request, raw)
        return {"answer": answer}, data
    except OSError as error:
        return {"error": f"{error.filename}: {error.strerror}" if error.filename else str(error)}, b""
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}, b""

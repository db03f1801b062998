"""A statement of dlperf as a code with parameters; its text is made where a person reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Self, Union

Value = Union[str, int, float, "Message", tuple["Message", ...]]
"""A parameter: a number, text that is quoted as it is, another message, or several messages."""

QUOTED = "quoted"
"""Code of a message that is text of somebody else: a program, Slurm, a person."""


@dataclass(frozen=True)
class Message:
    """A cause, finding, check result, verdict or wait reason: what is stored, compared and translated.

    Codes and their English texts are in ``texts.toml``. Only codes are compared, never the text that they give.
    """

    code: str
    parameters: Mapping[str, Value] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        """The English text."""
        from dlperf.messages.language import ENGLISH

        return ENGLISH.render(self)

    def chain(self) -> Iterator[Message]:
        """Yield this message and every message inside it, outermost first."""
        yield self
        for value in self.parameters.values():
            for inner in value if isinstance(value, tuple) else (value,):
                if isinstance(inner, Message):
                    yield from inner.chain()

    def mentions(self, *codes: str) -> bool:
        """Whether this message, or one inside it, has one of these codes."""
        return any(message.code in codes for message in self.chain())

    def text_of(self, name: str) -> str:
        """The parameter's English text, "" where there is none."""
        value = self.parameters.get(name, "")
        return "; ".join(map(str, value)) if isinstance(value, tuple) else str(value)

    def to_json(self) -> dict[str, Any]:
        """The code and its parameters as one flat mapping."""
        return {"code": self.code} | {name: _plain(value) for name, value in self.parameters.items()}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The message that ``to_json`` gave.

        Raises:
            ValueError: ``data`` is no mapping with a code, or nests too deeply.
        """
        return cls._read(data, depth=0)

    @classmethod
    def _read(cls, data: Any, depth: int) -> Self:
        if isinstance(data, cls):
            return data
        if not isinstance(data, dict) or not isinstance(data.get("code"), str):
            raise ValueError("not a message: a mapping with a code is expected")
        if depth > DEEPEST:
            raise ValueError(f"not a message: nested more than {DEEPEST} times")
        parameters = dict(data)
        code = parameters.pop("code")
        for name, value in data.items():
            if type(value) not in _PLAIN:
                parameters[name] = cls._value(value, depth)
        return cls(code, parameters)

    @classmethod
    def _value(cls, value: Any, depth: int) -> Value:
        if isinstance(value, (list, tuple)):
            return tuple(cls._read(item, depth + 1) for item in value)
        if isinstance(value, dict):
            return cls._read(value, depth + 1)
        return value if isinstance(value, (str, int)) or (isinstance(value, float) and isfinite(value)) else str(value)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        serialization = core_schema.plain_serializer_function_ser_schema(lambda message: message.to_json())
        return core_schema.no_info_plain_validator_function(cls.from_json, serialization=serialization)


_PLAIN = (str, int)
"""Types that are read as they are; a journal holds a message on most lines."""
DEEPEST = 16
"""Messages inside each other that are read from a file; a cause has four at most."""


def message(code: str, /, **parameters: Value) -> Message:
    """A message with its parameters."""
    return Message(code, parameters)


def quoted(text: object) -> Message:
    """Text of somebody else as a message: it is shown as it is and never compared or translated."""
    return Message(QUOTED, {"text": str(text)})


def _plain(value: Value) -> Any:
    if isinstance(value, tuple):
        return [inner.to_json() for inner in value]
    return value.to_json() if isinstance(value, Message) else value

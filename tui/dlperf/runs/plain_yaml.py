"""Plain data of a YAML file – mappings, lists, texts, numbers – in a third of the time that PyYAML's loader takes.

A plan of thousands of configurations is read whenever its campaign is looked at. The loader makes a node with two
positions for each of its values; here they are made from the parser's events, and equal texts are understood once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import yaml

Event = Any
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The safe loader, in C where it is there."""


def load_plain(data: bytes) -> Any:
    """What ``yaml.load`` with the safe loader gives for a single document without tags.

    Raises:
        yaml.YAMLError: it is no such document.
    """
    loader = Loader(data)
    try:
        return _Builder(loader).document()
    finally:
        loader.dispose()


class _Builder:
    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._next: Callable[[], Event] = loader.get_event
        self._anchors: dict[str, Any] = {}
        self._scalars: dict[str, Any] = {}
        """Unquoted text → what it means."""

    def document(self) -> Any:
        self._next()  # the stream
        if isinstance(self._next(), yaml.StreamEndEvent):
            return None
        value = self._value(self._next())
        self._next()  # the document's end
        if not isinstance(event := self._next(), yaml.StreamEndEvent):
            raise yaml.YAMLError(f"more than one document {event.start_mark}")
        return value

    def _value(self, event: Event) -> Any:
        kind = type(event)
        if kind is yaml.AliasEvent:
            if event.anchor not in self._anchors:
                raise yaml.YAMLError(f"undefined alias {event.anchor!r} {event.start_mark}")
            return self._anchors[event.anchor]
        if event.tag is not None:
            raise yaml.YAMLError(f"tag {event.tag!r} {event.start_mark}")
        if kind is yaml.ScalarEvent:
            return self._anchored(event, self._plain(event.value) if event.implicit[0] else event.value)
        if kind is yaml.MappingStartEvent:
            return self._mapping(self._anchored(event, {}))
        return self._list(self._anchored(event, []))

    def _anchored(self, event: Event, value: Any) -> Any:
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return value

    def _mapping(self, value: dict[Any, Any]) -> dict[Any, Any]:
        while type(event := self._next()) is not yaml.MappingEndEvent:
            if type(event) is not yaml.ScalarEvent:
                raise yaml.YAMLError(f"a key that is no text or number {event.start_mark}")
            key = self._value(event)
            value[key] = self._value(self._next())
        return value

    def _list(self, value: list[Any]) -> list[Any]:
        while type(event := self._next()) is not yaml.SequenceEndEvent:
            value.append(self._value(event))
        return value

    def _plain(self, text: str) -> Any:
        if text not in self._scalars:
            tag = self._loader.resolve(yaml.ScalarNode, text, (True, False))
            self._scalars[text] = self._loader.construct_object(yaml.ScalarNode(tag, text))
        return self._scalars[text]

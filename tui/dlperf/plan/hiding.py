"""Replace the secrets of a launch by placeholders, and put them back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from dlperf.errors import RequestError
from dlperf.plan.model import Launch, PlannedConfiguration
from dlperf.redaction.redactor import placeholder
from dlperf.redaction.rules import is_secret_name, is_secret_value, looks_random, secrets_in
from dlperf.substitution import SECRET, PlaceholderError, fill


@dataclass
class Hidden:
    """Collects the secrets of launches."""

    values: dict[str, str] = field(default_factory=dict)
    """Placeholder → value."""

    def configuration(self, planned: PlannedConfiguration) -> PlannedConfiguration:
        """Return a configuration without secrets."""
        launch = self.launch(planned.launch)
        facts = {name: self._text(value) for name, value in planned.facts.items()}
        options = {
            name: self._value(name, value, frozenset()) if isinstance(value, str) else value
            for name, value in planned.options.items()
        }
        return replace(planned, launch=launch, facts=facts, options=options)

    def launch(self, launch: Launch) -> Launch:
        """Return a launch without secrets."""
        named = frozenset(map(_plain_name, launch.secret))
        container = launch.container
        queue = launch.queue
        if queue and queue.get("extra"):
            queue = queue | {"extra": self._words(queue["extra"], named)}
        return replace(
            launch,
            interpreter=self._words(launch.interpreter, named),
            command=self._words(launch.command, named),
            launcher_options=self._words(launch.launcher_options, named),
            setup=tuple(self._words(command, named) for command in launch.setup),
            env={name: self._value(name, value, named) for name, value in launch.env.items()},
            container=container and replace(container, options=self._words(container.options, named)),
            queue=queue,
            node_preparation=launch.node_preparation.with_texts(partial(self._text, named=named)),
            program_preparation=launch.program_preparation.with_texts(partial(self._text, named=named)),
            build=tuple(self._text(line, named) for line in launch.build),
        )

    def _words(self, words: Iterable[str], named: frozenset[str]) -> tuple[str, ...]:
        hidden: list[str] = []
        option = ""
        for word in words:
            name, assigned, value = word.partition("=")
            if option:
                word = self._value(option, word, named)
            elif assigned and " " not in (name if word.startswith("-") else word):
                word = f"{name}={self._value(name, value, named)}"
            else:
                word = self._text(word, named)
            option = word if word.startswith("-") and not assigned else ""
            hidden.append(word)
        return tuple(hidden)

    def _value(self, name: str, value: str, named: frozenset[str]) -> str:
        wanted = _plain_name(name) in named
        if value and (wanted or is_secret_value(name, value) or looks_random(value)):
            return self._placeholder(name, value)
        inner, assigned, text = value.partition("=")
        if assigned and " " not in value and (is_secret_name(inner) or _plain_name(inner) in named):  # --env NAME=value
            return f"{inner}={self._value(inner, text, named)}"
        return self._text(value, named)

    def _text(self, text: str, named: frozenset[str] = frozenset()) -> str:
        """Replace what looks like a token or an assignment of a secret within a text, such as a shell command."""
        accept = partial(_is_secret, named)
        for name, value in dict.fromkeys(secrets_in(text.encode("utf-8", "surrogateescape"), accept)):
            text = text.replace(value, self._placeholder(name, value))
        return text

    def _placeholder(self, name: str, value: str) -> str:
        if value in self.values:
            return value
        number = 1
        while self.values.setdefault(mark := placeholder(name.lstrip("-"), number), value) != value:
            number += 1
        return mark


def revealed(launch: Launch, secrets: Mapping[str, str]) -> Launch:
    """Return a launch with its secrets. Raises RequestError: the value of a placeholder is not known."""

    def reveal(text: str) -> str:
        try:
            return fill(text, secrets, SECRET)
        except PlaceholderError as error:
            why = f"secrets.json of the campaign is missing or has no {error.name}"
            raise RequestError(f"{why}: start a new campaign") from error

    launch = replace(
        launch.with_texts(reveal),
        node_preparation=launch.node_preparation.with_texts(reveal),
        program_preparation=launch.program_preparation.with_texts(reveal),
        build=tuple(map(reveal, launch.build)),
    )
    if launch.queue and launch.queue.get("extra"):
        return replace(launch, queue=launch.queue | {"extra": tuple(map(reveal, launch.queue["extra"]))})
    return launch


def _is_secret(named: frozenset[str], name: str, value: str, assigned: bool) -> bool:
    return _plain_name(name) in named or is_secret_value(name, value)


def _plain_name(name: str) -> str:
    return name.lstrip("-").replace("-", "_").lower()

"""POSIX shell scripts in which every value is data."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

_KEYWORDS = frozenset(["case", "do", "done", "elif", "else", "esac", "fi", "for", "if", "in", "then", "until", "while"])


def script(
    comment: str,
    environment: Mapping[str, str],
    folder: str | None,
    setup: Sequence[Sequence[str]],
    command: Sequence[str],
) -> bytes:
    """A script that sets the environment, enters a folder, prepares, and becomes the command."""
    lines = ["#!/bin/sh", *(f"# {line}" for line in comment.splitlines()), "set -eu"]
    lines += [f"export {shlex.quote(name)}={shlex.quote(value)}" for name, value in environment.items()]
    lines += [f"cd {shlex.quote(folder)}"] if folder else []
    lines += [simple_command(words) for words in setup]
    lines.append(f"exec {shlex.join(command)}")
    return ("\n".join(lines) + "\n").encode()


def simple_command(words: Sequence[str]) -> str:
    """Words as one command: the first is never a keyword of the shell, nor an assignment."""
    first, *rest = words
    literal = f"'{first}'" if first in _KEYWORDS or ("=" in first and "'" not in first) else shlex.quote(first)
    return " ".join([literal, *map(shlex.quote, rest)])

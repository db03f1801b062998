"""What OpenSSH's client prints where it does not connect, as an error of dlperf."""

from __future__ import annotations

import re
import shlex

from dlperf.errors import RefusedError, UnreachableError
from dlperf.messages import message

TIMED_OUT = "Connection timed out"

_CHANGED = re.compile(r"HOST IDENTIFICATION HAS CHANGED|REVOKED HOST KEY|[Cc]ertificate")
_UNKNOWN = re.compile(r"^(?:Host key verification failed\.|No \S+ host key is known for )", re.MULTILINE)
_REFUSED = re.compile(r"^\S+: Permission denied \([\w,-]+\)\.|Too many authentication failures", re.MULTILINE)
_NO_NAME = re.compile(r"^ssh: Could not resolve hostname (.*): (.*?)\s*$", re.MULTILINE)
_CLOSED = re.compile(r"^ssh: connect to host (\S+) port (\d+): Connection refused", re.MULTILINE)
_SILENT = re.compile(r"timed out")
_DROPPED = re.compile(r"Connection (?:closed|reset) by|(?:kex|ssh)_exchange_identification")
_EVIDENCE = re.compile(r"^(?:Offending|Certificate|.*(?:revoked|has changed)).*$", re.MULTILINE)
"""The line that names the key, or the file and line of the key that was expected."""
_BEHIND = re.compile(r"^channel \d+: open failed: (.*?)\s*$", re.MULTILINE)
"""A jump host does not reach the machine behind it."""
_USER = re.compile(r"^(\S+)@\S+: Permission denied", re.MULTILINE)
_NAMED = re.compile(r"^No \S+ host key is known for (.+?) and you|^Host key for (.+?) has changed", re.MULTILINE)


def is_refused(complaint: str) -> bool:
    """Whether the server took none of the keys."""
    return bool(_REFUSED.search(complaint)) and not _is_about_host_key(complaint)


def is_dropped(complaint: str) -> bool:
    """Whether a busy server dropped the connection before it asked for anything, so that trying again helps."""
    known = (_NO_NAME, _CLOSED, _SILENT, _REFUSED, _BEHIND)
    return bool(_DROPPED.search(complaint)) and not (
        _is_about_host_key(complaint) or any(kind.search(complaint) for kind in known)
    )


def _is_about_host_key(complaint: str) -> bool:
    return bool(_CHANGED.search(complaint) or _UNKNOWN.search(complaint))


def connection_error(
    complaint: str, server: str, seconds: float, jump: str = "", locked_key: str = ""
) -> UnreachableError:
    """Return the error of a connection that failed; RefusedError if trying again cannot help.

    Args:
        complaint: what ssh printed, also for the jump hosts, whose complaints come first.
        server: names the server.
        seconds: how long it was waited for.
        jump: its jump hosts, whose ssh asks about an unknown key and does not name the server again.
        locked_key: the file of a key with a passphrase that could not be asked for.
    """
    if _is_about_host_key(complaint):
        named = _NAMED.search(complaint)
        server = next(filter(None, named.groups())) if named else jump or server
        if _CHANGED.search(complaint):
            evidence = "; ".join(dict.fromkeys(_EVIDENCE.findall(complaint)))
            return RefusedError(message("host_key_changed", server=server, reason=one_line(evidence or complaint)))
        return RefusedError(message("host_key_unknown", server=server))
    if _REFUSED.search(complaint):
        if locked_key:
            return RefusedError(message("key_locked", server=server, key=shlex.quote(locked_key)))
        user = _USER.search(complaint)
        return RefusedError(message("key_refused", server=server, user=repr(user[1]) if user else ""))
    if found := _NO_NAME.search(complaint):
        return UnreachableError(message("no_name", host=repr(found[1]), reason=found[2]))
    if found := _CLOSED.search(complaint):
        return UnreachableError(message("nothing_listens", server=f"{found[1]} port {found[2]}"))
    if found := _BEHIND.search(complaint):
        return UnreachableError(message("not_reached", server=server, reason=one_line(found[1])))
    if _SILENT.search(complaint):
        return UnreachableError(message("no_answer", server=server, seconds=seconds))
    code = "dropped" if is_dropped(complaint) else "not_reached"
    return UnreachableError(message(code, server=server, reason=one_line(complaint) or "ssh ended without a word"))


def one_line(text: str) -> str:
    """The text without line breaks and control characters, cut to a readable length."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())[:500]

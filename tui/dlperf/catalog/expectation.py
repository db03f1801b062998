"""What a case expects of a valid trial: ``final_loss < 7.5``, ``log has ^finished``, ``log lacks loss=nan``."""

from __future__ import annotations

_NUMBER = r"-?[0-9]{1,15}(\.[0-9]{1,15})?(e[+-]?[0-9]{1,2})?"
EXPECTATION = rf"^([a-z][a-z0-9_]{{0,30}} (<|<=|>|>=) {_NUMBER}|log (has|lacks) \S.*)$"


def expected_line(expectation: str) -> str | None:
    """Return the regular expression of a line that the log has or lacks; None where a metric is expected."""
    subject, relation, rest = expectation.split(" ", 2)
    return rest if subject == "log" and relation in ("has", "lacks") else None

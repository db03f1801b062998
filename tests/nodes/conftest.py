"""Machines to reach."""

from sshd import sshd

__all__ = ["sshd"]

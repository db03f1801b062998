"""A campaign over many nodes while connections, servers, engines and supervisors are killed by a seed."""

from __future__ import annotations

import pytest

import sshd
from after_faults import examine
from faults import Chaos, schedule
from many_nodes import many_nodes


def test_the_same_seed_repeats_the_same_faults():
    assert schedule(7, 16, 20.0, 0.5) == schedule(7, 16, 20.0, 0.5) != schedule(8, 16, 20.0, 0.5)


@pytest.mark.skipif(not sshd.PROGRAM, reason="no OpenSSH server on this machine (Debian: openssh-server)")
def test_nothing_is_started_twice_and_nothing_is_lost_while_everything_is_killed(tmp_path):
    here = many_nodes(tmp_path, 8, steps=6, seconds=0.5)
    try:
        chaos = Chaos(here, schedule(39, 8, 15.0, 0.3))
        chaos.run(repeats=6, patience=600.0)
        found = examine(here, chaos.damage)
    finally:
        here.stop()
    assert found.good, found
    assert chaos.engines_ended() == []
    assert chaos.done["connection"] > 0
    assert chaos.done["engine"] > 0
    assert found.succeeded >= 24


@pytest.mark.skipif(not sshd.PROGRAM, reason="no OpenSSH server on this machine (Debian: openssh-server)")
def test_what_is_cancelled_after_the_kills_is_ended_on_its_nodes_and_archived(tmp_path):
    here = many_nodes(tmp_path, 4, steps=6, seconds=0.5)
    try:
        chaos = Chaos(here, schedule(18, 4, 6.0, 0.3))
        chaos.run(repeats=50, patience=600.0, seconds=6.0)
        found = examine(here, chaos.damage)
    finally:
        here.stop()
    assert found.good, found
    assert sum(chaos.done.values()) > 0
    assert found.succeeded + found.lost + found.cancelled == found.trials
    assert found.cancelled > 0

"""The endpoint, held to the contract of today, and its checks proved on it."""

import acme_contract
import pytest

from contracts import gym_overflow


@pytest.fixture(scope="session")
def adapter():
    with acme_contract.adapter() as live:
        yield live


@gym_overflow.endpoint.parametrize()
def test_overflow(adapter, check):
    check.verify(adapter)


@gym_overflow.endpoint.parametrize_mutants()
def test_checks_would_fail(adapter, mutant):
    mutant.verify_killed(adapter)

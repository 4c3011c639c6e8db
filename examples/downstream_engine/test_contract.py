"""The engine, held to the contract of the head as it was at version 1.0, and its checks proved on it."""

import acme_contract
import pytest

from contracts import numerics


@pytest.fixture
def adapter():
    return acme_contract.adapter()


@numerics.head.parametrize(version="1.0")
def test_head(adapter, check):
    check.verify(adapter)


@numerics.head.parametrize_mutants(version="1.0")
def test_checks_would_fail(adapter, mutant):
    mutant.verify_killed(adapter)

"""The logger, held to the contract as it was at version 1.0."""

import acme_contract
import pytest

from contracts import metrics_wire


@pytest.fixture(scope="session")
def adapter():
    made = acme_contract.adapter()
    yield made
    made.close()


@metrics_wire.logger.parametrize(version="1.0")
def test_logger(adapter, check):
    check.verify(adapter)

"""The middleware inside an application that splices token ids into its prompts, on a real vLLM engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contracts import KnownFailure, gym_overflow

if TYPE_CHECKING:
    from contracts.gym_overflow.started import Started

pytestmark = pytest.mark.engine("vllm")

KNOWN = {"GO-401": KnownFailure("As for vllm serve with the middleware: vLLM's own document.", issue="docs/vllm.md")}


@pytest.fixture
def adapter(vllm_application: Started) -> Started:
    return vllm_application


@gym_overflow.endpoint.parametrize(known_failures=KNOWN)
def test_an_application_with_the_middleware_meets_the_contract(adapter: Started, check: Any) -> None:
    check.verify(adapter)

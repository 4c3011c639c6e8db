"""A real vLLM server as it is, held to the endpoint contract; what it fails stands in ``known_failures/vllm.toml``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contracts import gym_overflow
from contracts.known import known_failures_of

if TYPE_CHECKING:
    from contracts.gym_overflow.started import Started

KNOWN = known_failures_of(Path(__file__).parent / "known_failures" / "vllm.toml")


@pytest.fixture
def adapter(vllm_plain: Started) -> Started:
    return vllm_plain


@pytest.mark.engine("vllm")
@gym_overflow.endpoint.parametrize(known_failures=KNOWN)
def test_plain_vllm_fails_only_what_is_known(adapter: Started, check: Any) -> None:
    check.verify(adapter)


def test_the_document_says_what_plain_vllm_fails() -> None:
    document = (Path(__file__).parents[2] / "docs" / "vllm.md").read_text(encoding="utf-8")
    table = document.partition("## What plain vLLM gets wrong")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| (GO-\d+) ", table, re.MULTILINE)) == set(KNOWN)

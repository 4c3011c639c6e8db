"""Rewording takes the trigger words out of an error and leaves everything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.gym_overflow.rephrase import as_error_object, rephrase


@given(st.binary(), st.sampled_from([b"max_tokens", b"context length", b"Context LENGTH", b"MAX_tokens"]), st.binary())
def test_rephrasing_keeps_every_other_byte(before: bytes, word: bytes, after: bytes) -> None:
    whole = before + word + after
    written = rephrase(whole)
    assert len(written) == len(whole) or b"u00" in whole
    assert b"max_tokens" not in written.lower()
    assert b"context length" not in written.lower()
    assert rephrase(written) == written
    if before.isascii() and not set(before + after) & set(b"_ \\"):
        assert written == before + word.replace(b"_", b"-").replace(b" ", b"-") + after


@pytest.mark.parametrize(
    "body",
    [b"", b"plain", b"[1]", b'{"detail": [{"loc": ["body"]}]}', b'{"error": "x"}', b'{"detail": "x", "more": 1}'],
)
def test_only_a_frameworks_own_error_is_given_another_shape(body: bytes) -> None:
    assert as_error_object(body, 400) == body

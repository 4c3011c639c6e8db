"""The fp32 head as a change of NemotronH's source, for a vLLM that offers no better place."""

from __future__ import annotations

ANCHOR = "logits = self.logits_processor(self.lm_head, hidden_states"
"""What ``compute_logits`` does in every vLLM of this kind, up to where their arguments part."""


class SourcePatchError(RuntimeError):
    """A vLLM's source cannot be patched, or is not."""


def require_patched() -> None:
    """Raise unless the installed vLLM's source is patched."""
    raise SourcePatchError("not patched")


def is_patchable(text: str) -> bool:
    """Whether a file has the anchor exactly once."""
    return text.count(ANCHOR) == 1

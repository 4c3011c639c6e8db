"""An fp32 copy of a rollout engine's LM head that no weight update can leave behind.

A copy made on first use holds whatever the engine started on, often dummy weights, and nothing in torch
tells that the live weight moved: loads copy through ``.data``, so neither the version counter nor the
address nor the Parameter object changes. What this copy does instead: it is marked dirty in the leaf of
weight loading and at both ends of an update (a forward between two batches may consume the first mark),
and where even that is not trusted it compares its content before each use.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from impl.numerics.head_owner import HeadNotFoundError, resolve_lm_head_owner
from impl.numerics.matmul_precision import fp32_matmul_precision
from impl.numerics.quantized import refuse_quantized_layer

_ATTRIBUTE = "_fp32_lm_head"
_ROWS = 4096


class StaleHeadError(RuntimeError):
    """The fp32 copy cannot be brought to equal the live head."""


class DetachedHeadError(RuntimeError):
    """A gradient was asked for through the fp32 copy, which would never reach the head."""


class CachedHead:
    """The fp32 copy of one ``lm_head``, in one storage from its first build to its end.

    Attributes:
        dirty: the live weight may have changed since the copy was last refreshed.
        refreshes: how often the copy was built or refreshed.
    """

    def __init__(self, lm_head: nn.Module, *, compare_content: bool = False) -> None:
        """Watch a head without copying it yet.

        Args:
            lm_head: the live head; its weight is ``[vocab, hidden]``, this rank's shard of it.
            compare_content: compare the copy with the live weight before every use. Costs a pass over
                both; for engines where some writer reaches the weight without loading it.

        Raises:
            QuantizedHeadError: the head's weight is not plain bf16, fp16 or fp32.
        """
        refuse_quantized_layer(lm_head, "lm_head")
        self.lm_head = lm_head
        self.compare_content = compare_content
        self.dirty = True
        self.refreshes = 0
        self._copy: torch.Tensor | None = None
        self._source: torch.Tensor | None = None

    @property
    def live(self) -> torch.Tensor:
        """The weight that loading writes to."""
        weight: torch.Tensor = self.lm_head.weight  # type: ignore[assignment]  # nn.Module declares Tensor | Module
        return weight

    @property
    def storage_address(self) -> int | None:
        """Where a captured CUDA graph would read the copy; None before it is built."""
        return None if self._copy is None else self._copy.data_ptr()

    @property
    def bytes_held(self) -> int:
        """Size of the copy."""
        return 0 if self._copy is None else self._copy.nbytes

    def follow(self, lm_head: nn.Module) -> None:
        """Watch another head in the old one's place; the copy keeps its storage, which graphs may hold.

        Raises:
            QuantizedHeadError: as for the constructor.
        """
        refuse_quantized_layer(lm_head, "lm_head")
        self.lm_head = lm_head
        self.dirty = True

    def invalidate(self) -> None:
        """Mark the copy as possibly stale. Called by everything that writes weights, before and after."""
        self.dirty = True

    # A warm-up builds the copy under inference mode, and a refit outside of it could not write to such a tensor.
    @torch.inference_mode(mode=False)
    @torch.no_grad()
    def refresh(self) -> float | None:
        """Build the copy, or bring the one there up to date in place, and verify it.

        Returns:
            The largest change of a weight; None where the copy was built just now.

        Raises:
            StaleHeadError: under CUDA-graph capture (the storage would live in the graph's own pool, or
                the copying be recorded instead of done), the head's shape or device changed, or the copy
                does not equal the live head afterwards.
        """
        if is_capturing():
            raise StaleHeadError(
                "the fp32 head cannot be built or refreshed while a CUDA graph is captured: refresh it before"
            )
        drift = None
        if self._copy is None:
            self._copy = self.live.detach().to(torch.float32, copy=True)
        else:
            self._refuse_other_storage(self._copy)
            drift = self._drift(self._copy)
            self._copy.copy_(self.live)
        self._source = self.live
        self.refreshes += 1
        self.verify()
        self.dirty = False
        return drift

    @torch.no_grad()
    def verify(self) -> None:
        """Compare the copy with the live head, bit for bit.

        Raises:
            StaleHeadError: they differ, or there is no copy.
        """
        if self._copy is None:
            raise StaleHeadError("the fp32 head was never built: call refresh() after the weights are loaded")
        self._refuse_other_storage(self._copy)
        wrong = self._differing_rows(self._copy)
        if wrong:
            raise StaleHeadError(
                f"{wrong} of {len(self._copy)} vocabulary rows of the fp32 head differ from the live lm_head"
            )

    def weight(self) -> torch.Tensor:
        """Return fp32 weights ``[vocab, hidden]`` that equal the live head's.

        Under CUDA-graph capture, a copy that is missing or dirty is left alone and the live weight is
        upcast inside the graph, which is right at every replay.

        Raises:
            StaleHeadError: as `refresh`.
        """
        # A parameter assigned anew is another object; one that was loaded into is not.
        stale = self.dirty or self._copy is None or self._source is not self.live
        if is_capturing():
            return self.live.float() if stale or self._copy is None else self._copy
        if stale or self._copy is None or (self.compare_content and self._differing_rows(self._copy)):
            self.refresh()
        if self._copy is None:  # refresh() builds it or raises
            raise StaleHeadError("the fp32 head was not built")
        return self._copy

    def logits(self, hidden: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """Compute fp32 logits ``[..., vocab]`` of hidden states ``[..., hidden]``, for inference.

        Raises:
            DetachedHeadError: the hidden states ask for gradients, which would not reach the head.
            StaleHeadError: as `refresh`.
        """
        if torch.is_grad_enabled() and hidden.requires_grad:
            raise DetachedHeadError(
                "the cached fp32 head is a copy, and no gradient through it reaches lm_head: train with "
                "fp32_linear(), or run under torch.no_grad()"
            )
        # In full fp32 whatever the process allows: an fp32 residual connection feeds values that TF32 would round.
        with torch.autocast(hidden.device.type, enabled=False), fp32_matmul_precision(tf32=False):
            return functional.linear(hidden.float(), self.weight(), None if bias is None else bias.float())

    def _refuse_other_storage(self, copy: torch.Tensor) -> None:
        """Raise where refreshing in place is impossible."""
        if copy.shape != self.live.shape or copy.device != self.live.device:
            raise StaleHeadError(
                f"the live lm_head is {tuple(self.live.shape)} on {self.live.device}, its fp32 copy "
                f"{tuple(copy.shape)} on {copy.device}: the copy keeps its storage for captured graphs, so "
                f"it cannot follow; restart the engine"
            )

    def _differing_rows(self, copy: torch.Tensor) -> int:
        """How many rows differ in their bits; in blocks, so that no third copy of the head appears."""
        count = 0
        for start in range(0, len(copy), _ROWS):
            mine = copy[start : start + _ROWS].view(torch.int32)
            # Bits, not values: NaN equals itself here, and a head full of NaN is not stale.
            theirs = self.live[start : start + _ROWS].detach().float().view(torch.int32)
            count += int((mine != theirs).any(dim=-1).sum())
        return count

    def _drift(self, copy: torch.Tensor) -> float:
        """The largest absolute difference to the live head."""
        blocks = range(0, len(copy), _ROWS)
        return max(float((copy[i : i + _ROWS] - self.live[i : i + _ROWS]).abs().max()) for i in blocks)


def is_capturing() -> bool:
    """Whether the current CUDA stream is being captured into a graph."""
    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()


def attach_cached_head(model: nn.Module, *, compare_content: bool = False) -> CachedHead:
    """Give the owner of a model's ``lm_head`` its cached fp32 head; once, whatever the number of calls.

    The object is attached beside torch's own bookkeeping: it enters neither ``named_parameters()`` nor
    the state dict, from which refit mappings are built. Nothing is copied yet.

    Args:
        model: the policy, wrapped or not.
        compare_content: see `CachedHead`.

    Raises:
        HeadNotFoundError: the model has no head, or several.
        QuantizedHeadError: the head is quantized.
    """
    owner = resolve_lm_head_owner(model)
    lm_head = owner.get_submodule("lm_head")
    if owner.__dict__.get(_ATTRIBUTE) is None:
        object.__setattr__(owner, _ATTRIBUTE, CachedHead(lm_head, compare_content=compare_content))
    return cached_head_of(owner)


def cached_head_of(owner: nn.Module) -> CachedHead:
    """Return the cached head attached to this very module; what a patched ``compute_logits`` calls.

    It follows the ``lm_head`` that the module has now, should another one have been assigned.

    Raises:
        HeadNotFoundError: none is attached here.
        QuantizedHeadError: the head assigned since is quantized.
    """
    cached: CachedHead | None = owner.__dict__.get(_ATTRIBUTE)
    if cached is None:
        raise HeadNotFoundError(
            f"no fp32 head is attached to {type(owner).__name__}: call attach_cached_head() on the model"
        )
    lm_head = owner.get_submodule("lm_head")
    if cached.lm_head is not lm_head:
        cached.follow(lm_head)
    return cached

"""What happens to the model under a cached head: heads and parameters assigned, copied, shared, differentiated."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from impl.numerics.cached_head import DetachedHeadError, attach_cached_head, cached_head_of
from impl.numerics.refit_hooks import WorkerHeads, reads_cached_head

if TYPE_CHECKING:
    from collections.abc import Iterable

HIDDEN, VOCAB = 16, 64


class Policy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lm_head = nn.Linear(HIDDEN, VOCAB, bias=False, dtype=torch.bfloat16)

    @reads_cached_head
    def compute_logits(self, hidden: torch.Tensor) -> Any:
        return cached_head_of(self).logits(hidden)

    def load_weights(self, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        for name, tensor in weights:
            self.get_parameter(name).data.copy_(tensor)


def new_head(seed: int = 7) -> torch.Tensor:
    return torch.randn(VOCAB, HIDDEN, generator=torch.Generator().manual_seed(seed)).bfloat16()


@pytest.fixture
def policy() -> Policy:
    return Policy()


def test_a_head_assigned_after_the_start_is_followed_by_forward_and_update(policy: Policy) -> None:
    heads = WorkerHeads(policy)
    heads.refresh()
    hidden = torch.randn(2, HIDDEN).bfloat16()
    policy.lm_head = nn.Linear(HIDDEN, VOCAB, bias=False, dtype=torch.bfloat16)
    policy.compute_logits(hidden)
    assert torch.equal(heads.cached[0].weight(), policy.lm_head.weight.float())
    policy.lm_head = nn.Linear(HIDDEN, VOCAB, bias=False, dtype=torch.bfloat16)
    with heads.update():
        pass
    assert torch.equal(heads.cached[0].weight(), policy.lm_head.weight.float())


def test_a_parameter_assigned_anew_is_followed_unasked(policy: Policy) -> None:
    cached = attach_cached_head(policy)
    address = cached.weight().data_ptr()
    policy.lm_head.weight = nn.Parameter(new_head())
    assert torch.equal(cached.weight(), new_head().float())
    assert cached.weight().data_ptr() == address


def test_a_copy_built_in_inference_mode_is_refreshed_outside_of_it(policy: Policy) -> None:
    """As a worker does: warm-up under inference mode, loading through a call of its own."""
    heads = WorkerHeads(policy)
    with torch.inference_mode():
        policy.compute_logits(torch.randn(1, HIDDEN))
    with heads.update():
        policy.load_weights([("lm_head.weight", new_head())])
    assert torch.equal(heads.cached[0].weight(), new_head().float())


def test_no_gradient_is_asked_for_through_a_copy(policy: Policy) -> None:
    attach_cached_head(policy)
    hidden = torch.randn(1, HIDDEN, requires_grad=True)
    with pytest.raises(DetachedHeadError, match="no gradient through it reaches lm_head"):
        policy.compute_logits(hidden)
    with torch.no_grad():
        policy.compute_logits(hidden)


def test_a_copied_model_loads_and_reads_its_own_head(policy: Policy) -> None:
    WorkerHeads(policy).refresh()
    twin = copy.deepcopy(policy)
    twin.load_weights([("lm_head.weight", new_head())])
    assert torch.equal(cached_head_of(twin).weight(), new_head().float())
    assert torch.equal(cached_head_of(policy).weight(), policy.lm_head.weight.float())
    assert not torch.equal(policy.lm_head.weight, twin.lm_head.weight)


def test_a_drafter_that_shares_the_policys_head_follows_loads_of_either(policy: Policy) -> None:
    drafter = Policy()
    drafter.lm_head = policy.lm_head
    WorkerHeads(policy, drafter).refresh()
    for loaded, seed in ((policy, 1), (drafter, 2)):
        loaded.load_weights([("lm_head.weight", new_head(seed))])
        for model in (policy, drafter):
            assert torch.equal(cached_head_of(model).weight(), new_head(seed).float())

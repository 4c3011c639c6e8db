from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from impl.numerics import cached_head
from impl.numerics.cached_head import CachedHead, StaleHeadError, attach_cached_head, cached_head_of
from impl.numerics.head_owner import HeadNotFoundError, QuantizedHeadError
from impl.numerics.refit_hooks import WorkerHeads, reads_cached_head

if TYPE_CHECKING:
    from collections.abc import Iterable

HIDDEN, VOCAB = 16, 5000  # more rows than one block of the comparison


class Policy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB, HIDDEN, dtype=torch.bfloat16)
        self.lm_head = nn.Linear(HIDDEN, VOCAB, bias=False, dtype=torch.bfloat16)

    @reads_cached_head
    def compute_logits(self, hidden: torch.Tensor) -> Any:
        return cached_head_of(self).logits(hidden)

    def load_weights(self, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        for name, tensor in weights:
            # As engines do: through .data, which moves neither version counter nor address.
            self.get_parameter(name).data.copy_(tensor)


class GraphWrapper(nn.Module):
    """Delegates reads, keeps writes: a CUDA-graph wrapper."""

    def __init__(self, runnable: nn.Module) -> None:
        super().__init__()
        self.__dict__["runnable"] = runnable

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["runnable"], name)

    def unwrap(self) -> Any:
        return self.runnable


class VisionLanguage(nn.Module):
    def __init__(self, name: str = "language_model") -> None:
        super().__init__()
        self.vision = nn.Linear(2, 2)
        setattr(self, name, Policy())

    def load_weights(self, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        self.language_model.load_weights((name.removeprefix("language_model."), t) for name, t in weights)


@pytest.fixture
def policy() -> Any:
    torch.manual_seed(0)
    return Policy()


def new_head(seed: int = 1) -> Any:
    return torch.randn(VOCAB, HIDDEN, generator=torch.Generator().manual_seed(seed)).bfloat16()


def test_logits_equal_a_per_call_upcast(policy: Policy) -> None:
    hidden = torch.randn(3, HIDDEN).bfloat16()
    cached = attach_cached_head(policy)
    assert torch.equal(cached.logits(hidden), hidden.float() @ policy.lm_head.weight.float().t())


def test_the_copy_is_invisible_to_parameters_and_state_dict(policy: Policy) -> None:
    names, keys = [name for name, _ in policy.named_parameters()], list(policy.state_dict())
    modules = [name for name, _ in policy.named_modules()]
    attach_cached_head(policy).refresh()
    assert [name for name, _ in policy.named_parameters()] == names
    assert list(policy.state_dict()) == keys
    assert [name for name, _ in policy.named_modules()] == modules
    assert not list(policy.named_buffers())


def test_attaching_twice_is_attaching_once(policy: Policy) -> None:
    assert attach_cached_head(policy) is attach_cached_head(GraphWrapper(policy))


def test_a_quantized_head_is_refused(policy: Policy) -> None:
    policy.lm_head.weight = nn.Parameter(torch.zeros(VOCAB, HIDDEN, dtype=torch.int8), requires_grad=False)
    with pytest.raises(QuantizedHeadError):
        attach_cached_head(policy)


def test_reading_without_attaching_is_an_error(policy: Policy) -> None:
    with pytest.raises(HeadNotFoundError, match="attach_cached_head"):
        policy.compute_logits(torch.randn(1, HIDDEN))


def test_a_refresh_keeps_the_storage_and_reports_the_change(policy: Policy) -> None:
    cached = attach_cached_head(policy)
    assert cached.storage_address is None
    assert cached.bytes_held == 0
    assert cached.refresh() is None
    address = cached.storage_address
    assert cached.bytes_held == VOCAB * HIDDEN * 4
    policy.lm_head.weight.data[0, 0] += 2.0
    cached.invalidate()
    assert cached.refresh() == pytest.approx(2.0, rel=2**-7)
    assert cached.storage_address == address


def test_torch_does_not_tell_that_a_load_happened(policy: Policy) -> None:
    """Why a version counter or an address would not do."""
    weight = policy.lm_head.weight
    before = weight._version, weight.data_ptr(), id(weight)  # noqa: SLF001 - what it does not tell is the point
    policy.load_weights([("lm_head.weight", new_head())])
    assert (weight._version, weight.data_ptr(), id(weight)) == before  # noqa: SLF001 - as above


def test_verify_sees_one_changed_bit(policy: Policy) -> None:
    cached = attach_cached_head(policy)
    cached.refresh()
    cached.verify()
    bits = policy.lm_head.weight.data.view(torch.int16)
    bits[VOCAB - 1, 3] ^= 1
    with pytest.raises(StaleHeadError, match="1 of 5000"):
        cached.verify()


def test_a_head_of_nan_is_not_called_stale(policy: Policy) -> None:
    policy.lm_head.weight.data.fill_(float("nan"))
    attach_cached_head(policy).refresh()


def test_a_head_that_changed_shape_is_an_error(policy: Policy) -> None:
    cached = attach_cached_head(policy)
    cached.refresh()
    policy.lm_head.weight = nn.Parameter(torch.zeros(VOCAB + 1, HIDDEN, dtype=torch.bfloat16))
    cached.invalidate()
    with pytest.raises(StaleHeadError, match="restart the engine"):
        cached.weight()


def test_a_replaced_head_is_followed_in_the_old_storage(policy: Policy) -> None:
    cached = attach_cached_head(policy)
    address = cached.weight().data_ptr()
    policy.lm_head = nn.Linear(HIDDEN, VOCAB, bias=False, dtype=torch.bfloat16)
    assert attach_cached_head(policy) is cached
    assert cached.weight().data_ptr() == address
    assert torch.equal(cached.weight(), policy.lm_head.weight.float())


def test_an_unbuilt_copy_does_not_verify(policy: Policy) -> None:
    with pytest.raises(StaleHeadError, match="never built"):
        attach_cached_head(policy).verify()


def test_nothing_is_built_under_capture(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    cached = attach_cached_head(policy)
    monkeypatch.setattr(cached_head, "is_capturing", lambda: True)
    live = cached.weight()
    assert torch.equal(live, policy.lm_head.weight.float())
    assert cached.storage_address is None
    assert cached.dirty
    with pytest.raises(StaleHeadError, match="captured"):
        cached.refresh()


def test_a_dirty_copy_is_not_captured(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    cached = attach_cached_head(policy)
    address = cached.weight().data_ptr()
    monkeypatch.setattr(cached_head, "is_capturing", lambda: True)
    assert cached.weight().data_ptr() == address
    policy.lm_head.weight.data.copy_(new_head())
    cached.invalidate()
    assert torch.equal(cached.weight(), new_head().float())
    assert cached.dirty


def test_loading_through_the_leaf_alone_reaches_the_copy(policy: Policy) -> None:
    heads = WorkerHeads(policy)
    policy.compute_logits(torch.randn(1, HIDDEN))
    policy.load_weights([("lm_head.weight", new_head())])
    assert torch.equal(heads.cached[0].weight(), new_head().float())


def test_a_nested_model_loads_through_its_top() -> None:
    model = VisionLanguage()
    heads = WorkerHeads(GraphWrapper(model))
    heads.refresh()
    GraphWrapper(model).load_weights([("language_model.lm_head.weight", new_head())])
    assert torch.equal(heads.cached[0].weight(), new_head().float())


def test_a_forward_between_two_batches_does_not_eat_the_mark(policy: Policy) -> None:
    heads = WorkerHeads(policy)
    with heads.update():
        policy.load_weights([("embed.weight", torch.zeros(VOCAB, HIDDEN))])
        policy.compute_logits(torch.randn(1, HIDDEN))
        policy.lm_head.weight.data.copy_(new_head())  # a direct writer, past load_weights
    assert torch.equal(heads.cached[0].weight(), new_head().float())
    heads.cached[0].verify()


def test_an_update_refreshes_before_the_next_forward(policy: Policy) -> None:
    """A replayed graph runs no Python, so nothing may be left to the next call."""
    heads = WorkerHeads(policy)
    address = heads.cached[0].weight().data_ptr()
    with heads.update():
        policy.load_weights([("lm_head.weight", new_head())])
    assert not heads.cached[0].dirty
    assert heads.cached[0].storage_address == address


def test_a_failed_update_leaves_the_copy_marked(policy: Policy) -> None:
    heads = WorkerHeads(policy)
    heads.refresh()

    def half() -> Any:
        yield "lm_head.weight", new_head()
        raise ConnectionError("sender died")

    with pytest.raises(ConnectionError), heads.update():
        policy.load_weights(half())
    assert heads.cached[0].dirty
    assert torch.equal(heads.cached[0].weight(), policy.lm_head.weight.float())


def test_a_direct_writer_is_seen_by_content(policy: Policy) -> None:
    blind, seeing = CachedHead(policy.lm_head), CachedHead(policy.lm_head, compare_content=True)
    old = blind.weight().clone()
    seeing.weight()
    policy.lm_head.weight.data[7] *= 1.01
    assert torch.equal(blind.weight(), old)
    assert torch.equal(seeing.weight(), policy.lm_head.weight.float())
    blind.invalidate()
    assert torch.equal(blind.weight(), policy.lm_head.weight.float())


def test_watching_twice_wraps_once(policy: Policy) -> None:
    WorkerHeads(policy)
    first = policy.load_weights
    WorkerHeads(policy)
    assert policy.load_weights is first


class OtherDrafter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lm_head = nn.Linear(HIDDEN, VOCAB, bias=False)

    def compute_logits(self, hidden: torch.Tensor) -> Any:
        return self.lm_head(hidden)


def test_a_drafter_that_reads_no_copy_gets_none(policy: Policy) -> None:
    drafter = OtherDrafter()
    assert len(WorkerHeads(policy, drafter).cached) == 1
    assert "_fp32_lm_head" not in drafter.__dict__


def test_a_drafter_that_reads_one_gets_its_own(policy: Policy) -> None:
    drafter = Policy()
    heads = WorkerHeads(policy, drafter)
    heads.refresh()
    assert torch.equal(heads.cached[1].weight(), drafter.lm_head.weight.float())
    drafter.load_weights([("lm_head.weight", new_head(9))])
    assert torch.equal(cached_head_of(drafter).weight(), new_head(9).float())
    assert not torch.equal(cached_head_of(policy).weight(), new_head(9).float())


def test_a_drafter_without_a_head_is_tolerated(policy: Policy) -> None:
    assert len(WorkerHeads(policy, nn.Linear(2, 2)).cached) == 1


def test_only_the_first_refresh_is_logged_loudly(policy: Policy, caplog: pytest.LogCaptureFixture) -> None:
    heads = WorkerHeads(policy)
    with caplog.at_level(logging.DEBUG, logger="impl.numerics.refit_hooks"):
        for _ in range(3):
            with heads.update():
                policy.load_weights([("lm_head.weight", new_head())])
    assert [record.levelno for record in caplog.records] == [logging.INFO, logging.DEBUG, logging.DEBUG]

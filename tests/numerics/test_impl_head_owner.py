"""Which module owns the rollout's head. The trainer's nestings are in test_impl_megatron_head.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from impl.numerics.cached_head import attach_cached_head
from impl.numerics.head_owner import HeadNotFoundError, resolve_lm_head_owner
from impl.numerics.refit_hooks import WorkerHeads

if TYPE_CHECKING:
    from collections.abc import Callable


class Language(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lm_head = nn.Linear(4, 8, bias=False, dtype=torch.bfloat16)


class Holder(nn.Module):
    """Keeps a language model under a name, beside something else."""

    def __init__(self, name: str, inner: nn.Module) -> None:
        super().__init__()
        self.vision = nn.Linear(2, 2)
        setattr(self, name, inner)


class GraphWrapper(nn.Module):
    """Delegates reads, keeps writes: a CUDA-graph wrapper."""

    def __init__(self, runnable: nn.Module) -> None:
        super().__init__()
        self.__dict__["runnable"] = runnable

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["runnable"], name)

    def unwrap(self) -> Any:
        return self.runnable


@pytest.mark.parametrize(
    "wrap", [lambda m: m, GraphWrapper, lambda m: GraphWrapper(GraphWrapper(m))], ids=["plain", "graph", "twice"]
)
def test_the_owner_is_behind_wrappers(wrap: Callable[[nn.Module], nn.Module]) -> None:
    model = Language()
    assert resolve_lm_head_owner(wrap(model)) is model


def test_what_is_attached_lands_on_the_model_and_not_on_the_wrapper() -> None:
    model = Language()
    wrapper = GraphWrapper(model)
    cached = attach_cached_head(wrapper)
    assert cached in model.__dict__.values()
    assert cached not in wrapper.__dict__.values()


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_owner_is_in_nested_language_models_wrapped_or_not(depth: int) -> None:
    owner = model = Language()
    for _ in range(depth):
        model = GraphWrapper(Holder("language_model", GraphWrapper(model)))
    assert resolve_lm_head_owner(model) is owner


def test_the_owner_is_found_among_named_modules() -> None:
    model = Holder("text_tower", Language())
    assert resolve_lm_head_owner(model) is model.text_tower


def test_no_head_names_the_class_and_where_it_looked() -> None:
    with pytest.raises(
        HeadNotFoundError, match=r"Embedding must have one lm_head.*unwrap.*language_model.*named modules"
    ):
        WorkerHeads(nn.Embedding(3, 2))


def test_a_pipeline_placeholder_is_no_head() -> None:
    model = Language()
    model.lm_head = nn.Identity()
    with pytest.raises(HeadNotFoundError):
        attach_cached_head(model)


def test_two_unrelated_heads_are_ambiguous() -> None:
    with pytest.raises(HeadNotFoundError, match="several: first, second"):
        attach_cached_head(nn.ModuleDict({"first": Language(), "second": Language()}))


def test_one_head_under_two_owners_is_one_head() -> None:
    first, second = Language(), Language()
    second.lm_head = first.lm_head
    assert resolve_lm_head_owner(nn.ModuleDict({"first": first, "second": second})) is first

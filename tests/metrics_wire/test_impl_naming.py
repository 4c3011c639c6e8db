from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.metrics_wire.naming import Channel, ValidationSets, channel, series_names, timing_qualifier


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("train", Channel("train")),
        ("validation", Channel("val")),
        ("validation-held_out", Channel("val", "held_out")),
        ("timing/train", Channel("train", timing=True)),
        ("timing/validation", Channel("val", timing=True)),
        ("timing/validation-a/b", Channel("val", "a/b", timing=True)),
        ("timing/setup", None),
        ("timing", None),
        ("performance", None),
        ("refit", None),
        ("ray", None),
        ("", None),
        ("training", None),
    ],
)
def test_prefixes(prefix: str, expected: Channel | None) -> None:
    assert channel(prefix) == expected


def test_a_name_that_carries_its_phase_is_not_prefixed_again() -> None:
    assert series_names(("val_loss", "accuracy"), "val") == ("val_loss", "val_accuracy")
    assert series_names(("val_loss", "train_lr"), "train") == ("train_val_loss", "train_lr")
    assert series_names(("train_", "train"), "train") == ("train_train_", "train_train")


def test_the_bare_name_wins_over_one_that_carries_its_phase_and_neither_is_lost() -> None:
    assert series_names(("train_loss", "loss"), "train") == ("train_train_loss", "train_loss")
    assert series_names(("loss", "train_loss", "train_train_loss"), "train")[0] == "train_loss"


@pytest.mark.parametrize("name", ["step", "epoch", "phase", "metrics", "max_steps", "checkpoint_path", "message"])
def test_no_name_reaches_a_field_of_the_snapshot(name: str) -> None:
    assert series_names((name,), "train") == (f"train_{name}",)


def test_the_first_validation_set_keeps_the_bare_names() -> None:
    sets = ValidationSets()
    assert sets.qualifier("HelpSteer3") == ""
    assert sets.qualifier("held_out") == "@held_out/"
    assert sets.qualifier("HelpSteer3") == ""
    assert series_names(("loss", "val_accuracy"), "val", "@held_out/") == (
        "val_@held_out/loss",
        "val_@held_out/accuracy",
    )


def test_a_process_that_takes_over_gives_the_bare_names_to_the_same_set() -> None:
    sets = ValidationSets()
    sets.learn(["val_loss", "val_@held_out/loss", "val_@a%2Fb%25/loss", "val_@@/odd", "val_timing/@x/t", "train_@q/z"])
    assert sets.others == {"held_out", "a/b%"}
    assert sets.qualifier("held_out") == "@held_out/"
    assert sets.qualifier("HelpSteer3") == ""


def test_timings() -> None:
    assert series_names(("generation", "idle/validation"), "train", timing_qualifier("")) == (
        "train_timing/generation",
        "train_timing/idle/validation",
    )
    assert series_names(("t",), "val", timing_qualifier("held_out")) == ("val_timing/@held_out/t",)


TEXT = st.text(st.sampled_from("ab@/_%v") | st.characters(codec="utf-8"), max_size=8)
NAMES = st.lists(TEXT | st.sampled_from(["loss", "val_loss", "val_val_loss", "a/b", "@a/b", "@@/x"]), unique=True)


@given(names=NAMES, phase=st.sampled_from(["train", "val"]))
def test_no_two_names_of_a_dict_share_a_series(names: list[str], phase: str) -> None:
    series = series_names(tuple(names), phase)  # type: ignore[arg-type]  # sampled from the two phases
    assert len(set(series)) == len(names)
    assert all(each.startswith(f"{phase}_") for each in series)


@given(sets=st.lists(TEXT, min_size=2, max_size=4, unique=True), names=NAMES)
def test_no_two_validation_sets_share_a_series(sets: list[str], names: list[str]) -> None:
    known = ValidationSets()
    series = [name for each in sets for name in series_names(tuple(names), "val", known.qualifier(each))]
    assert len(set(series)) == len(sets) * len(names)


@given(sets=st.lists(TEXT, min_size=2, max_size=4, unique=True))
def test_what_one_process_names_another_one_learns(sets: list[str]) -> None:
    first = ValidationSets()
    stored = [name for each in sets for name in series_names(("loss",), "val", first.qualifier(each))]
    second = ValidationSets()
    second.learn(stored)
    assert second.others == set(sets[1:])

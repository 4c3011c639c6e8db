from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from impl.metrics_wire.series import Point, SeriesStore


def decoded(store: SeriesStore) -> dict[str, list[dict[str, Any]]]:
    value: dict[str, list[dict[str, Any]]] = json.loads(store.encoded())
    return value


def test_the_losses_are_always_there() -> None:
    assert decoded(SeriesStore()) == {"train_loss": [], "val_loss": []}


def test_numbers_keep_their_kind_on_the_wire() -> None:
    store = SeriesStore()
    store.add(["train_a", "train_b"], 1, 1, [1, 1.0])
    store.add(["train_a"], 2, 1, [1e-05])
    assert '"value":1}' in store.encoded()
    assert '"value":1.0}' in store.encoded()
    assert decoded(store)["train_a"] == [{"step": 1, "epoch": 1, "value": 1}, {"step": 2, "epoch": 1, "value": 1e-05}]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["train_loss", 'train_"q"\n', "val_é"]),
            st.integers(0, 8),
            st.integers() | st.floats(allow_nan=False, allow_infinity=False),
        )
    )
)
def test_one_point_a_step_ascending_and_the_last_value_wins(calls: list[tuple[str, int, float]]) -> None:
    store = SeriesStore()
    model: dict[str, dict[int, float]] = {"train_loss": {}, "val_loss": {}}
    for name, step, value in calls:
        store.add([name], step, 1, [value])
        model.setdefault(name, {})[step] = value
    got = {name: [(point["step"], point["value"]) for point in points] for name, points in decoded(store).items()}
    assert got == {name: sorted(points.items()) for name, points in model.items()}
    assert store.size == sum(
        len(json.dumps(points, separators=(",", ":"))) - 1 for points in decoded(store).values() if points
    )
    assert store.unsent_count == len(store) == sum(map(len, model.values()))


def test_stored_points_are_taken_over_except_where_there_is_an_own_one() -> None:
    store = SeriesStore()
    store.add(["train_loss"], 5, 1, [0.5])
    store.take_over({"train_loss": [Point(4, 1, 0.4), Point(5, 1, 9.0)], "train_lr": [Point(4, 1, 1)]})
    assert [point["value"] for point in decoded(store)["train_loss"]] == [0.4, 0.5]
    assert decoded(store)["train_lr"] == [{"step": 4, "epoch": 1, "value": 1}]
    assert store.unsent_count == 1, "what the service has is not sent again"


def test_points_that_could_not_be_sent_come_back_unless_a_newer_value_has_come() -> None:
    store = SeriesStore()
    store.add(["train_loss"], 1, 1, [0.1])
    store.add(["train_loss"], 2, 1, [0.2])
    taken = store.take_unsent()
    assert store.unsent_count == 2, "they are on their way"
    assert store.acknowledged_steps()["train_loss"] == {1, 2}
    store.add(["train_loss"], 2, 1, [0.9])
    store.settle(taken)
    again = store.take_unsent()
    assert sorted(again["train_loss"]) == [1, 2]
    assert '"value":0.9' in again["train_loss"][2]


def test_everything_can_be_made_unacknowledged() -> None:
    store = SeriesStore()
    store.take_over({"train_loss": [Point(1, 1, 0.1)]})
    store.unacknowledge()
    assert store.take_unsent() == {"train_loss": {1: '{"step":1,"epoch":1,"value":0.1}'}}

"""How two Gyms differ, as values and as the lines a reader sees."""

import dataclasses

import pytest

from contracts.gym_overflow.gym import GymSource, diff_sources, load_gym
from contracts.gym_overflow.gym.rewrite import (
    change_finish_reason,
    change_status,
    drop_site,
    reword,
    swallow_other_errors,
)


def kinds(before: GymSource, after: GymSource) -> list[tuple[str, str]]:
    return [(change.kind, change.function.split(".")[1]) for change in diff_sources(before, after).changes]


CHAT, COMPLETIONS = "chat_completions", "_chat_completions_via_completions_api"


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ("0.2.0", "0.2.1", []),
        ("0.2.1", "0.3.0", [("moved", CHAT), ("handler", CHAT)]),
        ("0.3.0", "0.3.1", []),
        ("0.3.1", "0.4.0", [("moved", CHAT)]),
        ("0.4.0", "0.5.0", [("moved", CHAT), ("added", COMPLETIONS)]),
        ("0.5.0", "0.5.1", []),
        ("0.5.1", "0.6.0", [("moved", CHAT), ("moved", COMPLETIONS)]),
        (
            "0.6.0",
            "0.7.0",
            [("moved", CHAT), ("handler", CHAT), ("moved", COMPLETIONS), ("handler", COMPLETIONS)],
        ),
        ("0.5.0", "0.4.0", [("moved", CHAT), ("removed", COMPLETIONS)]),
    ],
)
def test_the_history_of_the_releases(before: str, after: str, changes: list[tuple[str, str]]) -> None:
    assert kinds(load_gym(before), load_gym(after)) == changes


def test_the_lines_between_0_6_and_0_7_show_the_new_flag() -> None:
    lines = diff_sources(load_gym("0.6.0"), load_gym("0.7.0")).lines
    assert lines[:4] == (
        "NeMo Gym 0.6.0 -> NeMo Gym 0.7.0: 4 changes",
        "moved: VLLMModel.chat_completions",
        "  - VLLMModel.chat_completions at line 832",
        "  + VLLMModel.chat_completions at line 988",
    )
    assert lines.count("  + propagate_flag: propagate_context_overflow_errors") == 2
    assert lines.count("  + propagate_default: False") == 2


def test_the_lines_between_0_2_and_0_3_show_the_finish_reason() -> None:
    lines = diff_sources(load_gym("0.2.1"), load_gym("0.3.0")).lines
    assert "  - finish_reason: stop" in lines
    assert "  + finish_reason: length" in lines


def test_the_same_file_and_a_change_elsewhere_are_told_apart() -> None:
    gym = load_gym("0.7.0")
    assert diff_sources(load_gym("0.5.0"), load_gym("0.5.1")).lines == (
        "NeMo Gym 0.5.0 -> NeMo Gym 0.5.1: the same file",
    )
    elsewhere = dataclasses.replace(gym, text=gym.text + "# end\n", sha256="0" * 64)
    assert diff_sources(gym, elsewhere).lines[0].endswith("its classifiers and handlers did not")


def test_a_changed_expression_is_shown_on_both_sides() -> None:
    gym = load_gym("0.4.0")
    found = diff_sources(gym, change_status(reword(gym, "max_tokens", "max tokens")))
    assert [change.kind for change in found.changes] == ["expression", "triggers", "statuses"]
    assert found.changes[0].before == gym.sites[0].classifier.normalized
    assert "  - 'context length', 'max_tokens'" in found.lines
    assert "  + 'context length', 'max tokens'" in found.lines
    assert "  - 400" in found.lines
    assert "  + 422" in found.lines


def test_a_changed_handler_shows_only_what_changed_in_it() -> None:
    gym = load_gym("0.4.0")
    found = diff_sources(gym, swallow_other_errors(change_finish_reason(gym)))
    assert [(change.before, change.after) for change in found.changes] == [
        ("finish_reason: length\notherwise: raise", "finish_reason: stop\notherwise: swallow")
    ]


def test_a_dropped_site_and_a_renamed_function_are_told_apart() -> None:
    gym = load_gym("0.7.0")
    assert kinds(gym, drop_site(gym, 0)) == [("removed", CHAT)]
    renamed = dataclasses.replace(gym, text=gym.text.replace(f"def {CHAT}(", "def chat("), sha256="0" * 64)
    (moved,) = diff_sources(gym, renamed).changes
    assert (moved.kind, moved.before, moved.after) == (
        "moved",
        f"VLLMModel.{CHAT} at line 988",
        "VLLMModel.chat at line 988",
    )

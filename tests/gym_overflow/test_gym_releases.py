"""All nine published releases, read from their own source."""

import sys

import pytest

from contracts.gym_overflow.gym import GymSource, load_gym, pinned_releases, verdict
from contracts.gym_overflow.gym.releases import pinned_release
from contracts.gym_overflow.gym.source import sha256_of

OVERFLOW = '{"error": {"message": "This model\'s maximum context length is 64 tokens."}}'
RELEASES = [release.release for release in pinned_releases()]
WITH_STOP = {"0.2.0", "0.2.1"}
FLAG = "propagate_context_overflow_errors"


@pytest.fixture(params=RELEASES)
def gym(request: pytest.FixtureRequest) -> GymSource:
    return load_gym(request.param)


def test_the_table_holds_nine_releases_oldest_first() -> None:
    assert RELEASES == ["0.2.0", "0.2.1", "0.3.0", "0.3.1", "0.4.0", "0.5.0", "0.5.1", "0.6.0", "0.7.0"]


def test_a_release_is_the_pinned_file(gym: GymSource) -> None:
    pinned = pinned_release(gym.release or "")
    assert pinned is not None, f"{gym.name} is not in the table"
    assert gym.pinned
    assert gym.name == f"NeMo Gym {pinned.release}"
    assert gym.path == f"nemo-gym-{pinned.release}/{pinned.file}"
    assert gym.sha256 == pinned.file_sha256 == sha256_of(gym.text.encode())


def test_every_site_is_found_on_its_pinned_line(gym: GymSource) -> None:
    pinned = pinned_release(gym.release or "")
    assert pinned is not None, f"{gym.name} is not in the table"
    assert tuple(site.line for site in gym.sites) == pinned.sites
    lines = gym.text.splitlines()
    for site in gym.sites:
        assert lines[site.line - 1].strip().startswith("is_out_of_context_length = ")
        assert lines[site.handler.line - 1].strip() == "if is_out_of_context_length:"


def test_the_sites_stand_in_the_chat_and_the_completions_backend(gym: GymSource) -> None:
    backends = ["VLLMModel.chat_completions", "VLLMModel._chat_completions_via_completions_api"]
    assert [site.function for site in gym.sites] == backends[: len(gym.sites)]


def test_every_classifier_seeks_the_same_words_behind_status_400(gym: GymSource) -> None:
    for site in gym.sites:
        assert site.classifier.triggers == ("context length", "max_tokens")
        assert site.classifier.statuses == (400,)
        assert site.classifier.source in gym.text


@pytest.mark.parametrize(
    ("status", "body", "overflow"),
    [
        (400, OVERFLOW, True),
        (400, "max_tokens must be at least 1, got 0.", True),
        (400, OVERFLOW.upper(), False),
        (400, "context_length_exceeded", False),
        (500, OVERFLOW, False),
        (422, OVERFLOW, False),
        (400, "", False),
    ],
)
def test_all_sites_agree_on_an_answer(gym: GymSource, status: int, body: str, *, overflow: bool) -> None:
    decided = verdict(gym, status, body)
    assert decided.agreement
    assert decided.overflow is decided.overflow_anywhere is overflow
    assert [decision.site for decision in decided.decisions] == list(gym.sites)


def test_the_handler_ends_the_rollout_empty_and_raises_everything_else(gym: GymSource) -> None:
    for site in gym.sites:
        handler = site.handler
        assert handler.finish_reason == ("stop" if gym.release in WITH_STOP else "length")
        assert handler.empty_completion
        assert handler.otherwise == "raise"
        assert handler.completion_id == "chtcmpl-123"


def test_only_the_newest_release_can_propagate_and_its_flag_is_off(gym: GymSource) -> None:
    for site in gym.sites:
        assert site.handler.propagate_flag == (FLAG if gym.release == "0.7.0" else None)
        assert site.handler.propagate_default is (False if gym.release == "0.7.0" else None)


def test_the_completion_is_built_in_place_up_to_0_2_and_by_a_method_since(gym: GymSource) -> None:
    builder = "NeMoGymChatCompletion" if gym.release in WITH_STOP else "_create_empty_chat_completion"
    assert {site.handler.builder for site in gym.sites} == {builder}


def test_reading_a_release_leaves_gym_unimported(gym: GymSource) -> None:
    assert gym.sites
    assert not [name for name in sys.modules if name.split(".")[0] in {"nemo_gym", "responses_api_models"}]


def test_a_number_may_leave_out_its_last_zero() -> None:
    short, full = load_gym("0.7"), load_gym("0.7.0")
    assert (short.release, short.pinned, short.text) == (full.release, True, full.text)

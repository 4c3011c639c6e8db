"""Every rewrite applies to every release, changes what it says, and leaves the rest of the file alone."""

from collections.abc import Callable

import pytest

from contracts.gym_overflow.gym import GymSource, RewriteNotApplicable, SiteNotFound, load_gym, pinned_releases, verdict
from contracts.gym_overflow.gym.rewrite import (
    change_finish_reason,
    change_status,
    drop_site,
    propagate_always,
    rename_variable,
    require_upper_case,
    reword,
    swallow_other_errors,
    swap_and_or,
)

TWO_SITES = [release.release for release in pinned_releases() if len(release.sites) == 2]
BODY = "the maximum context length is 64"


@pytest.fixture(params=[release.release for release in pinned_releases()])
def gym(request: pytest.FixtureRequest) -> GymSource:
    return load_gym(request.param)


REWRITES: dict[str, Callable[..., GymSource]] = {
    "reword": lambda gym, **site: reword(gym, "context length", "context size ä", **site),
    "status": change_status,
    "and-or": swap_and_or,
    "rename": rename_variable,
    "finish": lambda gym, **site: change_finish_reason(gym, "content_filter", **site),
    "upper": require_upper_case,
    "swallow": swallow_other_errors,
    "propagate": propagate_always,
}


@pytest.mark.parametrize("rewrite", REWRITES.values(), ids=REWRITES)
def test_a_rewrite_touches_only_its_sites_and_keeps_line_numbers(
    gym: GymSource, rewrite: Callable[..., GymSource]
) -> None:
    before = gym.text.splitlines(keepends=True)
    changed = rewrite(gym)
    after = changed.text.splitlines(keepends=True)
    assert len(after) == len(before)
    touched = [number for number, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new]
    regions = [range(site.line, (site.syntax.handler.block.end_lineno or 0) + 1) for site in gym.sites]
    assert all(any(number in region for number in touched) for region in regions)
    assert all(any(number in region for region in regions) for number in touched)
    assert not changed.pinned
    assert changed.sha256 != gym.sha256
    assert changed.name.startswith(f"{gym.name} (")
    assert load_gym(gym.release or "").text == gym.text


def lines(gym: GymSource) -> list[int]:
    return [site.line for site in gym.sites]


def test_reworded_triggers_are_sought_instead(gym: GymSource) -> None:
    changed = reword(gym, "context length", "context size")
    assert lines(changed) == lines(gym)
    assert all(site.classifier.triggers == ("context size", "max_tokens") for site in changed.sites)
    assert not verdict(changed, 400, BODY).overflow_anywhere
    assert verdict(changed, 400, "context size").overflow


def test_upper_case_triggers_miss_every_real_answer(gym: GymSource) -> None:
    changed = require_upper_case(gym)
    assert not verdict(changed, 400, BODY + " max_tokens").overflow_anywhere
    assert verdict(changed, 400, BODY.upper()).overflow


def test_another_status_is_asked_for(gym: GymSource) -> None:
    changed = change_status(gym, 400, 422)
    assert not verdict(changed, 400, BODY).overflow_anywhere
    assert verdict(changed, 422, BODY).overflow


def test_swapped_junctions_ask_for_either_status_or_both_words(gym: GymSource) -> None:
    changed = swap_and_or(gym)
    assert verdict(changed, 400, "").overflow
    assert not verdict(changed, 500, BODY).overflow_anywhere
    assert verdict(changed, 500, BODY + " max_tokens").overflow
    assert swap_and_or(changed).text == gym.text


def test_swapping_finds_its_words_behind_wide_characters_and_comments(gym: GymSource) -> None:
    odd = reword(gym, "context length", "ä and € or 😀")
    assert swap_and_or(swap_and_or(odd)).text == odd.text
    assert "ä and € or 😀" in swap_and_or(odd).text
    assert verdict(swap_and_or(odd), 400, "").overflow


def test_a_dropped_site_is_gone_and_the_others_stay_in_place(gym: GymSource) -> None:
    for index in range(len(gym.sites)):
        changed = drop_site(gym, index)
        left = [line for number, line in enumerate(lines(gym)) if number != index]
        if left:
            assert lines(changed) == left
        else:
            with pytest.raises(SiteNotFound):
                _ = changed.sites


def test_a_renamed_variable_is_not_found_but_named(gym: GymSource) -> None:
    changed = rename_variable(gym, "is_context_overflow")
    with pytest.raises(SiteNotFound, match=rf"`is_context_overflow` at \S+app\.py:{gym.sites[0].line}"):
        _ = changed.sites


def test_the_finish_reason_is_changed(gym: GymSource) -> None:
    changed = change_finish_reason(gym, "content_filter")
    assert {site.handler.finish_reason for site in changed.sites} == {"content_filter"}
    if gym.sites[0].handler.finish_reason == "stop":
        with pytest.raises(RewriteNotApplicable, match="nothing to change"):
            change_finish_reason(gym, "stop")
    else:
        assert {site.handler.finish_reason for site in change_finish_reason(gym, "stop").sites} == {"stop"}


def test_other_errors_are_swallowed_where_the_raise_is_dropped(gym: GymSource) -> None:
    changed = swallow_other_errors(gym)
    assert {site.handler.otherwise for site in changed.sites} == {"swallow"}
    with pytest.raises(RewriteNotApplicable):
        swallow_other_errors(changed)


def test_an_overflow_is_always_raised_where_the_branch_only_raises(gym: GymSource) -> None:
    changed = propagate_always(gym)
    for site in changed.sites:
        assert (site.handler.finish_reason, site.handler.empty_completion) == (None, False)
        assert site.handler.propagate_flag is None
    with pytest.raises(RewriteNotApplicable):
        propagate_always(changed)


@pytest.mark.parametrize("release", TWO_SITES)
@pytest.mark.parametrize("index", [0, 1])
def test_one_site_can_be_made_to_differ_from_the_other(release: str, index: int) -> None:
    gym = load_gym(release)
    changed = reword(gym, "context length", "context size", site=index)
    decided = verdict(changed, 400, BODY)
    assert not decided.agreement
    assert [decision.overflow for decision in decided.decisions] == [number != index for number in range(2)]
    assert (decided.overflow, decided.overflow_anywhere) == (False, True)
    assert changed.name.endswith(f"at site {index})")


@pytest.mark.parametrize("rewrite", REWRITES.values(), ids=REWRITES)
@pytest.mark.parametrize("release", TWO_SITES)
def test_a_rewrite_of_one_site_leaves_the_other_as_it_is(release: str, rewrite: Callable[..., GymSource]) -> None:
    gym = load_gym(release)
    changed = rewrite(gym, site=1)
    assert changed.sites[0] == gym.sites[0]
    assert changed.sites[1:] != gym.sites[1:]


def test_a_rewrite_that_finds_nothing_raises(gym: GymSource) -> None:
    for nothing in (
        lambda: reword(gym, "absent", "words"),
        lambda: change_status(gym, 418, 400),
        lambda: change_status(gym, 400, 400),
        lambda: drop_site(gym, len(gym.sites)),
        lambda: drop_site(gym, -1),
    ):
        with pytest.raises(RewriteNotApplicable):
            nothing()

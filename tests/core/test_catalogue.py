"""The catalogue of the toy room."""

from __future__ import annotations

import pytest
from toy_echo import echo

from contracts import rooms
from contracts.catalogue import as_markdown, find
from contracts.contract import UnknownIdError

pytestmark = pytest.mark.usefixtures("toy_room")


def test_a_check_is_found_by_its_id() -> None:
    assert find("TY-201") == (echo, echo["TY-201"])
    assert find("TY-104")[1].until == "1.1", "a retired check is explained too"


@pytest.mark.parametrize("check_id", ["TY-999", "XX-101", "TY-M101a", ""])
def test_what_is_not_there_is_not_found(check_id: str) -> None:
    with pytest.raises(UnknownIdError, match=f"no check '{check_id}'"):
        find(check_id)


def test_only_the_room_of_the_id_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rooms.ROOMS, "absent_room", ("side",))
    monkeypatch.setitem(rooms.PREFIXES, "absent_room", "AB")
    assert find("TY-101")[0] is echo
    with pytest.raises(ModuleNotFoundError):
        find("AB-101")


def test_the_page_holds_every_check_with_its_words_and_mutants() -> None:
    page = as_markdown()
    assert "## `toy.echo` 1.2\n\nAn echo against what it was given.\n" in page
    assert "| `batches` | the echo takes several numbers at once. Not declared: it takes one at a time. |" in page
    assert [line.split()[1] for line in page.splitlines() if line.startswith("### ")] == [c.id for c in echo.checks]
    assert (
        "### TY-103 A measurement drifts by less than its budget.\n\n"
        "MUST since 1.1. Needs: nothing.\n\n"
        "Why: a larger drift moves the mean.\n\n"
        "Usual cause: single precision.\n\n"
        "Source: toy/echo README - an echo gives back what it was given\n\n"
        "- `TY-M103a` Drifts by twice the budget\n"
        "- `TY-C103a` Drifts by half the budget\n"
    ) in page
    assert "MUST since 1.0, retired in 1.1. Needs: nothing." in page
    assert "SHOULD since 1.0. Needs: nothing." in page
    assert "MUST since 1.0. Needs: batches." in page
    assert page.endswith("\n")
    assert not page.endswith("\n\n")

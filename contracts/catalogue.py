"""The catalogue of every check: found by id, and written out as ``docs/checks.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.contract import UnknownIdError
from contracts.rooms import PREFIXES, load, names

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.contract import Contract


def find(check_id: str) -> tuple[Contract[Any], Check[Any]]:
    """The check called ``check_id``, and its contract; only the room that its letters name is loaded.

    Raises:
        UnknownIdError: If there is no such check.
        RoomUnavailableError: If a package that its room needs is not installed.
    """
    rooms = [room for room, prefix in PREFIXES.items() if check_id.startswith(f"{prefix}-")]
    for name in (name for room in rooms for name in names(room)):
        contract = load(name)
        for check in contract.checks:
            if check.id == check_id:
                return contract, check
    raise UnknownIdError(f"no check {check_id!r}; `contracts list` shows all")


def as_markdown() -> str:
    """The text of ``docs/checks.md``."""
    lines = [
        "# Checks",
        "",
        "Written by `python -m contracts.catalogue`; a test fails when it is out of date.",
        "",
    ]
    for name in names():
        contract = load(name)
        lines += [f"## `{name}` {contract.version}", "", f"{contract.summary}.", ""]
        if contract.capabilities:
            lines += ["| capability | meaning |", "|---|---|"]
            lines += [f"| `{capability}` | {meaning} |" for capability, meaning in contract.capabilities.items()]
            lines.append("")
        for check in contract.checks:
            lines += _section(contract, check)
    return "\n".join(lines).rstrip() + "\n"


def _section(contract: Contract[Any], check: Check[Any]) -> list[str]:
    seeded = (*contract.mutants, *contract.controls)
    mutants = [f"- `{mutant.id}` {mutant.description}" for mutant in seeded if mutant.killed_by == check.id]
    retired = f", retired in {check.until}" if check.until else ""
    return [
        f"### {check.id} {check.claim}",
        "",
        f"{check.level} since {check.since}{retired}. Needs: {', '.join(sorted(check.requires)) or 'nothing'}.",
        "",
        f"Why: {check.why}",
        "",
        f"Usual cause: {check.usual_cause}",
        "",
        f"Source: {check.source}",
        "",
        *mutants,
        "",
    ]


if __name__ == "__main__":
    import sys

    sys.stdout.write(as_markdown())

"""A failure that its owner knows of."""

from __future__ import annotations

import datetime as dt
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contracts.rooms import PREFIXES, ROOMS, load, names

if TYPE_CHECKING:
    from pathlib import Path

    from contracts.contract import Contract


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """A failure of one check that is expected for now.

    It is strict: the check must fail with its own code. A pass, a crash or another code fails the run, and so
    does the failure itself once ``until`` has passed.

    Attributes:
        reason: What is wrong, in one sentence.
        issue: Where it is tracked, such as ``acme/rl#12``.
        until: Last day on which it is accepted, ``YYYY-MM-DD``; ``None`` means no end.
    """

    reason: str
    issue: str
    until: str | None = None

    def __post_init__(self) -> None:
        if not self.reason.strip() or not self.issue.strip():
            raise ValueError("a KnownFailure needs a reason and the issue that tracks it")
        if self.until is not None:
            try:
                dt.date.fromisoformat(self.until)
            except (TypeError, ValueError) as error:
                raise ValueError(f"KnownFailure.until must be YYYY-MM-DD, got {self.until!r}") from error

    def expired(self, today: dt.date | None = None) -> bool:
        """Whether ``until`` lies before ``today`` (default: the local date)."""
        if self.until is None:
            return False
        day = today or dt.datetime.now().astimezone().date()
        return dt.date.fromisoformat(self.until) < day


def known_failures_of(pyproject: Path) -> dict[str, KnownFailure]:
    """The table ``[tool.contracts.known-failures]`` of a ``pyproject.toml``, empty where there is none.

    Raises:
        ValueError: If the file is no TOML, or the table or an entry is not ``{reason, issue, until}``.
    """
    if not pyproject.is_file():
        return {}
    try:
        table: Any = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{pyproject} is not valid TOML: {error}") from error
    path = []
    for key in ("tool", "contracts", "known-failures"):
        path.append(key)
        table = table.get(key, {})
        if not isinstance(table, dict):
            # One type of error, as for every other malformed entry.
            raise ValueError(f"{pyproject}: [{'.'.join(path)}] must be a table, got {table!r}")  # noqa: TRY004 - a bad file, not a bad call
    return {check_id: _entry(pyproject, check_id, entry) for check_id, entry in table.items()}


def _entry(pyproject: Path, check_id: str, entry: Any) -> KnownFailure:
    problem: object = f"got {entry!r}"
    if isinstance(entry, dict) and all(isinstance(value, str) for value in entry.values()):
        try:
            return KnownFailure(**entry)
        except (TypeError, ValueError) as error:
            problem = error
    raise ValueError(
        f"{pyproject}: [tool.contracts.known-failures] {check_id}: {problem}; "
        f'write {check_id} = {{reason = "...", issue = "...", until = "YYYY-MM-DD"}}'
    )


def known_failures_in(pyproject: Path, contract: Contract[Any]) -> dict[str, KnownFailure]:
    """The entries of ``[tool.contracts.known-failures]`` that are about ``contract``.

    Entries about other rooms are left to these.

    Raises:
        ValueError: If the table is malformed, or names a check that does not exist.
    """
    table = known_failures_of(pyproject)
    own = {check.id for check in contract.checks}
    room = contract.name.partition(".")[0]
    siblings = [load(name) for name in names(room)] if room in ROOMS and table.keys() - own else []
    existing = own.union(*({check.id for check in sibling.checks} for sibling in siblings))
    elsewhere = tuple(f"{prefix}-" for other, prefix in PREFIXES.items() if other != room)
    for check_id in table:
        if check_id not in existing and not check_id.startswith(elsewhere):
            raise ValueError(f"{pyproject}: [tool.contracts.known-failures] names {check_id}, which does not exist")
    return {check_id: failure for check_id, failure in table.items() if check_id in own}

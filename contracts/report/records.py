"""The records of a report: one JSON object a line, in this order.

``header``, one ``check`` per check in force, ``result`` and ``mutant`` as they happen, ``footer``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

SCHEMA_VERSION = 1


class Outcome(StrEnum):
    """How one check ended on one adapter.

    ``skipped`` is a check that needs what the adapter does not declare. ``error`` is neither a pass nor a failure: the
    adapter or the harness broke, or did not come back in time. ``not run`` is a check that was asked for and that the
    test behind it left out, such as one that a mark skips.
    """

    PASSED = "passed"
    FAILED = "failed"
    KNOWN = "known"
    SKIPPED = "skipped"
    ERROR = "error"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """An adapter that was held to a contract.

    Attributes:
        contract: Name of the contract.
        contract_version: The version it was held to.
        name: Name of the adapter; unique within its contract in one report.
        version: Version of what stands behind it.
        capabilities: What it declares.
        declared: Number of checks in force.
        selected: How many of them, and of the mutants and controls, were asked for.
    """

    contract: str
    contract_version: str
    name: str
    version: str
    capabilities: tuple[str, ...]
    declared: int
    selected: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What was run, with what.

    Attributes:
        command: ``run``, ``mutants``, or ``run and mutants``.
        package: Version of rl-contracts.
        started: ISO 8601, UTC.
        profile: Registered name of the Hypothesis profile.
        environment: Versions of Python, the platform and the libraries that the verdicts depend on.
        subjects: Every adapter, with the contract it is held to.
    """

    type: ClassVar[str] = "header"
    command: str
    package: str
    started: str
    profile: str
    environment: dict[str, str]
    subjects: tuple[Subject, ...]
    schema: int = SCHEMA_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRecord:
    """A check in force."""

    type: ClassVar[str] = "check"
    contract: str
    id: str
    level: str
    claim: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How one check ended on one adapter.

    Attributes:
        message: One line: the failure's headline, or why the check was skipped or is known to fail.
        failure: The whole text of the failure, known or not, or of the error, or why it did not run; empty where there
            is none.
        case: The case of the failure as ``--case`` takes it, ``None`` where there is none.
    """

    type: ClassVar[str] = "result"
    contract: str
    subject: str
    check: str
    level: str
    outcome: Outcome
    seconds: float
    message: str = ""
    failure: str = ""
    case: str | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """Contract, adapter and check: what a report holds once."""
        return self.contract, self.subject, self.check


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantRecord:
    """What trying one mutant, or one control, on one adapter showed.

    Attributes:
        control: Whether it is a control, which the check must tolerate.
        proof: A value of `contracts.mutant.Proof`.
    """

    type: ClassVar[str] = "mutant"
    contract: str
    subject: str
    mutant: str
    killed_by: str
    description: str
    control: bool
    proof: str
    reason: str
    seconds: float

    @property
    def key(self) -> tuple[str, str, str]:
        """Contract, adapter and mutant: what a report holds once."""
        return self.contract, self.subject, self.mutant


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer:
    """The counts; a report without it was cut short."""

    type: ClassVar[str] = "footer"
    counts: dict[str, int] = field(default_factory=dict)
    complete: bool = True


Record = Header | CheckRecord | Result | MutantRecord | Footer


def as_json(record: Record) -> dict[str, Any]:
    """The record as the JSON object that the schema describes."""
    return {"type": record.type, **asdict(record)}

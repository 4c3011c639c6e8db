"""What a report begins with: the header, and the checks in force."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import platform
from typing import TYPE_CHECKING

from contracts.profiles import registered_name
from contracts.report.records import CheckRecord, Header, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from contracts.verification import Target

_LIBRARIES = ("hypothesis", "schemathesis", "torch", "vllm", "megatron-core")


def header(command: str, targets: Sequence[Target], counts: Mapping[tuple[str, str], int], profile: str) -> Header:
    """The header of a report.

    Args:
        command: ``run``, ``mutants``, or ``run and mutants``.
        targets: Every target of the run.
        counts: Number of results to come, by contract and adapter name.
        profile: Short or registered name.

    Raises:
        ValueError: If two adapters of one contract have the same name.
    """
    subjects = tuple(_subject(target, counts[target.contract.name, target.name]) for target in targets)
    if len({(subject.contract, subject.name) for subject in subjects}) != len(subjects):
        raise ValueError("two adapters of one contract have the same name")
    return Header(
        command=command,
        package=importlib.metadata.version("rl-contracts"),
        started=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        profile=registered_name(profile),
        environment=_environment(),
        subjects=subjects,
    )


def _subject(target: Target, selected: int) -> Subject:
    contract = target.contract
    return Subject(
        contract=contract.name,
        contract_version=target.version or contract.version,
        name=target.name,
        version=str(getattr(target.adapter, "version", "")),
        capabilities=tuple(sorted(contract.capabilities_of(target.adapter))),
        declared=len(contract.at(target.version)),
        selected=selected,
    )


def _environment() -> dict[str, str]:
    found = {"python": platform.python_version(), "platform": f"{platform.system()} {platform.machine()}"}
    for library in _LIBRARIES:
        try:
            found[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def catalogue(targets: Sequence[Target]) -> Iterator[CheckRecord]:
    """The checks in force for ``targets``, each once."""
    seen = set()
    for target in targets:
        for check in target.checks:
            if check.id not in seen:
                seen.add(check.id)
                yield CheckRecord(
                    contract=check.contract,
                    id=check.id,
                    level=check.level,
                    claim=check.claim,
                    source=str(check.source),
                )

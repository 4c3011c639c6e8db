"""Defects that take one task for another."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

from contracts.metrics_wire.service_cases import Kind
from contracts.metrics_wire.service_mutants.tampering import Message, Tampering
from contracts.metrics_wire.sides import service

if TYPE_CHECKING:
    from contracts.metrics_wire.protocols import ServiceAnswer


class _OtherPath(Tampering, ABC):
    def tamper(self, message: Message) -> ServiceAnswer:
        return self.send(replace(message, path=self.other(message.path)))

    @abstractmethod
    def other(self, path: str) -> str:
        """The path that is used instead."""


@service.mutant("MW-M981a", killed_by="MW-981", witness=Kind("task"))
class KeysWithoutTheTask(_OtherPath):
    """keys tasks without their own id"""

    def other(self, path: str) -> str:
        return re.sub(r"/tasks/[^/]+", "/tasks/training", path)


@service.mutant("MW-M981b", killed_by="MW-981", witness=Kind("step"))
class KeysWithoutTheStep(_OtherPath):
    """keys tasks without their step"""

    def other(self, path: str) -> str:
        return re.sub(r"/steps/[^/]+", "/steps/train", path)


@service.mutant("MW-M981c", killed_by="MW-981", witness=Kind("job"))
class CutsJobs(_OtherPath):
    """cuts the id of a job at 16 letters"""

    def other(self, path: str) -> str:
        return re.sub(r"/jobs/([^/]{16})[^/]*", r"/jobs/\1", path)


@service.mutant("MW-M981d", killed_by="MW-981", witness=Kind("workspace"))
class KeysWithoutTheWorkspace(_OtherPath):
    """keys tasks without their workspace"""

    def other(self, path: str) -> str:
        return re.sub(r"/workspaces/[^/]+", "/workspaces/default", path)


@service.mutant("MW-M982a", killed_by="MW-982")
class ComparesIdsWithoutCase(_OtherPath):
    """compares ids without regard to case"""

    def other(self, path: str) -> str:
        return path.lower()


@service.mutant("MW-M983a", killed_by="MW-983")
class ComparesPathsAsTheyCame(_OtherPath):
    """takes a letter that is quoted for another one"""

    def other(self, path: str) -> str:
        return path.replace("%", "x")

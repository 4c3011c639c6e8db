"""One Gym's `app.py` as a value: where it comes from, its text, and the classifiers found in it."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

from contracts.gym_overflow.gym.sites import Site, find_sites
from contracts.gym_overflow.gym.syntax import SourceText


def sha256_of(data: bytes) -> str:
    """SHA-256 of `data`, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class GymSource:
    """The source of one Gym's vLLM model server. It is read, never executed.

    Attributes:
        name: what a reader calls it, for instance "NeMo Gym 0.7.0".
        spec: what it was loaded from, as it was given.
        release: release number, or None where the origin does not say.
        pinned: whether the file is, byte for byte, the one that the pinned table holds for this release (for a
            tree or a file, which has no release: for any release).
        path: label of the file for messages and for `file:line`.
        text: the file's text.
        sha256: SHA-256 of the file's bytes, in hexadecimal.
    """

    name: str
    spec: str
    release: str | None
    pinned: bool
    path: str
    text: str
    sha256: str

    @cached_property
    def syntax(self) -> SourceText:
        """The text with its syntax tree."""
        return SourceText(self.text, self.path)

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """Every classifier of the file, in order of lines; at least one.

        Raises:
            SourceUnreadable: the file does not parse.
            SiteNotFound: it never assigns the classifier's variable.
            UnsupportedExpression: a classifier lies outside the whitelist.
            HandlerNotUnderstood: what follows a classifier has an unknown form.
        """
        return find_sites(self.syntax)

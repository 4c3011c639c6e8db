"""Methods of vLLM's classes replaced in this process, and put back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class ReplacedMethods:
    """What was replaced, in order."""

    def __init__(self) -> None:
        self._originals: list[tuple[type, str, Any]] = []

    def replace(self, owner: type, name: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Put ``wrap(original)`` in a method's place.

        Raises:
            AttributeError: the class itself does not define it: replacing what it inherits would not be undone.
        """
        if name not in vars(owner):
            raise AttributeError(f"{owner.__qualname__} defines no {name}: this vLLM is built differently")
        original = vars(owner)[name]
        self._originals.append((owner, name, original))
        setattr(owner, name, wrap(original))

    def restore(self) -> None:
        """Put every original back."""
        while self._originals:
            owner, name, original = self._originals.pop()
            setattr(owner, name, original)

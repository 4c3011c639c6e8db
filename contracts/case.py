"""Cases as JSON: what a failure prints and ``--case`` takes.

A case is a frozen dataclass (or a builtin value); pydantic reads and writes it by its annotations.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def encode(case: object) -> str:
    """The case as one line of JSON; NaN and the infinities are written as Python's json module writes them."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - `import contracts` stays light

    return json.dumps(TypeAdapter(type(case)).dump_python(case, mode="json", warnings="error"))


def decode(case_type: type, text: str) -> Any:
    """The case that ``text`` holds.

    Raises:
        ValueError: If ``text`` is no JSON or not a case of that type; the message says what was expected.
    """
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - `import contracts` stays light

    try:
        case: Any = TypeAdapter(case_type).validate_json(text)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc'])) or 'the case'}: {problem['msg']}" for problem in error.errors()
        )
        raise ValueError(f"not a {case_type.__name__}: {problems}") from error
    # Pydantic drops the unknown keys of a dataclass, and a misspelt one would silently stand for its default.
    if unknown := sorted(_unknown(json.loads(text), json.loads(encode(case)))):
        raise ValueError(f"not a {case_type.__name__}: it has no {', '.join(unknown)}")
    return case


def _unknown(given: object, known: object, place: str = "") -> Iterator[str]:
    if isinstance(given, dict) and isinstance(known, dict):
        for key, value in given.items():
            if key in known:
                yield from _unknown(value, known[key], f"{place}{key}.")
            else:
                yield f"{place}{key}"
    elif isinstance(given, list) and isinstance(known, list):
        for index, (value, kept) in enumerate(zip(given, known, strict=False)):
            yield from _unknown(value, kept, f"{place}{index}.")

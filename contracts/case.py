"""Cases as JSON: what a failure prints and ``--case`` takes.

A case is a frozen dataclass (or a builtin value); pydantic reads and writes it by its annotations.
"""

from __future__ import annotations

import json
from typing import Any


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
        return TypeAdapter(case_type).validate_json(text)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc'])) or 'the case'}: {problem['msg']}" for problem in error.errors()
        )
        raise ValueError(f"not a {case_type.__name__}: {problems}") from error

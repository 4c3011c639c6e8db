"""Writes ``docs/in-the-wild.md`` from the known failures that the tests of others' implementations keep.

``python tests/docs/in_the_wild.py > docs/in-the-wild.md``
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from contracts.known import known_failures_of

ROOT = Path(__file__).parents[2]
FOLDERS = ("third_party", "gym_overflow", "metrics_wire", "numerics")
INTRODUCTION = """# In the wild

What the contracts found in implementations that are not ours. Each was run as it is published, through an adapter and
nothing else, by `tox -e third-party` and `tox -e engines`. What it fails is a strict known failure there: on the day it
is fixed, a test says so. What a published package does not contain is said at the end and not imitated.

A failure here is a difference to what the other side of a seam relies on. It need not be a bug of the project in which
it was found: each documents its own interface, and none of them promised this one.

Written by `python tests/docs/in_the_wild.py > docs/in-the-wild.md`; a test fails when it is out of date. Matrix and
text of every failure: [report.html](report.html).
"""

NOT_HELD = {
    "skyrl 0.4.0": "No fp32 head. Its `fused_lm_head_logprob` multiplies in the weight's dtype and casts the product "
    "up afterwards; it is for Megatron-Core and asks for Python 3.12.",
    "openrlhf 0.11.2": "No fp32 head. Logits are cast to fp32 after the product.",
    "nemo-rl 0.0.0": "A placeholder of two modules, without loops, loggers or engines.",
    "prime-rl": "No package of this name is published.",
    "verl 0.9.1": "Its rollout correction is held; its trainer is not, as it asks for an older transformers than the "
    "other implementations of its environment.",
}
"""What could not be held, by package: what its wheel has instead."""


def page() -> str:
    """The page as Markdown."""
    lines = [INTRODUCTION]
    for folder in FOLDERS:
        tests = ROOT / "tests" / folder
        for path in sorted([*tests.glob("test_*.py"), *tests.glob("known_failures/*.toml")]):
            for heading, found in (_of_table(path) if path.suffix == ".toml" else _of_tests(path)).items():
                lines += [f"## {heading}", "", "| check | what happens |", "|---|---|"]
                lines += [f"| {check_id} | {_cell(reason)} |" for check_id, reason in sorted(found.items())]
                lines.append("")
    lines += ["## What is not held, as its package does not have it", "", "| package | what it has |", "|---|---|"]
    lines += [f"| {package} | {_cell(reason)} |" for package, reason in NOT_HELD.items()]
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _of_table(path: Path) -> dict[str, dict[str, str]]:
    found = {check_id: failure.reason for check_id, failure in known_failures_of(path).items()}
    comment = path.read_text("utf-8").partition("\n")[0].removeprefix("#")
    heading = comment.partition(", read by")[0].strip()
    return {heading: found} if found else {}


def _of_tests(path: Path) -> dict[str, dict[str, str]]:
    tree = ast.parse(path.read_text("utf-8"))
    heading = (ast.get_docstring(tree) or path.name).partition("\n")[0].rstrip(".")
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict) and isinstance(node.targets[0], ast.Name):
            reasons = _reasons(node.value)
            name = node.targets[0].id
            if reasons:
                several = f"{heading.partition(':')[0]}: {name.replace('_', ' ').lower()}"
                found[heading if name == "KNOWN" else several] = reasons
    return found


def _reasons(table: ast.Dict) -> dict[str, str]:
    return {
        str(key.value): str(value.args[0].value)
        for key, value in zip(table.keys, table.values, strict=True)
        if isinstance(key, ast.Constant)
        and isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id == "KnownFailure"
        and isinstance(value.args[0], ast.Constant)
    }


if __name__ == "__main__":
    sys.stdout.write(page())

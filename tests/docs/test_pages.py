"""The pages show what is run elsewhere: files of the examples, links that lead somewhere, commands that exist."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from contracts.cli import app
from contracts.rooms import names

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in (*DOCS.glob("*.md"), ROOT / "README.md") if path.name != "checks.md")
EXAMPLES = {
    "adopting-gym-overflow.md": "downstream_endpoint",
    "adopting-metrics-wire.md": "downstream_logger",
    "adopting-numerics.md": "downstream_engine",
}
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(page: Path, language: str) -> list[tuple[str, str]]:
    """Name, empty where it has none, and text of every block of code in one language."""
    fences = re.findall(r"^```([^\n]*)\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    parted = [(info.partition(" "), text) for info, text in fences]
    return [(name, text) for (found, _, name), text in parted if found == language]


@pytest.mark.parametrize(("page", "example"), EXAMPLES.items())
def test_a_page_shows_the_files_of_its_example(page: str, example: str) -> None:
    shown = dict([*blocks(DOCS / page, "python"), *blocks(DOCS / page, "toml")])
    folder = ROOT / "examples" / example
    files = {path.name for path in folder.iterdir() if path.is_file()}
    assert {"acme_contract.py", "test_contract.py"} <= shown.keys()
    for name in shown.keys() & files:
        assert shown[name] == (folder / name).read_text("utf-8"), f"{page} shows another {name} than {folder}"


@every_page
def test_its_python_is_python(page: Path) -> None:
    for _, text in blocks(page, "python"):
        ast.parse(text)


@every_page
def test_its_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def commands(page: Path) -> list[list[str]]:
    lines = [line for _, text in blocks(page, "") for line in text.splitlines()]
    calls = [line.partition("  #")[0].removeprefix("python -m ") for line in lines]
    return [shlex.split(call)[1:] for call in calls if call.startswith("contracts ")]


@every_page
def test_its_commands_exist(page: Path) -> None:
    for words in commands(page):
        path = [word for word in words if not word.startswith("-")]
        command = path[:2] if path[0] in {"gym", "metrics", "numerics"} else path[:1]
        shown = CliRunner().invoke(app, [*command, "--help"], terminal_width=200)
        assert shown.exit_code == 0, words
        for option in (word for word in words if word.startswith("--")):
            assert option in shown.stdout, f"{page.name}: {' '.join(words)}"
        if command in (["run"], ["mutants"]) and len(path) > 1 and not path[1].endswith(".jsonl"):
            assert set(names(path[1])) <= set(names()), words


def test_the_commands_are_found() -> None:
    assert ["run", "numerics.head", "--adapter", "acme_contract:adapter"] in commands(DOCS / "adopting-numerics.md")


def test_every_page_is_reached_from_the_readme() -> None:
    reached, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in reached:
            continue
        reached.add(page)
        targets = re.findall(r"\]\(([^)#]+\.md)\)", page.read_text("utf-8"))
        todo += [(page.parent / target).resolve() for target in targets if not target.startswith("http")]
    assert {path.resolve() for path in DOCS.glob("*.md")} <= {path.resolve() for path in reached}


def test_what_was_found_in_the_wild_is_up_to_date() -> None:
    shown = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, str(Path(__file__).parent / "in_the_wild.py")], check=True, capture_output=True, text=True
    )
    written = (DOCS / "in-the-wild.md").read_text("utf-8")
    assert written == shown.stdout, "run: python tests/docs/in_the_wild.py > docs/in-the-wild.md"
    assert written.count("\n## ") > 5

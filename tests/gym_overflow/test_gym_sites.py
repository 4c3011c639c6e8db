"""Every site is found by its variable's name; a binding that cannot be read is loud, never passed over."""

from pathlib import Path

import pytest

from contracts.gym_overflow.gym import (
    HandlerNotUnderstood,
    SiteNotFound,
    SourceUnreadable,
    UnsupportedExpression,
    load_gym,
)
from contracts.gym_overflow.gym.sites import Site, find_sites
from contracts.gym_overflow.gym.syntax import SourceText

MODULE = """\
class Proxy:
    def ask(self):
        try:
            answer()
        except Refused as e:
            body = e.response_content.decode()
            {binding}
            if is_out_of_context_length:
                return Made(choices=[Choice(finish_reason="length", message=Message(content=None))])
            raise
{below}
"""
PLAIN = "is_out_of_context_length = e.status == 400 and 'context length' in body"


def sites_of(text: str) -> tuple[Site, ...]:
    return find_sites(SourceText(text, "gym/app.py"))


def module(binding: str = PLAIN, below: str = "", **replaced: str) -> str:
    text = MODULE.format(binding=binding, below=below)
    for old, new in replaced.items():
        text = text.replace({"body": "body = e.response_content.decode()"}[old], new)
    return text


def test_a_plain_and_an_annotated_assignment_are_read() -> None:
    for binding in (PLAIN, PLAIN.replace(" = ", ": bool = ", 1)):
        (site,) = sites_of(module(binding))
        assert (site.file, site.line, site.function) == ("gym/app.py", 7, "Proxy.ask")
        assert site.classifier.evaluate(400, "the context length is over")


@pytest.mark.parametrize(
    "binding",
    [
        "is_out_of_context_length |= e.status == 400",
        "is_out_of_context_length, other = True, False",
        "other = is_out_of_context_length = e.status == 400",
        "(is_out_of_context_length := e.status == 400)",
        "is_out_of_context_length: bool",
        "del is_out_of_context_length",
        "global is_out_of_context_length",
        "import is_out_of_context_length",
        "from words import found as is_out_of_context_length",
        "for is_out_of_context_length in (True,): pass",
        "with found() as is_out_of_context_length: pass",
        "self.is_out_of_context_length = e.status == 400",
        "def is_out_of_context_length(): pass",
        "class is_out_of_context_length: pass",
        "found = lambda is_out_of_context_length: 1",
        "found = [is_out_of_context_length for is_out_of_context_length in body]",
        "[is_out_of_context_length, *rest] = body",
        "is_out_of_context_length = open('x')",
    ],
)
@pytest.mark.parametrize("beside", [True, False], ids=["beside a readable one", "alone"])
def test_any_other_binding_is_refused_by_file_and_line(binding: str, *, beside: bool) -> None:
    text = module(PLAIN, f"\n\n\ndef more(e, body):\n    {binding}") if beside else module(binding)
    with pytest.raises(UnsupportedExpression, match=rf"gym/app\.py:{15 if beside else 7}: "):
        sites_of(text)


@pytest.mark.parametrize(
    "pattern",
    ["case is_out_of_context_length:", "case [*is_out_of_context_length]:", "case {**is_out_of_context_length}:"],
)
def test_a_binding_by_a_pattern_is_refused_too(pattern: str) -> None:
    text = module(PLAIN, f"\n\ndef more(e):\n    match e:\n        {pattern}\n            pass")
    with pytest.raises(UnsupportedExpression, match=r"gym/app\.py:15: .*bound by something else"):
        sites_of(text)


def test_a_file_without_the_variable_says_what_was_looked_for_and_what_comes_near() -> None:
    text = module().replace("is_out_of_context_length", "is_context_overflow")
    with pytest.raises(
        SiteNotFound,
        match=r"gym/app\.py: looked for an assignment to `is_out_of_context_length` and found none\. "
        r"Nearest: `is_context_overflow` at gym/app\.py:7\.",
    ):
        sites_of(text)
    with pytest.raises(SiteNotFound, match="No other variable of it comes near"):
        sites_of("x = 1\n")


def test_a_classifier_outside_a_function_or_an_except_block_is_refused() -> None:
    with pytest.raises(UnsupportedExpression, match="it stands in no function"):
        sites_of("is_out_of_context_length = True\n")
    with pytest.raises(UnsupportedExpression, match="in no `except"):
        sites_of("def ask(e):\n    is_out_of_context_length = e.status == 400\n")
    with pytest.raises(UnsupportedExpression, match="in no `except"):
        sites_of("try: pass\nexcept E as e:\n    def f():\n        is_out_of_context_length = e.status == 400\n")


@pytest.mark.parametrize(
    "body",
    [
        "body = e.response_content.decode('utf-8')",
        "body = e.response_content.decode(errors='replace')",
        "body: str = e.response_content.decode(encoding='UTF8', errors='ignore')",
        "raw = e.response_content.decode(); body = raw",
    ],
)
def test_the_body_is_followed_from_the_exceptions_content(body: str) -> None:
    (site,) = sites_of(module(body=body))
    assert site.classifier.evaluate(400, "context length")


def test_a_lower_cased_body_and_a_status_of_its_own_name_are_followed() -> None:
    (site,) = sites_of(
        module(
            "is_out_of_context_length = status == 400 and 'context length' in body",
            body="status = e.status_code; body = e.response_content.decode().lower()",
        )
    )
    assert site.classifier.evaluate(400, "Context Length")
    assert not site.classifier.evaluate(500, "Context Length")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("body = e.response_content.decode('latin-1')", "it is bound at gym/app.py:6"),
        ("body = e.response_content.decode(codec)", "it is bound at gym/app.py:6"),
        ("body = e.response_content.decode().upper()", "it is bound at gym/app.py:6"),
        ("body = e.message", "it is bound at gym/app.py:6 to `e.message`"),
        ("body = other.response_content.decode()", "it is bound at gym/app.py:6"),
        ("body = e.response_content.decode(); body = body[:9]", "bound more than once"),
        ("body = e.response_content.decode(); body += 'max_tokens'", "bound more than once"),
        ("for body in (1,): pass", "bound neither to the status nor to the decoded body"),
        ("if body_wanted: body = e.response_content.decode()", "bound neither to the status"),
        ("e = other(); body = e.response_content.decode()", "which is neither the status nor the decoded body"),
        ("pass", "bound neither to the status nor to the decoded body"),
    ],
)
def test_a_body_that_cannot_be_followed_is_refused_with_the_reason(body: str, reason: str) -> None:
    with pytest.raises(UnsupportedExpression) as refused:
        sites_of(module("is_out_of_context_length = 'context length' in body", body=body))
    assert reason in str(refused.value)


def test_a_body_that_is_bound_only_afterwards_is_refused() -> None:
    classifier = "is_out_of_context_length = 'context length' in body"
    with pytest.raises(UnsupportedExpression, match="bound neither to the status nor to the decoded body"):
        sites_of(module(f"{classifier}; body: str = e.response_content.decode()", body="pass"))


def test_a_rebound_exception_has_no_status() -> None:
    with pytest.raises(UnsupportedExpression, match="only readable attribute is the caught exception's status"):
        sites_of(module("e = other(); is_out_of_context_length = e.status == 400"))


def test_a_file_with_its_own_any_is_refused_only_where_any_is_used() -> None:
    own = "\n\ndef any(items):\n    return False"
    assert sites_of(module(PLAIN, own))
    with pytest.raises(UnsupportedExpression, match="binds the name `any` itself"):
        sites_of(module("is_out_of_context_length = any(word in body for word in ('a',))", own))


def test_a_second_use_of_the_decision_is_refused() -> None:
    with pytest.raises(HandlerNotUnderstood, match=r"gym/app\.py:12: .*`is_out_of_context_length` is read here too"):
        sites_of(module(PLAIN, "\n        log(is_out_of_context_length)"))


def test_a_nested_function_has_its_full_name() -> None:
    text = "\n".join(f"    {line}" for line in module().splitlines())
    (site,) = sites_of(f"async def outer():\n{text}\n")
    assert site.function == "outer.<locals>.Proxy.ask"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_and_text_are_exact_for_every_line_end_and_for_wide_characters(newline: str) -> None:
    expression = "e.status == 400 and (\n                'ä€😀' in body or 'max_tokens' in body)"
    text = module(f"is_out_of_context_length = {expression}").replace("\n", newline)
    (site,) = sites_of("# ä\f€" + newline + text)
    assert site.line == 8
    assert site.classifier.source == expression.replace("\n", newline)


@pytest.mark.parametrize(
    "text",
    ["def broken(:\n", "x = '\0'\n", "(" * 300 + ")" * 300, "x = " + "-" * 200_000 + "1\n"],
    ids=["syntax", "null", "parentheses", "depth"],
)
def test_a_file_that_does_not_parse_is_a_clear_error(text: str) -> None:
    with pytest.raises(SourceUnreadable, match=r"^gym/app\.py:?\d*: "):
        sites_of(text)


def test_a_deep_but_valid_file_is_read() -> None:
    deep = "x = " + " + ".join("1" * 600)
    assert len(sites_of(module(PLAIN, deep))) == 1


def test_a_source_that_would_act_when_run_is_only_read(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    file = tmp_path / "app.py"
    file.write_text(f"open({str(marker)!r}, 'w')\n{module()}", "utf-8")
    assert load_gym(str(file)).sites[0].line == 8
    file.write_text(module(f"is_out_of_context_length = bool(open({str(marker)!r}, 'w'))"), "utf-8")
    with pytest.raises(UnsupportedExpression, match="Nothing of the file was executed"):
        _ = load_gym(str(file)).sites
    assert not marker.exists()

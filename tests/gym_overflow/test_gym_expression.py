"""The whitelist: what is read means what it means in Python, everything else is refused by file and line."""

import ast

import pytest

from contracts.gym_overflow.gym.binding import Bindings
from contracts.gym_overflow.gym.classifier import Classifier
from contracts.gym_overflow.gym.errors import EvaluationError, UnsupportedExpression
from contracts.gym_overflow.gym.nodes import Body, Lower
from contracts.gym_overflow.gym.syntax import SourceText

NAMES = Bindings("e", {"body": Body(), "lowered": Lower(Body())}, {"other": "it is bound elsewhere"})


def parsed(expression: str, *, any_is_builtin: bool = True) -> Classifier:
    source = SourceText(f"decision = (\n  {expression}\n)\n", "gym/app.py")
    statement = source.module.body[0]
    assert isinstance(statement, ast.Assign), "the template is one assignment"
    return Classifier.parse(statement.value, source, NAMES, any_is_builtin=any_is_builtin)


@pytest.mark.parametrize(
    ("expression", "status", "body", "overflow"),
    [
        ("e.status == 400 and 'context length' in body", 400, "the context length is", True),
        ("e.status == 400 and 'context length' in body", 400, "the Context Length is", False),
        ("e.status_code == 400", 400, "", True),
        ("'context length' in body.lower()", 400, "the Context Length is", True),
        ("'context length' in lowered", 400, "the Context Length is", True),
        ("'CONTEXT'.lower() in lowered", 400, "Context", True),
        ("any(word in body for word in ('context length', 'max_tokens'))", 500, "max_tokens", True),
        ("any(word.lower() in lowered for word in ['MAX', 'LEN'])", 500, "x len", True),
        ("any(e.status == s for s in {400, 413})", 413, "", True),
        ("any(word in body for word in ())", 400, "anything", False),
        ("e.status in (400, 413)", 413, "", True),
        ("e.status not in [400, 413]", 413, "", False),
        ("400 <= e.status < 500", 499, "", True),
        ("400 <= e.status < 500", 500, "", False),
        ("e.status != 400 or not body", 400, "", True),
        ("body", 400, "words", True),
        ("None", 400, "words", False),
        ("body == '' or (e.status > 399 and e.status >= 400 and e.status <= 400)", 400, "x", True),
    ],
)
def test_what_is_read_means_what_it_says(expression: str, status: int, body: str, *, overflow: bool) -> None:
    assert parsed(expression).evaluate(status, body) is overflow


HOSTILE = [
    "__import__('os').system('true')",
    "open('/etc/passwd').read() in body",
    "eval('1')",
    "exec('1')",
    "compile('1', '', 'eval')",
    "print(body)",
    "getattr(e, 'status') == 400",
    "e.__class__.__mro__",
    "e.status.__class__",
    "e.response_content.decode()",
    "e.args",
    "e",
    "body.__class__",
    "body.upper()",
    "body.format(e)",
    "body.lower(1)",
    "body.lower(x=1)",
    "body.lower",
    "'a'.join(body)",
    "e.status.lower()",
    "(1).lower()",
    "('a', 'b').lower()",
    "self.config.model in body",
    "other in body",
    "unknown == 400",
    "any(word in body for word in body)",
    "any(word in body for word in unknown)",
    "any(word in body for word in ('a', unknown))",
    "any(word in body for word in ('a',) if word)",
    "any(word in body for word in ('a',) for other in ('b',))",
    "any(a in b for a, b in (('x', 'y'),))",
    "any([word in body for word in ('a',)])",
    "any(any(word in body for word in ('x',)) for other in ('y',))",
    "any(any(a == b for a in ('x',)) for b in ('y',))",
    "any(e.status for e in ('a',))",
    "any(word.status for word in ('a',))",
    "any(body)",
    "any(*('a',))",
    "any(word async for word in ('a',))",
    "all(word in body for word in ('a',))",
    "[word for word in ('a',)]",
    "{word for word in body}",
    "{word: 1 for word in body}",
    "(word for word in body)",
    "(body := 'context length')",
    "(found := 'x' in body) and found",
    "f'{body}' == ''",
    "f'{__import__(\"os\")}' in body",
    "lambda: True",
    "(lambda: True)()",
    "body + 'x'",
    "'%s' % body",
    "9 ** 9 ** 9",
    "-1 == e.status",
    "~e.status",
    "body[0] == 'x'",
    "body[:10]",
    "(*body,)",
    "[*'ab']",
    "'x' if body else 'y'",
    "e.status is 400",
    "body is not None",
    "await body",
    "(yield body)",
    "1.5 < e.status",
    "2j",
    "b'x' in body",
    "...",
    "e.status in (400, (413,))",
    "e.status in range(400, 500)",
    "{'a': 1}",
    "{**body}",
    "NotImplemented",
    "__builtins__",
    "not " * 60 + "body",
    "e.status in (" + "400," * 500 + ")",
    "body" + " or body" * 500,
]


@pytest.mark.parametrize("expression", HOSTILE, ids=[text[:40] for text in HOSTILE])
def test_everything_else_is_refused_by_file_and_line(expression: str) -> None:
    with pytest.raises(UnsupportedExpression, match=r"^gym/app\.py:2: `.*cannot be read.*Allowed: "):
        parsed(expression)


def test_the_refusal_shows_the_offending_piece_and_the_reason() -> None:
    with pytest.raises(UnsupportedExpression, match=r"`open\('x'\)` cannot be read .* calls other than"):
        parsed("e.status == 400 and (body == 'x' or open('x'))")
    with pytest.raises(UnsupportedExpression, match=r"`other` cannot be read .* it is bound elsewhere"):
        parsed("'x' in other")


def test_a_long_piece_is_shown_shortened() -> None:
    with pytest.raises(UnsupportedExpression, match=r"`'a+ \.\.\.` cannot be read"):
        parsed("'" + "a" * 500 + "' + body")


def test_any_is_refused_where_the_file_has_its_own() -> None:
    expression = "any(word in body for word in ('a',))"
    assert parsed(expression).evaluate(400, "a")
    with pytest.raises(UnsupportedExpression, match="binds the name `any` itself"):
        parsed(expression, any_is_builtin=False)


@pytest.mark.parametrize(
    "expression",
    ["'x' < e.status", "e.status in body", "'x' in e.status", "any(w.lower() for w in (1,))", "['a'] in {'a'}"],
)
def test_an_expression_that_raises_in_python_is_a_clear_error(expression: str) -> None:
    with pytest.raises(EvaluationError, match=r"gym/app\.py:2: .* raises for status 400 and a body of 3 char"):
        parsed(expression).evaluate(400, "abc")


def test_an_operand_that_python_never_reaches_raises_nothing() -> None:
    assert parsed("e.status == 400 or e.status < 'x'").evaluate(400, "")
    assert not parsed("1 > 2 > 'x'").evaluate(400, "")


@pytest.mark.parametrize(
    ("expression", "triggers", "statuses"),
    [
        ("e.status == 400 and ('b' in body or 'a' in body or 'b' in lowered)", ("b", "a"), (400,)),
        ("any(w in body for w in ('x', 'y')) and any(s == e.status for s in [400, 413])", ("x", "y"), (400, 413)),
        ("any(w.lower() in body for w in ('X',)) or 'Q'.lower() in body", ("x", "q"), ()),
        ("e.status in {413, 400} and 'rate' not in body", ("rate",), (400, 413)),
        ("400 <= e.status < 500 and e.status != True", (), (400, 500)),
        ("'x' in ('x', 'y') or body == 'z'", (), ()),
    ],
)
def test_triggers_and_statuses_are_listed(
    expression: str, triggers: tuple[str, ...], statuses: tuple[int, ...]
) -> None:
    classifier = parsed(expression)
    assert (classifier.triggers, classifier.statuses) == (triggers, statuses)
    assert classifier.source == expression


def test_the_exact_text_is_kept_and_a_one_line_form_beside_it() -> None:
    classifier = parsed('e.status == 400 and (  # why\n    "ä" in body\n  )')
    assert classifier.source == 'e.status == 400 and (  # why\n    "ä" in body\n  )'
    assert classifier.normalized == "e.status == 400 and 'ä' in body"

"""What follows the decision is read by known forms; every other form is refused by file and line."""

import pytest

from contracts.gym_overflow.gym import Handler, HandlerNotUnderstood
from contracts.gym_overflow.gym.sites import find_sites
from contracts.gym_overflow.gym.syntax import SourceText

MODULE = """\
class Settings:
    pass_on: bool = True

class Proxy:
    def ask(self):
        try:
            answer()
        except Refused as e:
            note()
            is_out_of_context_length = e.status == 400
            if is_out_of_context_length:
                {branch}
            {otherwise}

    def made(self):
        '''Make it.'''
        return Made(id="m-1", choices=[Choice(index=0, finish_reason="stop", message=Message({message}))])

def made():
    return Made(choices=[Choice(finish_reason="tool_calls", message=Message())])
"""
EMPTY = 'role="assistant", content=None, tool_calls=[]'
INLINE = 'Made(choices=[Choice(finish_reason="length", message=Message(content=""))])'


def text_of(branch: str = "return self.made()", otherwise: str = "raise", message: str = EMPTY) -> str:
    return MODULE.format(branch=branch.replace("\n", "\n" + " " * 16), otherwise=otherwise, message=message)


def handler_of(text: str) -> Handler:
    (site,) = find_sites(SourceText(text, "gym/app.py"))
    return site.handler


@pytest.mark.parametrize(
    ("branch", "reason", "builder", "completion_id"),
    [
        ("return self.made()", "stop", "made", "m-1"),
        ("return made()", "tool_calls", "made", None),
        (f"return {INLINE}", "length", "Made", None),
        ("res = self.made()\nres.choices[0].finish_reason = 'length'\nreturn res", "length", "made", "m-1"),
        ("res = self.made()\nnote(reason='x')\nreturn res", "stop", "made", "m-1"),
    ],
)
def test_the_finish_reason_is_the_one_that_is_finally_set(
    branch: str, reason: str, builder: str, completion_id: str | None
) -> None:
    handler = handler_of(text_of(branch))
    assert handler == Handler(reason, True, None, None, "raise", builder, completion_id, line=handler.line)  # noqa: FBT003 - one positional line says it all
    assert handler.line == 11


@pytest.mark.parametrize("message", ['content="sorry"', "content=None, tool_calls=[call]", "content=text"])
def test_a_completion_with_content_is_not_empty(message: str) -> None:
    assert not handler_of(text_of(message=message)).empty_completion


@pytest.mark.parametrize("leave", ["raise", "raise e", "setattr(e, 'mark', True)\n    raise"])
def test_a_flag_that_propagates_is_read_with_its_default(leave: str) -> None:
    handler = handler_of(text_of(f"if self.config.pass_on:\n    {leave}\nreturn self.made()"))
    assert (handler.propagate_flag, handler.propagate_default, handler.finish_reason) == ("pass_on", True, "stop")


def test_a_flag_that_this_file_does_not_declare_has_no_known_default() -> None:
    handler = handler_of(text_of("if self.config.elsewhere:\n    raise\nreturn self.made()"))
    assert (handler.propagate_flag, handler.propagate_default) == ("elsewhere", None)


def test_a_flag_that_is_declared_twice_has_no_known_default() -> None:
    text = text_of("if self.config.pass_on:\n    raise\nreturn self.made()")
    assert handler_of(f"{text}\nclass Others:\n    pass_on: bool = False\n").propagate_default is None


@pytest.mark.parametrize("branch", ["raise e", "res = self.made()\nraise"])
def test_a_branch_that_always_raises_answers_with_nothing(branch: str) -> None:
    handler = handler_of(text_of(branch))
    assert (handler.finish_reason, handler.empty_completion, handler.builder) == (None, False, None)


@pytest.mark.parametrize(
    ("otherwise", "read"),
    [
        ("raise", "raise"),
        ("raise e", "raise"),
        ("else:\n                raise e", "raise"),
        ("else:\n                note()\n            raise", "raise"),
        ("note()", "swallow"),
        ("else:\n                pass", "swallow"),
        ("", "swallow"),
    ],
)
def test_the_way_out_for_other_errors_is_read(otherwise: str, read: str) -> None:
    assert handler_of(text_of(otherwise=otherwise)).otherwise == read


@pytest.mark.parametrize(
    "branch",
    [
        "pass",
        "note()",
        "return None",
        "return other",
        "return self.config.made()",
        "return self.absent()",
        "return self.made(1)",
        "return Made()",
        "return Made(choices=[])",
        "return Made(choices=[choice])",
        "return Made(choices=[Choice(), Choice()])",
        "return Made(**fields)",
        "return Made(choices=[Choice('length', message=Message())])",
        "return Made(choices=[Choice(finish_reason=reason, message=Message())])",
        "return Made(choices=[Choice(finish_reason='length')])",
        "return Made(choices=[Choice(finish_reason='length', message=Message('text'))])",
        "return await_it(self.made())",
        "res = self.made()\nchange(res)\nreturn res",
        "res = self.made()\nres.choices[1].finish_reason = 'length'\nreturn res",
        "res = self.made()\nres.choices[0].finish_reason = reason\nreturn res",
        "res = self.made()\nother.choices[0].finish_reason = 'length'\nreturn res",
        "if self.config.pass_on:\n    return None\nreturn self.made()",
        "if self.config.pass_on:\n    raise\nelse:\n    note()\nreturn self.made()",
        "if pass_on:\n    raise\nreturn self.made()",
        "if self.config.pass_on:\n    raise\nif self.config.other:\n    raise\nreturn self.made()",
        "raise Other()",
        "raise e from None",
        "while True:\n    pass",
    ],
)
def test_an_unknown_answer_to_an_overflow_is_refused(branch: str) -> None:
    with pytest.raises(HandlerNotUnderstood, match=r"^gym/app\.py:1\d: .*cannot be read: .*teach the reader"):
        handler_of(text_of(branch))


@pytest.mark.parametrize(
    "otherwise",
    [
        "raise Other()",
        "raise e from None",
        "return None",
        "else:\n                return self.made()",
        "x = 1",
        "if x: raise",
    ],
)
def test_an_unknown_way_out_for_other_errors_is_refused(otherwise: str) -> None:
    with pytest.raises(HandlerNotUnderstood, match=r"gym/app\.py:1\d: .*neither re-raised nor dropped"):
        handler_of(text_of(otherwise=otherwise))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("note()", "if e.status == 500: return None", "can be left before the classifier"),
        ("note()", "if e.status == 500: raise", "can be left before the classifier"),
        ("if is_out_of_context_length:", "return\n            if is_out_of_context_length:", "follows the classifier"),
        ("if is_out_of_context_length:", "if not is_out_of_context_length:", "no `if is_out_of_context_length:`"),
        ("if is_out_of_context_length:", "if is_out_of_context_length and x:", "no `if is_out_of_context_length:`"),
        ("except Refused", "except* Refused", "a group of errors"),
        ("is_out_of_context_length = ", "if x: is_out_of_context_length = ", "nested block"),
        ("def made(self):", "def made(self):\n        note()\n", "more than one returned constructor call"),
        ("def made(self):", "async def made(self):", "more than one returned constructor call"),
        ("    def made(self):", "    def made(self): pass\n    def made(self):", "is defined 2 times"),
    ],
)
def test_a_handler_that_could_be_passed_by_is_refused(old: str, new: str, reason: str) -> None:
    text = text_of()
    assert old in text
    with pytest.raises(HandlerNotUnderstood) as refused:
        handler_of(text.replace(old, new, 1))
    assert reason in str(refused.value)


def test_a_loop_left_by_break_does_not_leave_the_block() -> None:
    text = text_of().replace("note()", "for x in e.args:\n                if x: break", 1)
    assert handler_of(text).otherwise == "raise"


@pytest.mark.parametrize(
    ("around", "reason"),
    [
        ("except OSError:\n            pass", "an enclosing `try` may catch what is re-raised"),
        ("finally:\n            return None", "`finally` leaves the function"),
    ],
)
def test_an_enclosing_try_that_changes_the_way_out_is_refused(around: str, reason: str) -> None:
    lines = text_of().splitlines()
    start, end = lines.index("        try:"), lines.index("            raise") + 1
    inner = "\n".join(f"    {line}" for line in lines[start:end])
    text = "\n".join([*lines[:start], "        try:", inner, f"        {around}", *lines[end:]])
    with pytest.raises(HandlerNotUnderstood) as refused:
        handler_of(text)
    assert reason in str(refused.value)

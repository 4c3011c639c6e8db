"""What an expression looks for: the words it seeks in the body and the numbers it holds the status against."""

from contracts.gym_overflow.gym.nodes import Body, Comparison, Constant, Item, Lower, Node, Status, walk


def triggers(root: Node) -> tuple[str, ...]:
    """String constants that are looked up in the body (`in` or `not in`), in order of appearance."""
    found: dict[str, None] = {}
    for node, items in walk(root):
        if isinstance(node, Comparison):
            left = node.left
            for comparator, right in node.rest:
                if comparator in {"In", "NotIn"} and _is_body(right):
                    found.update(dict.fromkeys(_strings(left, items)))
                left = right
    return tuple(found)


def statuses(root: Node) -> tuple[int, ...]:
    """Whole numbers that the status is compared with, in order of appearance."""
    found: dict[int, None] = {}
    for node, items in walk(root):
        if isinstance(node, Comparison):
            operands = [node.left, *(operand for _, operand in node.rest)]
            if any(isinstance(operand, Status) for operand in operands):
                for operand in operands:
                    found.update(dict.fromkeys(_numbers(operand, items)))
    return tuple(found)


def _is_body(node: Node) -> bool:
    return isinstance(node, Body) or (isinstance(node, Lower) and _is_body(node.text))


def _strings(node: Node, items: tuple[object, ...]) -> tuple[str, ...]:
    match node:
        case Constant(str() as text):
            return (text,)
        case Item():
            return tuple(item for item in items if isinstance(item, str))
        case Lower(text):
            return tuple(string.lower() for string in _strings(text, items))
        case _:
            return ()


def _numbers(node: Node, items: tuple[object, ...]) -> tuple[int, ...]:
    match node:
        case Constant(tuple() | list() as members):
            candidates = tuple(members)
        case Constant(frozenset() as members):
            candidates = tuple(sorted(member for member in members if isinstance(member, int)))
        case Constant(constant):
            candidates = (constant,)
        case Item():
            candidates = items
        case _:
            candidates = ()
    return tuple(member for member in candidates if isinstance(member, int) and not isinstance(member, bool))

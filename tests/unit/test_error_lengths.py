"""Error messages are short enough to be read."""

import ast
from pathlib import Path

import pytest

MOST_CHARS = 200
HOLE_CHARS = 10
"""What a value in a message is taken to need: an id is longer, a figure shorter."""


def measure(node: ast.expr) -> int:
    """How long the longest text below a node is, its values filled in."""
    return max((_measure_text(it) for it in ast.walk(node)), default=0)


def _measure_text(node: ast.AST) -> int:
    match node:
        case ast.Constant(value=str(text)):
            return len(text)
        case ast.JoinedStr(values=parts):
            return sum(len(str(it.value)) if isinstance(it, ast.Constant) else HOLE_CHARS for it in parts)
    return 0


def list_raised(tree: ast.AST) -> list[ast.Call]:
    """The errors that a module raises or returns."""
    made = [it.exc if isinstance(it, ast.Raise) else it.value for it in ast.walk(tree) if _may_raise(it)]
    return [it for it in made if isinstance(it, ast.Call) and ast.unparse(it.func).endswith("Error")]


def _may_raise(node: ast.AST) -> bool:
    return isinstance(node, ast.Raise | ast.Return)


def test_messages_are_short(project: Path) -> None:
    """No error of ours has a message of over 200 characters."""
    source = project / "src" / "everfold"
    raised = [
        (f"{path.relative_to(source)}:{call.lineno}", measure(call))
        for path in sorted(source.rglob("*.py"))
        for call in list_raised(ast.parse(path.read_text("utf-8")))
    ]
    assert len(raised) > 300
    assert [it for it in raised if it[1] > MOST_CHARS] == []


@pytest.mark.parametrize(
    "source", ["raise OurError('{}')", "raise OurError(f'{}{{name}}')", "def f():\n return OurError('{}')"]
)
def test_a_long_message_is_found(source: str) -> None:
    """A message that is too long is found wherever it is raised, with or without values in it."""
    [call] = list_raised(ast.parse(source.format("x" * (MOST_CHARS + 1))))
    assert measure(call) > MOST_CHARS

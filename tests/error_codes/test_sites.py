"""Every text of an error or a warning is written with its code."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "gpuetl"
TELLING = {
    "add", "problem", "warn", "warning", "because", "Problem", "BadValue", "InvalidExpression", "DatasetError",
    "EvaluationError", "EngineUnavailable", "PackageMissing", "RunFailed", "ContractBroken", "NoResult",
}  # fmt: skip
"""Functions and exceptions whose first argument is such a text; a `TypeMismatch` has a code of its own."""
PLACED = {"at": 1}
"""Those where it is another one."""


def name_of(call):
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def collects(call):
    """Tell whether a call of `add` is one of problems: sets, and others, have the method, too."""
    of = call.func.value if isinstance(call.func, ast.Attribute) else None
    return name_of(call) != "add" or (getattr(of, "attr", "") or getattr(of, "id", "")).endswith("problems")


def is_text(node):
    """Tell whether an argument is written here: a text, or one with values put in."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return is_text(node.left) or is_text(node.right)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def without_code(path):
    """Yield the places of texts that are written without a code."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and (name := name_of(node)) in {*TELLING, *PLACED} and collects(node):
            place = PLACED.get(name, 0)
            if len(node.args) > place and is_text(node.args[place]):
                yield f"{path.relative_to(SOURCE)}:{node.lineno}: {name}"


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_text_has_a_code(path):
    assert list(without_code(path)) == []

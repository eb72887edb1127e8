"""The arithmetic of a row in a Triton kernel, estimated from its text where that says how much there is."""

from __future__ import annotations

import ast

LOADS, STORES = ("load",), ("store",)
INDICES = ("program_id", "num_programs", "arange")
"""Calls that say which rows a program computes."""
UNCOUNTED = ("where", "zeros", "full", "cast", "to", "broadcast_to", "zeros_like", "full_like", "cdiv", "static_assert")
"""Calls that do no arithmetic on values."""
COUNTED = (
    "abs", "ceil", "cos", "div_rn", "erf", "exp", "exp2", "floor", "fma", "fdiv", "log", "log2", "maximum", "minimum",
    "rsqrt", "sigmoid", "sin", "sqrt", "sqrt_rn",
)  # fmt: skip
"""Calls that count as one operation, as functions of <math.h> do in CUDA kernels."""
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
LOOPS = (ast.For, ast.While, ast.AsyncFor, ast.comprehension)


class NotCounted(Exception):
    """The text does not say how much arithmetic there is."""


def triton_flops(function: ast.FunctionDef) -> float | None:
    """Count operators and calls on what a kernel without loops loads; None where the text does not tell.

    Addresses, masks, and what is computed once for a block do not count.  A loop, and a call of another function, such
    as a reduction over the block, is not counted, so there is no estimate then.
    """
    if any(isinstance(each, LOOPS) for each in ast.walk(function)):
        return None
    counter = Counter()
    try:
        for statement in function.body:
            counter.visit(statement)
    except NotCounted:
        return None
    return float(counter.count)


class Counter(ast.NodeVisitor):
    """Counts in the order of statements; `values` are the names that hold what was loaded, or was computed of it."""

    def __init__(self) -> None:
        self.count, self.values = 0, set[str]()

    def has_values(self, node: ast.AST) -> bool:
        """Return whether an expression has loaded values."""
        if isinstance(node, ast.Name):
            return node.id in self.values
        if isinstance(node, ast.Call) and called(node) in LOADS:
            return True
        return any(map(self.has_values, ast.iter_child_nodes(node)))

    def visit_Assign(self, node: ast.Assign) -> None:
        """Note which names hold values."""
        self.visit(node.value)
        for target in node.targets:
            self.note(target, self.has_values(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """`a += b` is an operation."""
        self.visit(node.value)
        has_values = self.has_values(node.value) or self.has_values(node.target)
        self.count += has_values and isinstance(node.op, ARITHMETIC)
        self.note(node.target, has_values)

    def note(self, target: ast.AST, has_values: bool) -> None:
        """Note a name, or those of a tuple."""
        names = {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
        self.values = self.values | names if has_values else self.values - names

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Count an operator on values."""
        self.generic_visit(node)
        self.count += isinstance(node.op, ARITHMETIC) and self.has_values(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Count a call, or what is in it; leave addresses out."""
        name = called(node)
        if name in LOADS:
            return
        if name in STORES:
            for value in (*node.args[1:2], *(word.value for word in node.keywords if word.arg == "value")):
                self.visit(value)
            return
        if name not in (*COUNTED, *UNCOUNTED, *INDICES):
            raise NotCounted(name)
        self.generic_visit(node)
        self.count += name in COUNTED and self.has_values(node)


def called(node: ast.Call) -> str:
    """Return the last part of the name of what is called."""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")

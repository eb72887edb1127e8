"""What has to be a column before a kernel can read it: texts that are written, and what libcudf computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import TypeGuard

from gpuetl.engines.cudf.expressions.emit import writer_of
from gpuetl.engines.cudf.expressions.functions import DEVICE_FUNCTIONS, Library
from gpuetl.engines.cudf.expressions.kernels import MOST_KEPT
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Cast, Column, Expr, Literal, can_fail, transform
from gpuetl.records import dataclass
from gpuetl.types.data_types import BOOL, STRING, DataType, is_list

TRUE, FALSE = Literal(True, BOOL), Literal(False, BOOL)


@dataclass(frozen=True)
class PreparedColumn(Column):
    """A column that is computed first, and the expression whose values it holds."""

    source: Expr


def as_written(expr: Expr) -> Expr:
    """Return the expression with its sources in the place of prepared columns."""
    return transform(expr, lambda node: node.source if isinstance(node, PreparedColumn) else node)


@dataclass
class Preparation:
    """Columns to compute first, in order: their names, which begin with a colon, and their expressions."""

    columns: dict[str, Expr] = field(default_factory=dict)
    known: dict[Expr, Column] = field(default_factory=dict)

    def root(self, expr: Expr, guard: Expr = TRUE) -> Expr:
        """Return the expression of a whole column: it may be one that is written, or computed by libcudf."""
        if chooses(expr) and (expr.dtype == STRING or is_list(expr.dtype)):
            return self.chosen(expr, guard, self.list_operand if is_list(expr.dtype) else self.root)
        if writer_of(expr) is not None or is_library(expr):
            return self.operands(expr, guard)
        return self.part(expr, guard)

    def part(self, expr: Expr, guard: Expr = TRUE) -> Expr:
        """Return what a kernel can compute for a row where `guard` is true."""
        if writer_of(expr) is not None or is_whole(expr):
            return self.column(expr, guard)
        if chooses(expr):
            return self.chosen(expr, guard, self.part)
        return self.operands(expr, guard)

    def operands(self, expr: Expr, guard: Expr) -> Expr:
        """Return the expression with its operands prepared; those of libcudf's functions are columns or constants."""
        if isinstance(expr, Cast):
            return replace(expr, operand=self.part(expr.operand, guard))
        if not isinstance(expr, Call):
            return expr
        part = self.column if is_library(expr) else self.part
        return replace(expr, args=tuple(part(arg, guard) for arg in expr.args))

    def list_operand(self, expr: Expr, guard: Expr) -> Expr:
        """Return an operand of CASE or coalesce over lists."""
        return self.column(expr, guard) if is_list(expr.dtype) else self.part(expr, guard)

    def chosen(self, expr: Call, guard: Expr, prepare: Callable[[Expr, Expr], Expr]) -> Expr:
        """Return CASE or coalesce with each operand prepared for the rows that reach it."""
        args = [prepare(arg, both(guard, reached)) for arg, reached in zip(expr.args, reached_where(expr), strict=True)]
        return replace(expr, args=tuple(args))

    def column(self, expr: Expr, guard: Expr) -> Expr:
        """Return the column that holds the expression's values, at least where `guard` is true."""
        if isinstance(expr, Column | Literal):
            return expr
        guarded = expr if guard == TRUE or not can_fail(expr) else case(guard, expr, dtype=expr.dtype)
        if guarded not in self.known:
            prepared = self.root(expr, guard) if is_whole(expr) else self.root(guarded)
            name = f":{len(self.columns)}"
            self.columns[name] = prepared
            self.known[guarded] = PreparedColumn(name, expr.dtype, expr)
        return self.known[guarded]


def is_library(expr: Expr) -> bool:
    """Tell whether libcudf computes the function."""
    return isinstance(expr, Call) and isinstance(DEVICE_FUNCTIONS.get(expr.function.name), Library)


def is_whole(expr: Expr) -> bool:
    """Tell whether the expression is computed for whole columns: by libcudf, or as lists are."""
    return is_library(expr) or (isinstance(expr, Call) and is_list(expr.dtype))


def chooses(expr: Expr) -> TypeGuard[Call]:
    """Tell whether the expression is CASE or coalesce."""
    return isinstance(expr, Call) and expr.function.name in ("case", "coalesce")


def without_cast(expr: Expr) -> Expr:
    """Return a cast to a list as what it is: a list of that type already, or null."""
    if isinstance(expr, Cast) and is_list(expr.dtype):
        return expr.operand if expr.operand.dtype == expr.dtype else Literal(None, expr.dtype)
    return expr


def case(*args: Expr, dtype: DataType) -> Expr:
    """Return CASE of conditions and branches in turn."""
    return Call(FUNCTIONS["scalar", "case"], args, dtype)


def both(first: Expr, second: Expr) -> Expr:
    """Return a condition that looks at `second` only where `first` is true."""
    if TRUE in (first, second):
        return second if first == TRUE else first
    return case(first, second, FALSE, dtype=BOOL)


def reached_where(expr: Call) -> Iterator[Expr]:
    """Yield for each operand of CASE and coalesce the condition of the rows that compute it."""
    if expr.function.name == "coalesce":
        yield TRUE
        for place in range(1, len(expr.args)):
            before = replace(expr, args=expr.args[:place]) if place > 1 else expr.args[0]
            yield Call(FUNCTIONS["scalar", "is_null"], (before,), BOOL)
        return
    passed: list[Expr] = []
    for place in range(0, len(expr.args) - 1, 2):
        yield case(*passed, TRUE, dtype=BOOL) if passed else TRUE
        yield case(*passed, expr.args[place], TRUE, FALSE, dtype=BOOL)
        passed += [expr.args[place], FALSE]
    if len(expr.args) % 2:
        yield case(*passed, TRUE, dtype=BOOL)


def prepared(exprs: Mapping[str, Expr]) -> tuple[Mapping[str, Expr], Mapping[str, Expr]]:
    """Return the columns to compute first, and the expressions over them and the frame's columns."""
    return _prepared(tuple(exprs.items()))


@lru_cache(MOST_KEPT)
def _prepared(exprs: tuple[tuple[str, Expr], ...]) -> tuple[Mapping[str, Expr], Mapping[str, Expr]]:
    preparation = Preparation()
    outputs = {name: preparation.root(transform(expr, without_cast)) for name, expr in exprs}
    return preparation.columns, outputs

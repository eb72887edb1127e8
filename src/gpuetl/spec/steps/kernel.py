"""The kernel step."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

from gpuetl.errors import have_hint
from gpuetl.expressions.ir import Expr, columns_of
from gpuetl.expressions.types import NULL, DataType, type_name
from gpuetl.kernels.contract import KernelContract, KernelMismatch, device_type
from gpuetl.plan import nodes
from gpuetl.plan.node import Node
from gpuetl.plan.schema import Schema
from gpuetl.spec.fields import key
from gpuetl.spec.forms import COUNT, EXPRESSIONS, NAME, NAMES, ORDER, TYPES, choice
from gpuetl.spec.steps.rows import sort_keys
from gpuetl.spec.steps.step import Context, Step
from gpuetl.spec.values import Formula, Order

MAX_BLOCK = 1024  # threads: the limit of every CUDA device


@dataclass(frozen=True)
class Kernel(Step):
    """Columns from a user's CUDA kernel; its NumPy twin stands in where there is no GPU, and is its meaning."""

    verb: ClassVar[str] = "kernel"
    cuda: str = key(NAME)
    entry: str = key(NAME)
    inputs: tuple[str, ...] = key(NAMES)
    outputs: Mapping[str, DataType] = key(TYPES)
    reference: str = key(NAME)
    kind: str = key(choice("rows", "groups"), "")
    args: Mapping[str, Formula] = key(EXPRESSIONS, {})
    nulls: str = key(choice("propagate", "forbid", "masks"), "propagate")
    by: tuple[str, ...] = key(NAMES, ())
    order_by: tuple[Order, ...] = key(ORDER, ())
    block: int = key(COUNT, 256)

    @property
    def grouped(self) -> bool:
        """Whether the kernel sees groups: it says so, or has by or order_by."""
        return self.kind == "groups" or (not self.kind and bool(self.by or self.order_by))

    def build(self, context: Context, source: Node) -> Node:
        """Check the kernel's declaration against the columns and add the node."""
        schema = source.schema
        inputs, by = context.known(self.inputs, schema), context.keys(self.by, schema)
        contract = self.contract(context)
        if len(inputs) == len(self.inputs) or schema.open:
            self.check_contract(context, contract, schema)
        self.check_order(context)
        if not 1 <= self.block <= MAX_BLOCK:
            context.problem(f"block takes 1 to {MAX_BLOCK} threads, got {self.block}", "", self.entry)
        return nodes.Kernel(
            source=source, contract=contract, kind="groups" if self.grouped else "rows", reads=inputs,
            outputs=dict(self.outputs),
            arguments={str(name): self.argument(context, name) for name in self.args}, nulls=cast("Any", self.nulls),
            block=self.block, by=by, order_by=sort_keys(context, self.order_by, schema), origin=context.origin,
        )  # fmt: skip

    def contract(self, context: Context) -> KernelContract:
        """Return the kernel's files and functions; `reference` is `file.py:function`."""
        file, _, function = self.reference.rpartition(":")
        if not file or not function.isidentifier():
            context.problem(f"reference '{self.reference}' is not file.py:function", "", self.reference)
        elif not (context.folder / file).is_file():
            context.problem(
                f"the kernel's twin {context.folder / file} does not exist",
                "Write the kernel in NumPy there.",
                self.reference,
            )
        else:
            self.check_twin(context, context.folder / file, function)
        return KernelContract(Path(context.folder / self.cuda), self.entry, Path(context.folder / file), function)

    def check_twin(self, context: Context, path: Path, function: str) -> None:
        """Look for the twin and its arguments in its source, which is not run."""
        try:
            tree = syntax_tree(path)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            reason = getattr(error, "msg", None) or getattr(error, "strerror", None) or "it cannot be read"
            context.problem(f"the kernel's twin {path}{line}: {reason}", "Write it in Python.", self.reference)
            return
        if not {function, "*"} & {name for item in ast.walk(tree) if (name := _bound_name(item))}:
            defined = [item.name for item in tree.body if isinstance(item, ast.FunctionDef)]
            message = f"{path.name} has no function '{function}'"
            context.problem(message, have_hint(function, defined), self.reference)
        for item in tree.body:
            if isinstance(item, ast.FunctionDef) and item.name == function:
                self.check_arguments(context, item.args)

    def check_arguments(self, context: Context, takes: ast.arguments) -> None:
        """The twin takes the arguments by name."""
        names = [argument.arg for argument in (*takes.args, *takes.kwonlyargs)]
        for name in self.args:
            if name not in names and takes.kwarg is None:
                context.problem(f"the twin takes no argument '{name}'", have_hint(name, names), name)

    def check_contract(self, context: Context, contract: KernelContract, schema: Schema) -> None:
        """Compare the CUDA declaration with the step."""
        try:
            if schema.open:  # the inputs' types are not known
                _ = contract.parameters
                return
            inputs = {name: schema[name] for name in self.inputs}
            contract.check(inputs, self.outputs, tuple(self.args), self.grouped, self.nulls == "masks")
        except KernelMismatch as error:
            context.problem(f"{error}.", "", self.entry if "has no kernel" in str(error) else self.cuda)

    def check_order(self, context: Context) -> None:
        """Groups need keys and an order, rows have none."""
        if self.grouped and not self.order_by:
            context.problem("a kernel over groups needs order_by", "Add by and order_by.", self.entry)
        if self.kind == "rows" and (self.by or self.order_by):
            context.problem(
                "a kernel over rows has no by and order_by", "Set kind: groups, or take them out.", self.entry
            )

    def argument(self, context: Context, name: str) -> Expr:
        """Return a scalar argument: a constant or a parameter."""
        formula = self.args[name]
        value = context.expression(formula, Schema())
        if columns_of(value):
            context.problem(f"argument '{name}' is not a constant", "Give a number or a $parameter.", formula)
        elif value.dtype != NULL:
            try:
                device_type(value.dtype)
            except KernelMismatch:
                context.problem(f"argument '{name}' is a {type_name(value.dtype)}", "Kernels take numbers.", formula)
        return value


def syntax_tree(path: Path) -> ast.Module:
    """Parse and compile a Python file, of which nothing is run; raise as `compile` does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # loading it warns
        tree = ast.parse(path.read_bytes(), str(path))
        compile(tree, str(path), "exec", dont_inherit=True)
    return tree


def _bound_name(item: ast.AST) -> str | None:
    """Return the name that a function, an import or an assignment makes."""
    if isinstance(item, ast.FunctionDef):
        return item.name
    if isinstance(item, ast.alias):
        return item.asname or item.name
    return item.id if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store) else None

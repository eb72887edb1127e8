"""The kernel step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

from gpuetl.expressions.ir import Expr, columns_of
from gpuetl.expressions.types import DataType
from gpuetl.kernels.contract import KernelContract, KernelMismatch
from gpuetl.plan import nodes
from gpuetl.plan.node import Node
from gpuetl.plan.schema import Schema
from gpuetl.spec.fields import key
from gpuetl.spec.forms import COUNT, EXPRESSIONS, NAME, NAMES, ORDER, TYPES, choice
from gpuetl.spec.steps.rows import sort_keys
from gpuetl.spec.steps.step import Context, Step
from gpuetl.spec.values import Formula, Order


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
        inputs, by = context.known(self.inputs, schema), context.known(self.by, schema)
        contract = self.contract(context)
        if len(inputs) == len(self.inputs) and not schema.open:
            self.check_contract(context, contract, schema)
        self.check_order(context)
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
        return KernelContract(Path(context.folder / self.cuda), self.entry, Path(context.folder / file), function)

    def check_contract(self, context: Context, contract: KernelContract, schema: Schema) -> None:
        """Compare the CUDA declaration with the step."""
        inputs = {name: schema[name] for name in self.inputs}
        try:
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
        return value

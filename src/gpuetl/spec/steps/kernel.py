"""The kernel step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, cast

from gpuetl.expressions.ir import Expr, columns_of
from gpuetl.io.paths import url_problem
from gpuetl.messages import coded, recoded
from gpuetl.plan import nodes
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.sandbox import OutsideSandbox, current_sandbox
from gpuetl.spec.fields import key
from gpuetl.spec.forms import CODE, COUNT, EXPRESSIONS, NAME, NAMES, ORDER, TYPES, choice
from gpuetl.spec.steps.kernel_texts import check_texts, texts_of
from gpuetl.spec.steps.kernel_twin import twin_of
from gpuetl.spec.steps.rows import sort_keys
from gpuetl.spec.steps.step import Context, Step, Unknown
from gpuetl.spec.values import Formula, Order
from gpuetl.types.data_types import NULL, UNKNOWN, DataType, type_name
from gpuetl.types.schema import Schema
from gpuetl.user_kernels.contract import KernelContract, KernelMismatch, device_type
from gpuetl.user_kernels.kernel_texts import KernelTexts

MAX_BLOCK = 1024  # threads: the limit of every CUDA device
NEEDED = {
    "rows": ("cuda", "entry"), "groups": ("cuda", "entry"), "elementwise": ("body",),
    "reduction": ("reduce", "identity"), "scan": ("combine", "identity"),
}  # fmt: skip
"""The keys that each kind must have."""
TAKEN = {
    "rows": ("block",), "groups": ("by", "order_by", "block"), "elementwise": (), "reduction": ("map", "post", "by"),
    "scan": ("state", "map", "post", "by", "order_by"),
}  # fmt: skip
"""The further ones that it may have, beside those of all kinds."""


@dataclass(frozen=True, kw_only=True)
class Kernel(Step):
    """Columns from a user's CUDA code; its NumPy twin stands in where there is no GPU, and is its meaning.

    A file's kernel over rows or groups (`cuda`, `entry`), statements for one row (`body: y = x * scale;`), a
    reduction of each group's rows to one (`map: x * x`, `reduce: a + b`, `identity: 0`, `post: sqrt(a)`), or a scan
    of each group's rows in order (`map: y = x;`, `combine: y = a.y * b.y;`, `identity: y = 1;`).
    """

    verb: ClassVar[str] = "kernel"
    cuda: str = key(NAME, "")
    entry: str = key(NAME, "")
    body: str = key(CODE, "")
    map: str = key(CODE, "")
    reduce: str = key(CODE, "")
    combine: str = key(CODE, "")
    state: Mapping[str, DataType] = key(TYPES, {})
    identity: str = key(CODE, "")
    post: str = key(CODE, "")
    inputs: tuple[str, ...] = key(NAMES)
    outputs: Mapping[str, DataType] = key(TYPES)
    reference: str = key(NAME)
    kind: str = key(choice("rows", "groups", "elementwise", "reduction", "scan"), "")
    args: Mapping[str, Formula] = key(EXPRESSIONS, {})
    nulls: str = key(choice("propagate", "forbid", "masks"), "propagate")
    by: tuple[str, ...] = key(NAMES, ())
    order_by: tuple[Order, ...] = key(ORDER, ())
    block: int = key(COUNT, 256)

    @property
    def form(self) -> str:
        """The kind: what the step says, or else what its keys do."""
        if self.kind:
            return self.kind
        texts = "scan" if self.combine else "reduction" if self.reduce or self.map else ""
        return "elementwise" if self.body else texts or ("groups" if self.by or self.order_by else "rows")

    def build(self, context: Context, source: Node) -> Node:
        """Check the kernel's declaration against the columns and add the node."""
        if sandbox := current_sandbox():
            try:
                sandbox.refuse_code("a kernel step runs code of the file's author")
            except OutsideSandbox as error:
                context.problem(
                    str(error), "Run without --sandbox if you trust the author of the file.", self.reference
                )
            return Unknown(source=source, columns={}, origin=context.origin)
        schema = source.schema
        inputs, by = context.known(self.inputs, schema), context.keys(self.by, schema)
        known = len(inputs) == len(self.inputs) and not schema.open
        known = known and UNKNOWN not in (schema[name] for name in inputs)
        if not self.check_kind(context):
            return Unknown(source=source, columns={}, origin=context.origin)
        made = {str(name): self.argument(context, name) for name in self.args}
        contract = self.contract(context)
        if isinstance(contract, KernelTexts):
            check_texts(self, contract, context, schema if known else None)
        else:
            self.check_contract(context, contract, schema if known else Schema(open=True))
        common: Any = {"source": source, "reads": inputs, "outputs": dict(self.outputs), "arguments": made,
                       "nulls": self.nulls, "by": by, "origin": context.origin}  # fmt: skip
        if self.form == "reduction":
            return nodes.KernelReduction(contract=cast("KernelTexts", contract), **common)
        order_by = sort_keys(context, self.order_by, schema)
        return nodes.Kernel(
            contract=contract, kind=cast("Any", self.form), block=self.block, order_by=order_by, **common
        )

    def check_kind(self, context: Context) -> bool:
        """Tell whether the keys are those of the kind; what is missing or too much is a problem."""
        kind, count = self.form, len(context.problems.found)
        at = self.entry or self.reference
        for name in NEEDED[kind]:
            if not getattr(self, name):
                what = " and ".join(NEEDED[kind])
                context.problem(
                    coded("GE1307", f"the key '{name}' is missing"), f"A kernel of kind {kind} takes {what}.", at
                )
        if kind == "rows" and (self.by or self.order_by):
            context.problem(
                coded("GE1307", "a kernel over rows has no by and order_by"), "Set kind: groups, or take them out.", at
            )
            return False
        for path in (self.cuda, self.reference):
            if problem := url_problem(path):
                context.problem(*problem, path)
        own = {*NEEDED[kind], *TAKEN[kind]}
        for field in fields(self):
            special = any(field.name in (*NEEDED[other], *TAKEN[other]) for other in NEEDED)
            given = getattr(self, field.name)
            if special and field.name not in own and given and given != field.default:
                hint = f"It takes {', '.join((*NEEDED[kind], *TAKEN[kind]))}, besides what all kinds take."
                context.problem(coded("GE1307", f"a kernel of kind {kind} has no {field.name}"), hint, given)
        if kind in ("groups", "scan") and not self.order_by:
            what = "a kernel over groups" if kind == "groups" else "a scan"
            context.problem(coded("GE1307", f"{what} needs order_by"), "Add by and order_by.", at)
        if not 1 <= self.block <= MAX_BLOCK:
            context.problem(coded("GE1307", f"block takes 1 to {MAX_BLOCK} threads, got {self.block}"), "", at)
        return len(context.problems.found) == count

    def contract(self, context: Context) -> KernelContract | KernelTexts:
        """Return the kernel's files and functions, or its texts."""
        file, function, twin = twin_of(context, self.reference, self.args)
        if self.form in ("rows", "groups"):
            return KernelContract(context.folder / self.cuda, self.entry, file, function, twin)
        state = (self.state or self.outputs) if self.form == "scan" else {}
        return KernelTexts(texts_of(self), file, function, state, twin)

    def check_contract(self, context: Context, contract: KernelContract, schema: Schema) -> None:
        """Compare the CUDA declaration with the step."""
        try:
            if schema.open:  # the inputs' types are not known
                _ = contract.parameters
                return
            inputs = {name: schema[name] for name in self.inputs}
            grouped = self.form == "groups"
            contract.check(inputs, self.outputs, tuple(self.args), grouped, self.nulls == "masks")
            contract.check_block(self.block)
        except KernelMismatch as error:
            context.problem(recoded(f"{error}.", error), "", self.entry if "has no kernel" in str(error) else self.cuda)

    def argument(self, context: Context, name: str) -> Expr:
        """Return a scalar argument: a constant or a parameter."""
        formula = self.args[name]
        value = context.expression(formula, Schema())
        if columns_of(value):
            context.problem(
                coded("GE1306", f"argument '{name}' is not a constant"), "Give a number or a $parameter.", formula
            )
        elif value.dtype not in (NULL, UNKNOWN):
            try:
                device_type(value.dtype)
            except KernelMismatch:
                context.problem(
                    coded("GE1306", f"argument '{name}' is a {type_name(value.dtype)}"),
                    "Kernels take numbers.",
                    formula,
                )
        return value

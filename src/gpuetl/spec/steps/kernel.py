"""The kernel step: its source and texts, compared with its columns before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, cast

from gpuetl.expressions.ir import Expr, columns_of
from gpuetl.messages import coded, recoded
from gpuetl.places.registry import scheme_problem
from gpuetl.plan import nodes
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.sandbox import OutsideSandbox, current_sandbox
from gpuetl.spec.fields import Field, key
from gpuetl.spec.files.based import one_file_path
from gpuetl.spec.forms import CODE, COUNT, EXPRESSIONS, NAME, NAMES, ORDER, TYPES, choice, read_code, read_name
from gpuetl.spec.steps.order import order_of, with_computed, without_computed
from gpuetl.spec.steps.python_file import TWIN, function_in_file, kernel_path
from gpuetl.spec.steps.python_kernel import TIME_LIMIT, build_python_kernel
from gpuetl.spec.steps.step import Context, Step, Unknown
from gpuetl.spec.steps.table_kernel import check_table, unit_of
from gpuetl.spec.steps.triton_file import check_triton_keys, triton_contract
from gpuetl.spec.values import Formula, Order
from gpuetl.types.data_types import NULL, UNKNOWN, DataType, type_name
from gpuetl.types.schema import Schema
from gpuetl.user_kernels.contract import KernelContract, KernelMismatch, device_type
from gpuetl.user_kernels.kernel_code import REDUCED, KernelCode, names, unusable_names
from gpuetl.user_kernels.python_function import FRAMES
from gpuetl.user_kernels.shared_memory import check_shared

FILE: Field[str] = Field("a name", read_name, one_file_path, schema={"type": "string"})
"""A file of a kernel."""
SIZE: Field[str] = Field(
    "a number, or arithmetic such as 8 * block", read_code, str, schema={"type": ["string", "number"]}
)
"""A size that a kernel step states: see `SizeExpression`."""


# The texts of a kernel step, compared with its columns and names before anything runs.


def snippets_of(step: Kernel) -> dict[str, str]:
    """Return the texts that the kernel is generated around; those that may be left out are written."""
    if step.form == "elementwise":
        return {"body": step.body.rstrip()}
    mapped, post, operator = step.map, step.post, "reduce"
    one = step.inputs[0] if len(step.inputs) == 1 else ""
    if step.form == "reduction":
        mapped, post = mapped or one, post or REDUCED[0]
    else:
        operator, fields = "combine", [*(step.state or step.outputs)]
        mapped = mapped or (f"{fields[0]} = {one};" if one and len(fields) == 1 else "")
    snippets = {"map": mapped, operator: getattr(step, operator), "identity": step.identity, "post": post}
    return {name: text.rstrip() for name, text in snippets.items()}


def check_snippets(step: Kernel, contract: KernelCode, context: Context, schema: Schema | None) -> None:
    """Check names and types, and that the texts name what they must; `schema` is None where it is not known."""
    for message in unusable(step, contract):
        context.problem(message, "", step.reference)
    types = {**{name: schema[name] for name in step.inputs}, **step.outputs} if schema else step.outputs
    for name, dtype in [*types.items(), *step.state.items()]:
        try:
            device_type(dtype)
        except KernelMismatch as error:
            context.problem(recoded(f"'{name}': {error}", error), "Cast it in a step before.", name)
    if step.form == "elementwise":
        for name in step.outputs:
            if not names(step.body, name):
                context.problem(
                    coded("GE1304", f"the body does not set output '{name}'"), f"Write {name} = …;", step.body
                )
        return
    check_operator(step, contract, context)
    (check_reduction if step.form == "reduction" else check_scan)(step, contract, context)


def unusable(step: Kernel, contract: KernelCode) -> list[str]:
    """Return, in words, the names that the texts cannot have."""
    masked = ("input", "output") if step.nulls == "masks" and step.form != "reduction" else ()
    if step.form != "scan":
        return [*unusable_names({"input": step.inputs, "output": step.outputs, "argument": step.args}, masked)]
    fields, outputs = contract.state, step.outputs if step.post and step.state else ()
    in_map = unusable_names({"input": step.inputs, "state's field": fields, "argument": step.args}, masked)
    in_post = unusable_names({"output": outputs, "state's field": fields, "argument": step.args}, masked)
    return [*dict.fromkeys([*in_map, *in_post])]


def check_operator(step: Kernel, contract: KernelCode, context: Context) -> None:
    """Of two values, or states, one is made."""
    operator = "reduce" if step.form == "reduction" else "combine"
    text = contract.snippets[operator]
    noun, such = ("value", "a + b") if operator == "reduce" else ("state", "y = a.y + b.y;")
    for name in REDUCED:
        if not names(text, name):
            context.problem(
                coded("GE1304", f"{operator} does not use {name}"),
                f"It makes one {noun} of a and b, such as {such}",
                text,
            )
        if name in step.args:
            context.problem(
                coded("GE1304", f"argument '{name}' has the name of a {noun} that is {operator}d"),
                "Rename it.",
                name,
            )
    if not contract.snippets["map"]:
        context.problem(
            coded("GE1304", "the key 'map' is missing"),
            f"It makes one {noun} of a row's inputs.",
            step.reference,
        )


def check_reduction(step: Kernel, contract: KernelCode, context: Context) -> None:
    """One result; nulls are no values."""
    if len(step.outputs) != 1:
        context.problem(coded("GE1307", "a reduction has one output"), "Write a step for each.", step.reference)
    for name in step.by:
        if name in step.outputs:
            context.problem(coded("GE1023", f"output '{name}' is a key too"), "Give it another name.", name)
    if step.nulls == "masks":
        context.problem(
            coded("GE1307", "a reduction has no masks"),
            "Fill the nulls in a step before, or propagate them.",
            step.nulls,
        )


def check_scan(step: Kernel, contract: KernelCode, context: Context) -> None:
    """Each field of the state is set, and each output comes from the state."""
    for name in contract.state:
        if name in REDUCED:
            context.problem(
                coded("GE1304", f"the state's field '{name}' has the name of a state that is combined"),
                "Rename it.",
                name,
            )
        for part in ("map", "combine"):
            text = contract.snippets[part]
            if text and not names(text, name):
                context.problem(
                    coded("GE1304", f"{part} does not set the state's field '{name}'"), f"Write {name} = …;", text
                )
    for name, dtype in step.outputs.items():
        if step.post:
            if not names(step.post, name):
                context.problem(coded("GE1304", f"post does not set output '{name}'"), f"Write {name} = …;", step.post)
        elif contract.state.get(name) != dtype:
            found = f"is {type_name(dtype)}, and the state has no such field"
            context.problem(
                coded("GE1304", f"output '{name}' {found}"),
                f"Declare it in the state, or write post: {name} = …;",
                name,
            )
    if step.post and not step.state:
        context.problem(
            coded("GE1304", "the key 'state' is missing"),
            "It has the fields of which post makes the outputs.",
            step.post,
        )


MAX_BLOCK = 1024  # threads: the limit of every CUDA device
NEEDED = {
    "rows": ("cuda", "entry"), "groups": ("cuda", "entry"), "elementwise": ("body",),
    "reduction": ("reduce", "identity"), "scan": ("combine", "identity"), "table": ("cuda", "entry", "rows"),
    "python": ("python",), "triton": ("triton",),
}  # fmt: skip
"""The keys that each kind must have; a Python function's are in python_kernel.py."""
TAKEN = {
    "rows": ("block", "shared_bytes"), "groups": ("by", "order_by", "block", "shared_bytes"), "elementwise": (),
    "reduction": ("map", "post", "by"),
    "scan": ("state", "map", "post", "by", "order_by"), "python": ("frame", "timeout"),
    "table": ("per", "keep", "by", "order_by", "block", "shared_bytes"),
    "triton": ("block", "warps", "by", "order_by"),
}  # fmt: skip
"""The further ones that it may have, beside those of all kinds."""


@dataclass(frozen=True, kw_only=True)
class Kernel(Step):
    """Compute columns with your own CUDA, Triton or Python code.

    A step has one of these forms:

    - a kernel in a file, over rows or groups: `cuda` and `entry`
    - statements for one row: `body: y = x * scale;`
    - a reduction of each group to one row: `map: x * x`, `reduce: a + b`, `identity: 0`, `post: sqrt(a)`
    - a kernel in a file that makes other rows: `cuda`, `entry`, `rows: 4 * input` and `per: row`
    - a scan over the ordered rows of each group: `map: y = x;`, `combine: y = a.y * b.y;`, `identity: y = 1;`
    - a block kernel written in Triton, over rows or groups: `triton: kernels.py:scaled`
    - a Python function over frames of pandas, Arrow or cuDF: `python: features.py:score`

    `reference` names the twin: a NumPy function that computes the same. The twin defines the right result, and runs
    where there is no GPU. A Python function over pandas or Arrow frames needs no twin.
    """

    verb: ClassVar[str] = "kernel"
    one_of: ClassVar[tuple[str, ...]] = ("reference", "python")
    cuda: str = key(FILE, "", doc="the file with a CUDA kernel")
    entry: str = key(NAME, "", doc="the name of the kernel in its file")
    body: str = key(CODE, "", doc="C++ statements that compute one row")
    map: str = key(CODE, "", doc="C++ code for the value or state of one row")
    reduce: str = key(CODE, "", doc="a C++ expression that makes one value of two, `a` and `b`")
    combine: str = key(CODE, "", doc="C++ statements that combine the states `a` and `b`")
    state: Mapping[str, DataType] = key(TYPES, {}, doc="the fields of a scan's state and their types")
    identity: str = key(CODE, "", doc="the value or state that changes no other")
    post: str = key(CODE, "", doc="C++ code for the result from the last value or state")
    inputs: tuple[str, ...] = key(NAMES, doc="the columns that the kernel reads")
    outputs: Mapping[str, DataType] = key(TYPES, doc="the columns that the kernel writes, and their types")
    reference: str = key(FILE, "", doc="the NumPy twin, as `file.py:function`")
    triton: str = key(FILE, "", doc="a Triton kernel, as `file.py:function`")
    python: str = key(FILE, "", doc="a Python function over frames, as `file.py:function`")
    frame: str = key(choice(*FRAMES), "", doc="what a Python function gets and returns; `pandas` by default")
    timeout: str = key(TIME_LIMIT, "", doc="how long one call of a Python function may take, such as `30s`")
    kind: str = key(
        choice("rows", "groups", "elementwise", "reduction", "scan", "table"),
        "",
        doc="what one thread or block computes; by default it follows from the other keys",
    )
    args: Mapping[str, Formula] = key(EXPRESSIONS, {}, doc="constants that the kernel gets")
    nulls: str = key(
        choice("propagate", "forbid", "masks", "pass"), "",
        doc="what happens with rows whose inputs have nulls; by default `propagate`, of a Python function `pass`",
    )  # fmt: skip
    by: tuple[str, ...] = key(NAMES, (), doc="the columns that make groups")
    order_by: tuple[Order, ...] = key(ORDER, (), doc="the order of rows in a group: columns or expressions")
    block: int = key(COUNT, 256, doc="threads in a block; of a Triton kernel, the rows of a block")
    warps: int = key(COUNT, 4, doc="warps of 32 threads in a block of a Triton kernel")
    shared_bytes: str = key(SIZE, "", doc="shared memory of a block, such as `8 * block`")
    per: str = key(
        choice("row", "group", "partition"), "", doc="what a table kernel makes rows of; with `by` it is the group"
    )
    rows: str = key(SIZE, "", doc="how many rows a table kernel makes of each at most, such as `4 * input`")
    keep: tuple[str, ...] = key(NAMES, (), doc="columns that a table kernel per row repeats")
    flops_per_row: int = key(COUNT, 0, doc="the arithmetic of one row, for `gpuetl kernel bench`")

    @property
    def form(self) -> str:
        """The kind: what the step says, or else what its keys do."""
        if self.triton:
            return "triton"
        if self.kind or self.rows or self.per:
            return self.kind or "table"
        snippets = "scan" if self.combine else "reduction" if self.reduce or self.map else ""
        return "elementwise" if self.body else snippets or ("groups" if self.by or self.order_by else "rows")

    @property
    def grouped(self) -> bool:
        """Whether a kernel in a file is over groups."""
        return self.form == "groups" or (self.form == "triton" and bool(self.kind == "groups" or self.order_by))

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
        if self.python:
            return build_python_kernel(self, context, source)
        schema = source.schema
        inputs, by = context.known(self.inputs, schema), context.keys(self.by, schema, nested=True)
        known = len(inputs) == len(self.inputs) and not schema.open
        known = known and UNKNOWN not in (schema[name] for name in inputs)
        if not self.check_kind(context):
            return Unknown(source=source, columns={}, origin=context.origin)
        bound_arguments = {str(name): self.argument(context, name) for name in self.args}
        contract = self.contract(context)
        if isinstance(contract, KernelCode):
            check_snippets(self, contract, context, schema if known else None)
        else:
            self.check_contract(context, contract, schema if known else Schema(open=True))
        common: Any = {"source": source, "reads": inputs, "outputs": dict(self.outputs), "arguments": bound_arguments,
                       "nulls": self.nulls or "propagate", "by": by, "origin": context.origin}  # fmt: skip
        if self.form == "table":
            return self.table_node(context, cast("KernelContract", contract), common)
        if self.form == "reduction":
            return nodes.KernelReduction(contract=cast("KernelCode", contract), **common)
        order_by, computed = order_of(context, self.order_by, schema, nested=True)
        common["source"] = with_computed(context, source, computed)
        node = nodes.Kernel(
            contract=contract,
            kind=cast("Any", self.form) if self.form != "triton" else ("groups" if self.grouped else "rows"),
            block=self.block,
            shared_bytes=self.shared_bytes,
            order_by=order_by,
            **common,
        )
        return without_computed(context, node, computed)

    def table_node(self, context: Context, contract: KernelContract, common: Mapping[str, Any]) -> Node:
        """Return the node of a kernel that makes rows."""
        source: Node = common["source"]
        order_by, computed = order_of(context, self.order_by, source.schema, nested=True)
        return nodes.KernelTable(
            contract=contract, per=cast("Any", unit_of(self)), rows=self.rows,
            keep=context.known(self.keep, source.schema), order_by=order_by, block=self.block,
            shared_bytes=self.shared_bytes, **{**common, "source": with_computed(context, source, computed)},
        )  # fmt: skip

    def check_kind(self, context: Context) -> bool:
        """Return whether the keys are those of the kind; what is missing or too much is a problem."""
        kind, count = self.form, len(context.problems.found)
        at = self.entry or self.triton or self.reference
        for name in NEEDED[kind]:
            if not getattr(self, name):
                what = " and ".join(NEEDED[kind])
                context.problem(
                    coded("GE1307", f"the key '{name}' is missing"), f"A kernel of kind {kind} takes {what}.", at
                )
        self.check_twin_keys(context, at)
        if kind == "rows" and (self.by or self.order_by):
            context.problem(
                coded("GE1307", "a kernel over rows has no by and order_by"), "Set kind: groups, or take them out.", at
            )
            return False
        for path in (self.cuda, self.triton, self.reference):
            if problem := scheme_problem(path):
                message, hint = problem
                context.problem(coded("GE1409", message), hint, path)
        own = {*NEEDED[kind], *TAKEN[kind]}
        for field in fields(self):
            special = any(field.name in (*NEEDED[other], *TAKEN[other]) for other in NEEDED)
            given = getattr(self, field.name)
            if special and field.name not in own and given and given != field.default:
                hint = f"It takes {', '.join((*NEEDED[kind], *TAKEN[kind]))}, in addition to what all kinds take."
                context.problem(coded("GE1307", f"a kernel of kind {kind} has no {field.name}"), hint, given)
        if kind == "triton":
            check_triton_keys(self, context)
        else:
            self.check_order_and_block(context, at)
        return len(context.problems.found) == count

    def check_order_and_block(self, context: Context, at: str) -> None:
        """What reads groups has an order; a block has as many threads as devices allow."""
        if self.form in ("groups", "scan") and not self.order_by:
            what = "a kernel over groups" if self.form == "groups" else "a scan"
            context.problem(coded("GE1307", f"{what} needs order_by"), "Add by and order_by.", at)
        self.check_launch(context, at)

    def check_launch(self, context: Context, at: str) -> None:
        """Check the threads of a block, and what a table kernel makes rows of."""
        if self.form == "table":
            check_table(self, context, at)
        if not 1 <= self.block <= MAX_BLOCK:
            context.problem(coded("GE1307", f"block takes 1 to {MAX_BLOCK} threads, got {self.block}"), "", at)

    def check_twin_keys(self, context: Context, at: str) -> None:
        """There is a twin, and nulls are what CUDA kernels have."""
        if not self.reference:
            message = coded("GE1307", "the key 'reference' is missing")
            context.problem(message, "It names the kernel's NumPy twin, as file.py:function.", at)
        if self.nulls == "pass":
            text = f"a kernel of kind {self.form} has no nulls: pass"
            context.problem(coded("GE1307", text), "It takes propagate, forbid or masks.", self.nulls)

    def contract(self, context: Context) -> KernelContract | KernelCode:
        """Return the kernel's files and functions, or its texts."""
        file, function, twin = function_in_file(context, self.reference, self.args, TWIN)
        if self.triton:
            return triton_contract(self, context, file, function, twin)
        if self.form in ("rows", "groups", "table"):
            cuda = kernel_path(context, self.cuda, self.cuda)
            return KernelContract(cuda, self.entry, file, function, twin, self.flops_per_row)
        state = (self.state or self.outputs) if self.form == "scan" else {}
        return KernelCode(snippets_of(self), file, function, state, twin, self.flops_per_row)

    def check_contract(self, context: Context, contract: KernelContract, schema: Schema) -> None:
        """Compare the CUDA declaration with the step."""
        try:
            if schema.open:  # the inputs' types are not known
                _ = contract.parameters
                return
            inputs = {name: schema[name] for name in self.inputs}
            table = self.form == "table"
            grouped = self.grouped or (table and unit_of(self) == "group")
            contract.check(inputs, self.outputs, tuple(self.args), grouped, self.nulls == "masks", table)
            contract.check_block(self.block)
        except KernelMismatch as error:
            at = self.entry if "has no kernel" in str(error) else self.cuda or self.triton
            context.problem(recoded(f"{error}.", error), "", at)
            return
        try:
            check_shared(contract, self.shared_bytes, self.block, self.args)
        except KernelMismatch as error:
            context.problem(recoded(f"{error}.", error), "", self.shared_bytes or self.entry)

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

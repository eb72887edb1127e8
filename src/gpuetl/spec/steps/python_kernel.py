"""A kernel step that runs a Python function over frames: its declaration, compared with its columns."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any, cast

from gpuetl.expressions.ir import Expr, columns_of
from gpuetl.messages import coded
from gpuetl.places.registry import scheme_problem
from gpuetl.plan import nodes
from gpuetl.plan.node import Node
from gpuetl.spec.document import Node as TextNode
from gpuetl.spec.fields import Field
from gpuetl.spec.steps.order import order_of, with_computed, without_computed
from gpuetl.spec.steps.python_file import Wording, function_in_file
from gpuetl.spec.steps.step import Context, Unknown
from gpuetl.spec.values import BadValue, Text
from gpuetl.types.data_types import TIME, TIMESTAMP_NS, UNKNOWN, DataType, can_be_key, is_binary, type_name
from gpuetl.types.nested_types import is_list
from gpuetl.types.schema import Schema
from gpuetl.user_kernels.python_function import FRAMES, FrameKind, PythonFunction

if TYPE_CHECKING:
    from gpuetl.spec.steps.kernel import Kernel

TIME_UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}
WRITTEN = re.compile(r"(\d+(?:\.\d+)?) *(ms|s|min|h)")
TAKEN = ("frame", "timeout", "reference", "by", "order_by", "kind")
"""The keys that such a step may have, beside those of all kernels."""
KINDS = ("rows", "groups")
NULLS = ("pass", "propagate", "forbid")
FUNCTION = Wording("GE1890", "python", "the kernel's file", "the function", "Write the function there.")


def read_time(node: TextNode) -> Text:
    """Read a time limit, such as `30s`."""
    text = node.value if isinstance(node.value, str) else str(node.value)
    if isinstance(node.value, bool) or not (found := WRITTEN.fullmatch(text)) or not float(found[1]):
        raise BadValue(coded("GE1008", f"takes a time such as 30s, 5 min or 500 ms, got {node.kind} '{text}'"), node)
    return Text(text, node)


TIME_LIMIT: Field[str] = Field("a time such as 30s", read_time, str, constant=True, schema={"type": "string"})


def seconds_of(text: str) -> float | None:
    """Return the seconds of a time limit; None where there is none."""
    found = WRITTEN.fullmatch(text)
    return float(found[1]) * TIME_UNITS[found[2]] if found else None


def build_python_kernel(step: Kernel, context: Context, source: Node) -> Node:
    """Check the function's declaration against the columns and add the node."""
    schema = source.schema
    inputs, by = context.known(step.inputs, schema), context.keys(step.by, schema, nested=True)
    order_by, computed = order_of(context, step.order_by, schema, nested=True)
    if not check_keys(step, context):
        return Unknown(source=source, columns={}, origin=context.origin)
    arguments = {str(name): argument(step, context, name) for name in step.args}
    contract = function_of(step, context)
    if contract.frame == "cudf" and not schema.open:
        types = {**{name: schema[name] for name in inputs}, **step.outputs}
        for name, dtype in types.items():
            if dtype != UNKNOWN and not is_in_cudf(dtype):
                context.problem(
                    coded("GE1894", f"'{name}' is {type_name(dtype)}, and cuDF frames have no such column here"),
                    "Write frame: arrow, or convert it in a step before.",
                    name,
                )
    grouped = bool(by or order_by)
    rows = with_computed(context, source, computed)
    node = nodes.PythonKernel(
        source=rows, contract=contract, kind="groups" if grouped else "rows", reads=inputs,
        outputs=dict(step.outputs), arguments=arguments, nulls=cast("Any", step.nulls or "pass"), by=by,
        order_by=order_by, origin=context.origin,
    )  # fmt: skip
    return without_computed(context, node, computed)


def is_in_cudf(dtype: DataType) -> bool:
    """Return whether cuDF holds columns of a type as the engine does: flat ones, and lists of these."""
    flat = dtype.value_type if is_list(dtype) else dtype
    return can_be_key(flat) and not is_binary(flat) and flat not in (TIME, TIMESTAMP_NS)


def check_keys(step: Kernel, context: Context) -> bool:
    """Return whether the keys are those of a Python function; what is too much is a problem."""
    count = len(context.problems.found)
    common = ("python", "inputs", "outputs", "args", "nulls", *TAKEN)
    for field in fields(step):
        given = getattr(step, field.name)
        if field.name not in common and given and given != field.default:
            context.problem(
                coded("GE1307", f"a Python kernel has no {field.name}"),
                f"It takes {', '.join(TAKEN)}, in addition to what all kinds take.",
                given,
            )
    for path in (step.python, step.reference):
        if path and (problem := scheme_problem(path)):
            context.problem(coded("GE1409", problem[0]), problem[1], path)
    if step.nulls and step.nulls not in NULLS:
        context.problem(
            coded("GE1307", f"a Python kernel has no nulls: {step.nulls}"),
            f"Its frames have nulls of their own.  It takes {', '.join(NULLS)}.",
            step.nulls,
        )
    check_kind(step, context)
    check_reference(step, context)
    return len(context.problems.found) == count


def check_kind(step: Kernel, context: Context) -> None:
    """Compare the kind, if it is given, with `by` and `order_by`."""
    grouped, at = bool(step.by or step.order_by), step.python
    if step.kind and step.kind not in KINDS:
        context.problem(
            coded("GE1307", f"a Python kernel has no kind {step.kind}"), "It takes rows or groups.", step.kind
        )
    elif step.kind == "rows" and grouped:
        message = coded("GE1307", "a kernel over rows has no by and order_by")
        context.problem(message, "Set kind: groups, or take them out.", at)
    elif step.kind == "groups" and not grouped:
        context.problem(coded("GE1307", "a kernel over groups needs by or order_by"), "Add one of them.", at)


def check_reference(step: Kernel, context: Context) -> None:
    """A function over cuDF frames has a reference, and no other one."""
    at = step.python
    if step.frame == "cudf" and not step.reference:
        message = coded("GE1894", "a function over cuDF frames needs a reference")
        context.problem(message, "reference names the same over pandas frames, for engines without a GPU.", at)
    elif step.frame != "cudf" and step.reference:
        what = f"a function over {step.frame or 'pandas'} frames has no reference"
        context.problem(coded("GE1894", what), "The same function runs on every engine: leave it out.", step.reference)


def function_of(step: Kernel, context: Context) -> PythonFunction:
    """Return the function, with the text of its file; what is wrong with it is a problem."""
    frame = cast("FrameKind", step.frame or FRAMES[0])
    stand_in, timeout_s = None, seconds_of(step.timeout)
    if step.reference:
        file, function, text = function_in_file(context, step.reference, step.args, FUNCTION)
        stand_in = PythonFunction(file, function, "pandas", timeout_s, text)
    file, function, text = function_in_file(context, step.python, step.args, FUNCTION)
    return PythonFunction(file, function, frame, timeout_s, text, stand_in)


def argument(step: Kernel, context: Context, name: str) -> Expr:
    """Return an argument: a constant or a parameter, of any type."""
    formula = step.args[name]
    value = context.expression(formula, Schema())
    if columns_of(value):
        message = coded("GE1306", f"argument '{name}' is not a constant")
        context.problem(message, "Give a constant or a $parameter.", formula)
    return value

"""The texts of a kernel step, compared with its columns and names before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuetl.messages import coded, recoded
from gpuetl.spec.steps.step import Context
from gpuetl.types.data_types import type_name
from gpuetl.types.schema import Schema
from gpuetl.user_kernels.contract import KernelMismatch, device_type
from gpuetl.user_kernels.kernel_texts import REDUCED, KernelTexts, names, unusable_names

if TYPE_CHECKING:
    from gpuetl.spec.steps.kernel import Kernel


def texts_of(step: Kernel) -> dict[str, str]:
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
    texts = {"map": mapped, operator: getattr(step, operator), "identity": step.identity, "post": post}
    return {name: text.rstrip() for name, text in texts.items()}


def check_texts(step: Kernel, contract: KernelTexts, context: Context, schema: Schema | None) -> None:
    """Check names and types, and that the texts name what they must; `schema` is None where it is not known."""
    for told in unusable(step, contract):
        context.problem(told, "", step.reference)
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


def unusable(step: Kernel, contract: KernelTexts) -> list[str]:
    """Return, in words, the names that the texts cannot have."""
    masked = ("input", "output") if step.nulls == "masks" and step.form != "reduction" else ()
    if step.form != "scan":
        return [*unusable_names({"input": step.inputs, "output": step.outputs, "argument": step.args}, masked)]
    fields, outputs = contract.state, step.outputs if step.post and step.state else ()
    in_map = unusable_names({"input": step.inputs, "state's field": fields, "argument": step.args}, masked)
    in_post = unusable_names({"output": outputs, "state's field": fields, "argument": step.args}, masked)
    return [*dict.fromkeys([*in_map, *in_post])]


def check_operator(step: Kernel, contract: KernelTexts, context: Context) -> None:
    """Of two values, or states, one is made."""
    operator = "reduce" if step.form == "reduction" else "combine"
    text = contract.texts[operator]
    made, such = ("value", "a + b") if operator == "reduce" else ("state", "y = a.y + b.y;")
    for name in REDUCED:
        if not names(text, name):
            context.problem(
                coded("GE1304", f"{operator} does not use {name}"),
                f"It makes one {made} of a and b, such as {such}",
                text,
            )
        if name in step.args:
            context.problem(
                coded("GE1304", f"argument '{name}' has the name of a {made} that is {operator}d"), "Rename it.", name
            )
    if not contract.texts["map"]:
        context.problem(
            coded("GE1304", "the key 'map' is missing"), f"It makes one {made} of a row's inputs.", step.reference
        )


def check_reduction(step: Kernel, contract: KernelTexts, context: Context) -> None:
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


def check_scan(step: Kernel, contract: KernelTexts, context: Context) -> None:
    """Each field of the state is set, and each output comes from the state."""
    for name in contract.state:
        if name in REDUCED:
            context.problem(
                coded("GE1304", f"the state's field '{name}' has the name of a state that is combined"),
                "Rename it.",
                name,
            )
        for key in ("map", "combine"):
            text = contract.texts[key]
            if text and not names(text, name):
                context.problem(
                    coded("GE1304", f"{key} does not set the state's field '{name}'"), f"Write {name} = …;", text
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

"""Lambdas over the elements of lists: `list_transform(x, lambda e: e + 1)`, typed."""

from __future__ import annotations

from collections.abc import Callable

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.advice import mismatch
from gpuetl.expressions.functions import FUNCTIONS, Function, TypeMismatch
from gpuetl.expressions.ir import Call, Expr, Literal, Variable
from gpuetl.expressions.ir import Lambda as TypedLambda
from gpuetl.expressions.nested_constants import spelled_out
from gpuetl.expressions.syntax import Apply, Lambda, Syntax
from gpuetl.messages import coded
from gpuetl.types.common_types import common_nested
from gpuetl.types.data_types import INT64, NULL, UNKNOWN, DataType, type_name
from gpuetl.types.nested_types import is_list

LAMBDA_FUNCTIONS = ("list_transform", "list_filter", "list_reduce")
TypeBody = Callable[[Syntax, tuple[Variable, ...]], Expr]
Coerce = Callable[[Expr, DataType], Expr]


def lambda_call(
    function: Function, syntax: Apply, lists: Expr, known: tuple[str, ...], type_body: TypeBody
) -> Expr | None:
    """Return a call with a lambda over the elements of `lists`; None where a part of it is wrong.

    `known` are the names of the variables of lambdas around it; `type_body` types a lambda's body.

    Raises
    ------
    InvalidExpression
        For arguments that are no list and lambda, a name that is taken, and a body of another type.
    """
    if len(syntax.args) != 2 or syntax.keywords or not isinstance(syntax.args[1], Lambda):
        shown = "e + 1" if function.name == "list_transform" else "e > 1"
        message = coded("GE1104", f"{function.name} takes a list and a lambda")
        raise InvalidExpression(message, syntax.span, f"Write {function.name}(x, lambda e: {shown}).")
    written = syntax.args[1]
    if lists.dtype == UNKNOWN:
        return None
    if lists.dtype == NULL:
        return Literal(None, NULL)
    if not is_list(lists.dtype):
        message = coded("GE1103", f"{function.name} takes a list, got {type_name(lists.dtype)}")
        raise InvalidExpression(message, syntax.span)
    variables = variables_of(written, lists, known)
    body = type_body(written.body, variables)
    if body.dtype == UNKNOWN:
        return None
    try:
        _, dtype = function.rule([lists, body])
    except TypeMismatch as error:
        raise InvalidExpression(mismatch(function, str(error)), written.span or syntax.span, error.hint) from None
    typed = TypedLambda(variables, spelled_out(body, syntax))
    return Call(function, (spelled_out(lists, syntax), typed), dtype)


def reduced(
    syntax: Apply, lists: Expr, initial: Expr | None, known: tuple[str, ...], type_body: TypeBody, cast: Coerce
) -> Expr | None:
    """Return a call of `list_reduce`; None where a part of it is wrong.

    The value so far has the type of the first one, or of what the lambda gives of it, if that is wider.

    Raises
    ------
    InvalidExpression
        For arguments that are no list and lambda, and a lambda that gives another type.
    """
    if len(syntax.args) not in (2, 3) or syntax.keywords or not isinstance(syntax.args[1], Lambda):
        message = coded("GE1104", "list_reduce takes a list, a lambda and perhaps a first value")
        raise InvalidExpression(message, syntax.span, "Write list_reduce(x, lambda total, e: total + e, 0).")
    written = syntax.args[1]
    if UNKNOWN in (lists.dtype, UNKNOWN if initial and initial.dtype == UNKNOWN else NULL):
        return None
    if lists.dtype == NULL:
        return Literal(None, NULL)
    if not is_list(lists.dtype):
        raise InvalidExpression(coded("GE1103", f"list_reduce takes a list, got {type_name(lists.dtype)}"), syntax.span)
    if len(written.parameters) not in (2, 3):
        message = coded("GE1104", f"list_reduce takes a lambda of 2 or 3 names, got {len(written.parameters)}")
        raise InvalidExpression(message, written.span, "Write lambda total, e: total + e, or lambda total, e, i: ….")
    refuse_same_names(written, known)
    element = lists.dtype.value_type
    first = element if initial is None else initial.dtype
    dtype = first
    for _ in range(2):
        types = (dtype, element, INT64)
        variables = tuple(Variable(name, own) for name, own in zip(written.parameters, types, strict=False))
        body = type_body(written.body, variables)
        if body.dtype == UNKNOWN:
            return None
        meeting = common_nested(dtype, body.dtype)
        if meeting is None or meeting == dtype != NULL:
            break
        dtype = meeting
    if meeting == dtype and dtype != NULL:
        function = TypedLambda(variables, cast(spelled_out(body, syntax), dtype))
        rest = () if initial is None else (cast(spelled_out(initial, syntax), dtype),)
        return Call(FUNCTIONS["scalar", "list_reduce"], (spelled_out(lists, syntax), function, *rest), dtype)
    types_of_values = f"list_reduce begins with {type_name(first)}, and its lambda gives {type_name(body.dtype)}"
    raise InvalidExpression(coded("GE1103", types_of_values), written.span or syntax.span, "CAST one of them.")


def refuse_same_names(written: Lambda, known: tuple[str, ...]) -> None:
    """Refuse a name that a lambda around this one, or another variable of this one, has."""
    names = written.parameters
    taken = next((name for at, name in enumerate(names) if name in (*known, *names[:at])), None)
    if taken:
        message = coded("GE1104", f"two variables of lambdas are named '{taken}'")
        raise InvalidExpression(message, written.span, "Rename one.")


def variables_of(written: Lambda, lists: Expr, known: tuple[str, ...]) -> tuple[Variable, ...]:
    """Return what a lambda calls an element, and its place."""
    names = written.parameters
    refuse_same_names(written, known)
    if len(names) not in (1, 2):
        message = coded("GE1104", f"a lambda takes an element, and perhaps its place, got {len(names)} names")
        raise InvalidExpression(message, written.span, "Write lambda e: e + 1, or lambda e, i: e + i.")
    types = (lists.dtype.value_type, INT64)
    return tuple(Variable(name, dtype) for name, dtype in zip(names, types, strict=False))

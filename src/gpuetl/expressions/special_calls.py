"""Type the calls that follow rules of their own: structs, subscripts, lambdas, moved dates and the like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gpuetl.errors import InvalidExpression
from gpuetl.expressions import ir
from gpuetl.expressions.bins import cut_as_case, qcut_as_case
from gpuetl.expressions.coercion import coerce
from gpuetl.expressions.date_parts import function_of, part_by_name, parts_listed, wrong_part
from gpuetl.expressions.format_lists import PARSERS, one_format_each
from gpuetl.expressions.functions import ALIASES, Function, TypeMismatch, find_function, unknown_function
from gpuetl.expressions.functions.json_writing import cast_to_json
from gpuetl.expressions.ir import Expr, RunId
from gpuetl.expressions.lambdas import LAMBDA_FUNCTIONS, lambda_call, reduced
from gpuetl.expressions.list_calls import BY_NAME, named_aggregate
from gpuetl.expressions.months import MAKERS, PARTS, Months, alone, is_plain_sum, months_of, moved
from gpuetl.expressions.months import part_of as part_of_interval
from gpuetl.expressions.quantile_lists import QUANTILES, quantile_list
from gpuetl.expressions.regex_names import NAMING, named_groups
from gpuetl.expressions.scope import SCALARS, WRONG, Scope
from gpuetl.expressions.struct_calls import changed, packed
from gpuetl.expressions.subscripts import part_of, part_of_json, text_slice
from gpuetl.expressions.syntax import (
    AS_JSON,
    CHANGED_STRUCTS,
    RUN_ID,
    SCALAR,
    STRUCT,
    SUBSCRIPT,
    TRY_AS_JSON,
    Apply,
    Constant,
    Syntax,
    operands,
)
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.types.data_types import DATE, STRING, TIMESTAMP, UNKNOWN


@dataclass(frozen=True)
class Resolver:
    """What a special call types its parts with."""

    operand: Callable[[Syntax, Scope], Expr]
    """Types an operand; an error is kept in the scope, so that it hides none of the other operands'."""
    expression: Callable[[Syntax, Scope], Expr]
    """Types the expression that a call stands for; an error is raised."""
    call: Callable[[Apply, Scope], Expr]
    """Types a call as most are typed: by the rule of its function."""
    typed_call: Callable[[Function, Sequence[Expr], Apply, Sequence[Syntax], Scope], Expr]
    """Types a call whose arguments have types."""


Handler = Callable[[Apply, Scope, Resolver], Expr]


def special_of(syntax: Apply) -> Handler | None:
    """Return what types a call in a way of its own; None for most."""
    name = ALIASES.get(syntax.function, syntax.function)
    if name in PARTS and part_of_interval(syntax):
        return _interval_part
    special = _SPECIAL.get(name)
    return None if special is _moved and is_plain_sum(syntax) else special


def _struct(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type `struct_pack(a := x)`: the keywords are the fields."""
    args = [resolver.operand(value, scope) for _, value in syntax.keywords]
    return WRONG if any(arg.dtype == UNKNOWN for arg in args) else packed(syntax, args)


def _changed_struct(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type `struct_insert(s, a := x)` and `struct_update(s, a := x)`."""
    args = [resolver.operand(value, scope) for value in operands(syntax)]
    if not args or any(arg.dtype == UNKNOWN for arg in args):
        return WRONG if args else resolver.call(syntax, scope)
    return changed(syntax, args[0], args[len(syntax.args) :])


def _as_json(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type CAST and TRY_CAST to JSON."""
    if len(syntax.args) != 1 or syntax.keywords:
        raise unknown_function(syntax.function, syntax.span)
    operand = resolver.operand(syntax.args[0], scope)
    if operand.dtype == UNKNOWN:
        return WRONG
    try:
        return cast_to_json(operand, lenient=syntax.function == TRY_AS_JSON)
    except TypeMismatch as error:
        raise InvalidExpression(str(error), syntax.span, error.hint) from None


def _field(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type `x.a`: the field of a struct, or a member of JSON that a call gives."""
    return resolver.expression(member, scope) if (member := part_of_json(syntax)) else resolver.call(syntax, scope)


def _element(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type `x[k]`: an element of a list, a value of a map, a field of a struct, or a character of a text."""
    if part := part_of_json(syntax):
        return resolver.expression(part, scope)
    operand = resolver.operand(syntax.args[0], replace(scope, errors=[]))
    return resolver.expression(part_of(syntax.args[0], syntax.args[1], operand.dtype, syntax), scope)


def _slice(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type `x[a:b]`: elements of a list, or characters of a text."""
    if len(syntax.args) == 3 and resolver.operand(syntax.args[0], replace(scope, errors=[])).dtype == STRING:
        return resolver.expression(text_slice(*syntax.args, syntax), scope)
    return resolver.call(syntax, scope)


def _moved(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type a sum or a difference; with an interval of months it is a call of `date_add`, or of `add_months`."""
    found = moved(syntax)
    if months_of(syntax):
        raise alone(syntax)
    if found is None:
        is_sum = syntax.function == "date_add" and len(syntax.args) == 2
        return resolver.call(replace(syntax, function="add") if is_sum else syntax, scope)
    x, months = found
    if months.count is None:
        written = Apply("date_add", (x, Constant(months.interval, span=syntax.span)), span=syntax.span)
        return resolver.call(written, scope)
    return _moved_by_column(x, months, months.count, syntax, scope, resolver)


def _interval_part(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type `extract(year FROM INTERVAL '14 months')`."""
    part = part_of_interval(syntax)
    assert part is not None
    return resolver.expression(part, scope)


def _moved_by_column(x: Syntax, months: Months, count: Syntax, syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type `x + n * INTERVAL '1 month'`: a timestamp, as of a constant n."""
    if not months.interval.is_of_months:
        message = coded("GE1850", f"'{months.interval}' times a column has no one length")
        hint = "Write x + n * INTERVAL '1 month' + n * INTERVAL '1 day'."
        raise InvalidExpression(message, syntax.span, hint)
    several = count if months.interval.months == 1 else Apply("multiply", (count, Constant(months.interval.months)))
    start, number = resolver.operand(x, scope), resolver.operand(several, scope)
    if UNKNOWN in (start.dtype, number.dtype):
        return WRONG
    function = find_function("add_months", SCALARS)
    assert function is not None
    return resolver.typed_call(
        function, [coerce(start, TIMESTAMP) if start.dtype == DATE else start, number], syntax, (), scope
    )


def _date_part(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type `date_part('year', x)`, which is extract(year FROM x); of a list of names, a struct of the parts."""
    if len(syntax.args) != 2 or syntax.keywords:
        raise wrong_part(syntax, f"{len(syntax.args) + len(syntax.keywords)} arguments")
    name, x = syntax.args
    if listed := parts_listed(syntax):
        return resolver.expression(listed, scope)
    if not isinstance(name, Constant) or name.value is None:
        return part_by_name(syntax, scope, resolver.operand, resolver.expression)
    part = function_of(name.value)
    if part is None:
        raise wrong_part(syntax, repr(name.value))
    return resolver.expression(Apply(part, (x,), span=syntax.span), scope)


def _timezone(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type `timezone(zone, x)`, which is x AT TIME ZONE zone."""
    if len(syntax.args) != 2 or syntax.keywords:
        message = coded("GE1104", "timezone takes a zone and a timestamp")
        raise InvalidExpression(message, syntax.span, "Write x AT TIME ZONE 'Europe/Berlin'.")
    return resolver.call(Apply("at_time_zone", syntax.args[::-1], span=syntax.span), scope)


def _cut(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type `cut(x, breaks, labels)`, which is a CASE."""
    return resolver.operand(cut_as_case(syntax), scope)


def _qcut(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type `qcut(x, 4)`, which is a CASE over aggregates of the group."""
    if not {"window", "aggregate"} <= {*scope.kinds}:
        return resolver.call(syntax, scope)
    return resolver.operand(qcut_as_case(syntax), scope)


def _parsed(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type `strptime(x, ['%Y', …])`, which tries the formats in turn."""
    several = one_format_each(syntax) if syntax.args else None
    return resolver.call(syntax, scope) if several is None else resolver.operand(several, scope)


def _stray(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Refuse what makes an interval of months, beside no date."""
    raise alone(syntax)


def _run_id(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    if operands(syntax):
        raise InvalidExpression(coded("GE1104", "run_id takes no arguments"), syntax.span, "Write run_id().")
    return RunId(scope.run_id, STRING, declared=True)


def _scalar(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Refuse `scalar(stage.column)` where no step has put a column in its place."""
    path = syntax.args[0] if len(syntax.args) == 1 and not syntax.keywords else None
    if isinstance(path, Apply) and path.function == "struct_extract":
        message = coded("GE1810", "scalar is for the expressions of steps")
        raise InvalidExpression(message, syntax.span, "Use it in a step, such as filter or with_columns.")
    message = coded("GE1810", "scalar takes a stage and one of its columns")
    raise InvalidExpression(message, syntax.span, "Write scalar(stage.column).")


def _list_aggregate(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type `list_aggregate(x, 'median')`."""
    return resolver.expression(named_aggregate(syntax), scope)


def _quantile(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type `quantile(x, [0.25, 0.5])`: a list of the quantiles, null where a group has no values."""
    listed = quantile_list(syntax)
    return resolver.call(syntax, scope) if listed is None else resolver.expression(listed, scope)


def _extracted(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type `regexp_extract(text, pattern, ['a', 'b'])`: a struct of the groups; of all matches a list of structs."""
    named = named_groups(syntax)
    return resolver.call(syntax, scope) if named is None else resolver.expression(named, scope)


def _over_elements(syntax: Apply, scope: Scope, resolver: Resolver) -> Expr:
    """Type `list_transform(x, lambda e: …)`."""
    function = find_function(syntax.function, SCALARS)
    assert function is not None

    def type_body(body: Syntax, variables: tuple[ir.Variable, ...]) -> Expr:
        known = {**scope.variables, **{variable.name: variable for variable in variables}}
        return resolver.operand(body, replace(scope, kinds=SCALARS, variables=known))

    lists = resolver.operand(syntax.args[0], scope) if syntax.args else WRONG
    if function.name == "list_reduce":
        initial = resolver.operand(syntax.args[2], scope) if len(syntax.args) == 3 else None
        return reduced(syntax, lists, initial, tuple(scope.variables), type_body, coerce) or WRONG
    return lambda_call(function, syntax, lists, tuple(scope.variables), type_body) or WRONG


_SPECIAL: dict[str, Handler] = {
    RUN_ID: _run_id, SCALAR: _scalar, STRUCT: _struct, SUBSCRIPT: _element, "list_slice": _slice,
    **dict.fromkeys((AS_JSON, TRY_AS_JSON), _as_json), "struct_extract": _field,
    **dict.fromkeys(CHANGED_STRUCTS, _changed_struct),
    **dict.fromkeys(LAMBDA_FUNCTIONS, _over_elements),
    **dict.fromkeys(("add", "subtract", "date_add"), _moved), **dict.fromkeys(MAKERS, _stray),
    **dict.fromkeys(("date_part", "datepart"), _date_part), "timezone": _timezone, "cut": _cut, "qcut": _qcut,
    **dict.fromkeys(PARSERS, _parsed),
    **dict.fromkeys(QUANTILES, _quantile),
    **dict.fromkeys(NAMING, _extracted),
    **dict.fromkeys(BY_NAME, _list_aggregate),
}  # fmt: skip
"""What is typed in a way of its own, by name."""

"""Statistics of lists: what an aggregate gives of the elements of each list.  Null elements are skipped; of a null list it is null."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from gpuetl.expressions.functions import aggregates, distributions, moments
from gpuetl.expressions.functions.function import Function, Rule, TypeMismatch, Typing, scalar_call
from gpuetl.expressions.functions.list_aggregates import in_float64
from gpuetl.expressions.functions.lists import ListFunction, compared_element
from gpuetl.expressions.functions.nested_elements import of_texts
from gpuetl.expressions.ir import Call, Cast, Column, Expr, Lambda, Variable
from gpuetl.types.data_types import DataType, type_name
from gpuetl.types.nested_types import is_list, is_nested

AGGREGATES = {each.name: each for module in (aggregates, moments, distributions) for each in module.FUNCTIONS}
OF_AGGREGATES = {
    "list_median": "median", "list_quantile": "quantile", "list_mode": "mode", "list_mad": "mad", "list_entropy": "entropy",
    "list_histogram": "histogram", "list_var": "var", "list_std": "std", "list_var_pop": "var_pop", "list_std_pop": "std_pop",
    "list_skewness": "skewness", "list_kurtosis": "kurtosis", "list_kurtosis_pop": "kurtosis_pop",
    "list_bit_and": "bitwise_and", "list_bit_or": "bitwise_or", "list_bit_xor": "bitwise_xor",
}  # fmt: skip
"""The aggregate of each function."""
OF_NESTED = ("mode", "entropy")
"""Those that take nested elements."""
ELEMENT = "element"


def typing_of(aggregate: Function, args: Sequence[Expr]) -> tuple[DataType, Sequence[DataType], DataType]:
    """Return the type that an aggregate computes elements in, those of its other arguments, and that of its result."""
    element = compared_element(args[0])
    if is_nested(element) and aggregate.name not in OF_NESTED:
        raise TypeMismatch(f"compares elements, and those of {type_name(args[0].dtype)} are not compared")
    (first, *rest), result = aggregate.rule([Column("", element), *args[1:]])
    return first, rest, result


def of_elements(aggregate: Function) -> Rule:
    """Return the rule of a list: as the aggregate's over its elements."""

    def rule(args: Sequence[Expr]) -> Typing:
        _, rest, result = typing_of(aggregate, args)
        return [args[0].dtype, *rest], result

    return rule


def over(aggregate: Function) -> Callable[[Call], Expr]:
    """Return what casts the elements to the type that the aggregate computes in."""

    def rewrite(call: Call) -> Expr:
        lists, *rest = call.args
        if (by_texts := of_texts(call)) is not call:
            return by_texts
        wanted = typing_of(aggregate, call.args)[0]
        if not is_list(lists.dtype) or lists.dtype.value_type == wanted:
            return call
        element = Variable(ELEMENT, lists.dtype.value_type)
        function = Lambda((element,), Cast(element, wanted, implicit=True))
        cast = scalar_call("list_transform", (lists, function), pa.list_(wanted))
        return Call(call.function, (cast, *rest), call.dtype)

    return rewrite


def statistic(name: str, doc: str, example: str, result: object, more: str = "") -> Function:
    """Return the function that gives an aggregate of elements."""
    aggregate = AGGREGATES[OF_AGGREGATES[name]]
    return ListFunction(name, f"x{more}", of_elements(aggregate), doc, example, result, rewrite=over(aggregate))


FUNCTIONS = (
    statistic("list_median", "`median` of the elements, in float64.", "list_median([4, 1, 2])", 2.0),
    statistic("list_quantile", "`quantile` of the elements, in float64.", "list_quantile([1, 2, 4], 0.25)", 1.5, " q!"),
    statistic("list_mode", "`mode` of the elements: the most frequent, the least of those that tie.", "list_mode([2, 1, 2])", 2),
    statistic("list_mad", "`mad` of the elements.", "list_mad([1, 2, 9])", 1.0),
    statistic("list_entropy", "`entropy` of the elements, in bits; 0 of no values.", "list_entropy([1, 2])", 1.0),
    statistic("list_histogram", "`histogram` of the elements: a map of distinct values to how often each comes.",
              "map_values(list_histogram([2, 1, 2]))", [1, 2]),
    statistic("list_var", "`var` of the elements: the sample variance.", "list_var([1, 2, 3])", 1.0),
    statistic("list_std", "`std` of the elements: the sample standard deviation.", "list_std([1, 2, 3])", 1.0),
    statistic("list_var_pop", "`var_pop` of the elements.", "list_var_pop([1, 3])", 1.0),
    statistic("list_std_pop", "`std_pop` of the elements.", "list_std_pop([1, 3])", 1.0),
    ListFunction("list_sem", "x", in_float64, "`sem` of the elements: list_std_pop(x) / sqrt(list_count(x)).", "list_sem([1, 3, 1, 3])",
                 0.5, definition="list_std_pop(x) / sqrt(list_count(x))"),
    statistic("list_skewness", "`skewness` of the elements.", "list_skewness([1, 2, 3])", 0.0),
    statistic("list_kurtosis", "`kurtosis` of the elements.", "list_kurtosis([1, 2])", None),
    statistic("list_kurtosis_pop", "`kurtosis_pop` of the elements.", "list_kurtosis_pop([1, 3])", -2.0),
    statistic("list_bit_and", "The bits that are set in all elements.", "list_bit_and([7, 5])", 5),
    statistic("list_bit_or", "The bits that are set in any element.", "list_bit_or([4, 1])", 5),
    statistic("list_bit_xor", "The bits that are set in an odd number of elements.", "list_bit_xor([7, 2])", 5),
)  # fmt: skip

"""Comparison, Kleene logic, conditions and nulls on Arrow values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.expressions import decimals
from gpuetl.types.data_types import BOOL, INT64, NULL, is_floating


def all_true(*values: Any) -> Any:
    """Kleene AND of any number of values."""
    return reduce(pc.and_kleene, values)


def any_true(*values: Any) -> Any:
    """Kleene OR of any number of values."""
    return reduce(pc.or_kleene, values)


def is_null(x: Any) -> Any:
    """Whether x is null; NaN is not."""
    return pc.is_null(x, nan_is_null=False)


def compared(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return the handler of a comparison; decimals that no type of 38 digits holds meet in 76."""

    def handler(x: Any, y: Any) -> Any:
        return compare(*(x, y) if x.type == y.type else decimals.in_one_type(x, y))

    return handler


equal = compared(pc.equal)


def is_member(x: Any, *values: Any) -> Any:
    """IN: null where x is null, and where x is not found beside a null."""
    if any(value.type != x.type for value in values):
        return any_true(*(equal(x, value) for value in values))
    plain = all(isinstance(value, pa.Scalar) for value in values) and not isinstance(x, pa.Scalar)
    if not plain or is_floating(x.type):  # a set tells -0.0 from 0.0 and finds NaN; `=` does not
        return any_true(*(pc.equal(x, value) for value in values))
    known = pa.array([value.as_py() for value in values if value.is_valid], x.type)
    found = pc.is_in(x, value_set=known)
    missed = pa.scalar(None, pa.bool_()) if len(known) < len(values) else pa.scalar(False)
    return pc.if_else(pc.is_valid(x), pc.if_else(found, True, missed), pa.scalar(None, pa.bool_()))


def is_not_distinct(x: Any, y: Any) -> Any:
    """`=` where null is a value."""
    both_null = pc.and_(pc.is_null(x), pc.is_null(y))
    return pc.or_(pc.fill_null(equal(x, y), False), both_null)


def is_distinct(x: Any, y: Any) -> Any:
    """`<>` where null is a value."""
    return pc.invert(is_not_distinct(x, y))


def null_if_equal(x: Any, y: Any) -> Any:
    """Null where x equals y."""
    return pc.if_else(pc.fill_null(equal(x, y), False), pa.scalar(None, x.type), x)


def greatest(*values: Any) -> Any:
    """The greatest value that is not null; Arrow would prefer any number to NaN."""
    result = element_wise(pc.max_element_wise, values)
    if not is_floating(result.type):
        return result
    nan = reduce(pc.or_, (pc.fill_null(pc.is_nan(value), False) for value in values))
    return pc.if_else(nan, pa.scalar(float("nan"), result.type), result)


def least(*values: Any) -> Any:
    """The least value that is not null; NaN only where nothing else is."""
    return element_wise(pc.min_element_wise, values)


def element_wise(choose: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Choose among values of one type; Arrow does not for booleans, zoned timestamps and nulls alone."""
    dtype = values[0].type
    if dtype == NULL:
        return values[0]
    if dtype == BOOL or (pa.types.is_timestamp(dtype) and dtype.tz):
        return pc.cast(choose(*(pc.cast(value, INT64) for value in values)), dtype)
    return choose(*values)


HANDLERS: dict[str, Callable[..., Any]] = {
    "equal": equal,
    "not_equal": compared(pc.not_equal),
    "less": compared(pc.less),
    "less_equal": compared(pc.less_equal),
    "greater": compared(pc.greater),
    "greater_equal": compared(pc.greater_equal),
    "is_distinct": is_distinct,
    "is_not_distinct": is_not_distinct,
    "in": is_member,
    "and": all_true,
    "or": any_true,
    "not": pc.invert,
    "is_null": is_null,
    "nullif": null_if_equal,
    "greatest": greatest,
    "least": least,
}

"""Regular expressions from columns: the rows of each distinct pattern are computed together, as those of a constant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import repeated, whole
from gpuetl.errors import EvaluationError
from gpuetl.expressions.regex.row_patterns import RowPattern, refusal, varying
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType

Handler = Callable[..., Any]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PatternRows:
    """Arguments after the text, as scalars, and the rows that have them."""

    arguments: tuple[pa.Scalar, ...]
    rows: Rows

    def refusal(self, function: str) -> str:
        """Return why these are refused; nothing where they are not."""
        return refusal(function, RowPattern.of(function, [argument.as_py() for argument in self.arguments]))


def rows_by_pattern(function: str, values: Sequence[Any]) -> Iterator[PatternRows]:
    """Yield the distinct patterns, with their groups and replacements, of the rows in which nothing is null."""
    columns = {place: whole(values[place]) for place in varying(function, len(values)) if is_column(values[place])}
    text = values[0]
    count = len(next(iter(columns.values()), text))
    valid = np.ones(count, bool)
    for value in (*values[1:], text):
        if not is_column(value):
            valid &= value.is_valid
        elif value.null_count:
            valid &= whole(pc.is_valid(value)).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(valid)
    if not len(rows):
        return
    codes = np.zeros(len(rows), np.int64)
    for column in columns.values():
        encoded = column.take(pa.array(rows)).dictionary_encode()
        own = encoded.indices.to_numpy().astype(np.int64)
        _, codes = np.unique(codes * len(encoded.dictionary) + own, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        found = {place: column[int(rows[part[0]])] for place, column in columns.items()}
        yield PatternRows(tuple(found.get(place, values[place]) for place in range(1, len(values))), rows[part])


def is_column(value: Any) -> bool:
    """Return whether a value is a column, and no scalar."""
    return not isinstance(value, pa.Scalar)


def by_pattern(function: str, handler: Handler, returns: DataType) -> Handler:
    """Return a handler that takes patterns, groups and replacements of rows, given one that takes constants."""

    def computed(*values: Any) -> Any:
        if not any(map(is_column, values[1:])):
            if not all(value.is_valid for value in values[1:]):
                return pa.scalar(None, returns) if not is_column(values[0]) else pa.nulls(len(values[0]), returns)
            check([PatternRows(values[1:], np.zeros(0, np.int64))] if any_valid(values[0]) else [])
            return handler(*values)
        rows = len(next(value for value in values[1:] if is_column(value)))
        text = whole(values[0] if is_column(values[0]) else repeated(values[0], rows))
        parts = list(rows_by_pattern(function, values))
        check(parts)
        results = [pa.nulls(1, returns)]
        places, done = np.zeros(rows, np.int64), 1
        for part in parts:
            result = whole(handler(text.take(pa.array(part.rows)), *part.arguments))
            results.append(result if result.type == returns else result.cast(returns))
            places[part.rows] = done + np.arange(len(part.rows))
            done += len(part.rows)
        return pa.concat_arrays(results).take(pa.array(places))

    def check(parts: Sequence[PatternRows]) -> None:
        for part in parts:
            if why := part.refusal(function):
                raise EvaluationError(why)

    return computed


def any_valid(text: Any) -> bool:
    """Return whether a text, or one of a column, is not null."""
    return bool(text.null_count < len(text)) if is_column(text) else bool(text.is_valid)

"""The bytes of strings before they are made: of functions whose results may be much longer than their arguments.

Arrow's kernels that replace do not check their offsets of 32 bits: they would return wrong strings, or end the process
where memory is short.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.engines import no_result
from gpuetl.engines.no_result import NoResult
from gpuetl.engines.pandas.columns.column import whole
from gpuetl.engines.pandas.expressions.functions.regex import pattern_of
from gpuetl.engines.pandas.expressions.functions.regex_rows import is_column, rows_by_pattern
from gpuetl.errors import EvaluationError
from gpuetl.expressions.functions.strings import MOST_CHARACTERS
from gpuetl.expressions.ir import Call
from gpuetl.expressions.regex import parse_replacement
from gpuetl.expressions.unparse import shown_sql
from gpuetl.memory_limits import host_memory
from gpuetl.messages import coded

SMALL_BYTES = 1 << 28
"""Results of at most this number of bytes always fit: nothing is counted for them."""
Sizes = NDArray[np.int64]


def check_sizes(expr: Call, values: Sequence[Any]) -> None:
    """Refuse a call whose strings would be too long, before they are made.

    Raises
    ------
    NoResult
        For the first row with a string that has more bytes than a string may have.
    EvaluationError
        Where the strings of one chunk have more bytes in all than Arrow's offsets count.
    MemoryError
        Where all of them have more bytes than the host has left.
    """
    count = COUNTS.get(expr.function.name)
    if count is None or most_bytes(expr.function.name, values) <= min(SMALL_BYTES, no_result.MOST_BYTES):
        return
    columns = [value for value in values if isinstance(value, pa.Array | pa.ChunkedArray)]
    rows = len(columns[0]) if columns else 1
    sizes = np.broadcast_to(count(*values), rows)
    if not rows:
        return
    if sizes.max() > no_result.MOST_BYTES:
        row = int(np.argmax(sizes > no_result.MOST_BYTES))
        found = [value if isinstance(value, pa.Scalar) else value[row] for value in values]
        raise NoResult(expr, row if columns else None, found, no_result.too_long(int(sizes[row])))
    ends = np.cumsum([len(chunk) for chunk in chunks_of(columns)]) if columns else np.array([1])
    if (largest := int(np.add.reduceat(sizes, [0, *ends[:-1]]).max())) > no_result.MOST_BYTES:
        what = coded("GE2008", f"{shown_sql(expr)} makes {largest:,} bytes of strings in one partition")
        hint = f"A column holds {no_result.MOST_BYTES:,} of them.  Run with fewer rows a partition: --partition-rows."
        raise EvaluationError(what, hint)
    if (total := int(sizes.sum())) > host_memory().available:
        raise MemoryError(f"allocating {total} B")


def chunks_of(columns: Sequence[Any]) -> list[Any]:
    """Return the chunks that have rows of the column with most chunks: results have at least as many."""
    chunks = [column.chunks if isinstance(column, pa.ChunkedArray) else [column] for column in columns]
    return [chunk for chunk in max(chunks, key=len) if len(chunk)]


def most_bytes(function: str, values: Sequence[Any]) -> float:
    """Return how many bytes all strings of a result have at most, from the sizes of whole columns alone."""
    rows = max((len(value) for value in values if not isinstance(value, pa.Scalar)), default=1)
    strings = sum(
        len(value.as_py().encode()) * rows if isinstance(value, pa.Scalar) else value.nbytes
        for value in values
        if pa.types.is_string(value.type) and (not isinstance(value, pa.Scalar) or value.is_valid)
    )
    if function in ("concat", "concat_ws"):
        return strings * (len(values) if function == "concat_ws" else 1)
    if function == "repeat":
        return float(strings * greatest(copies(values[1])))
    if function in ("lpad", "rpad"):
        return float(strings + (4 + strings) * rows * greatest(copies(values[1])))
    longest = max((greatest(lengths(value)) for value in values[1:]), default=0)
    return float((strings + rows) * (longest + 1))


def greatest(numbers: Any) -> int:
    """Return the greatest of some numbers, or the only one; 0 of none."""
    return int(np.max(numbers, initial=0))


def copies(count: Any) -> Any:
    """Return a count of each row, 0 of null, and where it is refused; of a scalar one number."""
    if isinstance(count, pa.Scalar):
        found = count.as_py() or 0
        return found if 0 < found <= MOST_CHARACTERS else 0
    found = pc.fill_null(count, 0).to_numpy().astype(np.int64)
    return np.where((found > 0) & (found <= MOST_CHARACTERS), found, 0)


def lengths(text: Any) -> Any:
    """Return the bytes of each text, 0 of null; of a scalar one number."""
    if isinstance(text, pa.Scalar):
        return len(text.as_py().encode()) if text.is_valid else 0
    return pc.fill_null(pc.binary_length(text), 0).to_numpy().astype(np.int64)


def counted(text: Any, count: Callable[[Any], Any]) -> Any:
    """Return a count of each text, 0 of null; of a scalar one number."""
    found = count(text)
    if isinstance(found, pa.Scalar):
        return found.as_py() or 0
    return pc.fill_null(found, 0).to_numpy().astype(np.int64)


def concat(*strings: Any) -> Any:
    """Return the sum of the strings' bytes."""
    return sum(map(lengths, strings))


def concat_with(separator: Any, *strings: Any) -> Any:
    """Return the bytes of the strings, with the separators between them."""
    return sum(map(lengths, strings)) + lengths(separator) * (len(strings) - 1)


def repeat(text: Any, count: Any) -> Any:
    """Return the bytes of all copies."""
    return lengths(text) * copies(count)


def padded(text: Any, length: Any, fill: Any = None) -> Any:
    """Return the bytes of the text and of what is missing to the length."""
    missing = np.maximum(copies(length) - counted(text, pc.utf8_length), 0)
    if fill is None:
        return lengths(text) + missing
    points = np.maximum(counted(fill, pc.utf8_length), 1)
    return lengths(text) + -(-missing // points) * lengths(fill)


def replaced(text: Any, old: Any, new: Any) -> Any:
    """Return the bytes after every `old` is replaced."""
    if not isinstance(old, pa.Scalar) or not isinstance(new, pa.Scalar):
        return replaced_by_row(text, old, new)
    if not old.as_py():
        return lengths(text)
    found = counted(text, lambda value: pc.count_substring(value, pattern=old.as_py()))
    return lengths(text) + found * (lengths(new) - lengths(old))


def replaced_by_row(*values: Any) -> Any:
    """Return the bytes after every `old` of the row is replaced."""
    rows = max(len(value) for value in values if not isinstance(value, pa.Scalar))
    columns = ([v.as_py()] * rows if isinstance(v, pa.Scalar) else v.to_pylist() for v in values)
    sizes = (
        0 if None in (text, old, new) else len(text.encode()) + change_of(text, old, new)
        for text, old, new in zip(*columns, strict=True)
    )
    return np.fromiter(sizes, np.int64, rows)


def change_of(text: str, old: str, new: str) -> int:
    """Return the bytes that a text gains where `old` is replaced."""
    return (len(new.encode()) - len(old.encode())) * text.count(old) if old else 0


def by_pattern(function: str, count: Callable[..., Any]) -> Callable[..., Any]:
    """Return a count that takes patterns of rows, given one for constants; what is refused, or null, has no bytes."""

    def counted_rows(*values: Any) -> Any:
        columns = [value for value in values if is_column(value)]
        if not any(map(is_column, values[1:])):
            valid = all(value.is_valid for value in values[1:])
            return count(*values) if valid else lengths(values[0]) * 0
        sizes = np.zeros(len(columns[0]), np.int64)
        text = whole(values[0]) if is_column(values[0]) else values[0]
        for part in rows_by_pattern(function, values):
            if not part.refusal(function):
                texts = text.take(pa.array(part.rows)) if is_column(text) else text
                sizes[part.rows] = count(texts, *part.arguments)
        return sizes

    return counted_rows


def matches_replaced(text: Any, pattern: Any, replacement: Any, options: Any = None) -> Any:
    """Return the bytes after every match is replaced; a group counts as its whole match, which may be longer."""
    parts = parse_replacement(replacement.as_py())
    fixed = sum(len(part.encode()) for part in parts if isinstance(part, str))
    groups = sum(isinstance(part, int) for part in parts)
    written = pattern_of(pattern, options).pattern_text()
    rest = lengths(pc.replace_substring_regex(text, pattern=written, replacement=""))
    return rest + (lengths(text) - rest) * groups + matches(text, pattern, options) * fixed


def matches_marked(text: Any, pattern: Any, options: Any = None) -> Any:
    """Return the bytes where every match gets one more, by which they are counted."""
    return lengths(text) + matches(text, pattern, options)


def matches(text: Any, pattern: Any, options: Any) -> Any:
    """Return the matches in each text, at most."""
    if pattern_of(pattern, options).can_be_empty:
        return counted(text, pc.utf8_length) + 1
    written = pattern_of(pattern, options).pattern_text()
    return counted(text, lambda value: pc.count_substring_regex(value, pattern=written))


COUNTS: dict[str, Callable[..., Any]] = {
    "concat": concat, "concat_ws": concat_with, "repeat": repeat, "lpad": padded, "rpad": padded, "replace": replaced,
    "regexp_replace": by_pattern("regexp_replace", matches_replaced),
    "regexp_count": by_pattern("regexp_count", matches_marked),
}  # fmt: skip
"""The bytes of each string that a function makes, or that it makes on the way."""

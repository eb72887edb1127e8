"""`incremental`: a source of which each run reads only what no successful run has read.

    landing: {csv: landing, schema: {…}, incremental: {new_files: true}}
    clicks:  {parquet: clicks, incremental: {watermark: ts, lateness: interval '2 hours'}}

Here the key is read and checked.  `run/incremental` chooses what a run reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Protocol, TypedDict

from gpuetl.errors import Problems
from gpuetl.expressions.interval_text import interval_of
from gpuetl.expressions.syntax import Constant
from gpuetl.expressions.unparse import constant_text
from gpuetl.messages import coded
from gpuetl.plan.incremental import Changed, Incremental, Late, NewFiles, Watermark
from gpuetl.records import dataclass
from gpuetl.spec.document import Node
from gpuetl.spec.fields import Field, key, keys_of, read_keys, write_keys
from gpuetl.spec.forms import BOOLEAN, NAME, choice, read_formula
from gpuetl.spec.values import BadValue, BadValues, KeyPlace
from gpuetl.types.data_types import DATE, TIMESTAMP_NS, DataType, is_integer, is_temporal, type_name

Lateness = timedelta | int


class NewFilesKeys(TypedDict, total=False):
    """`incremental` of a source by its files, in Python."""

    new_files: bool
    changed: Changed


class WatermarkKeys(TypedDict, total=False):
    """`incremental` of a source by a column, in Python."""

    watermark: str
    lateness: timedelta | int | str
    late: Late


def read_lateness(node: Node) -> Lateness:
    """Read an interval, such as `interval '2 hours'` or `2 hours`, or a whole number."""
    value = node.value
    if isinstance(value, timedelta):
        found: object = value
    elif isinstance(value, str):
        try:
            found = interval_of(value)
        except ValueError:
            syntax = read_formula(node).syntax
            found = syntax.value if isinstance(syntax, Constant) else None
    else:
        found = value
    if isinstance(found, bool) or not isinstance(found, timedelta | int):
        shown = f"'{value}'" if isinstance(value, str) else node.kind
        message = coded("GE1008", f"takes an interval or a whole number, got {shown}")
        raise BadValue(message, node, "Write interval '2 hours', or a number for a column of integers.")
    if (found.total_seconds() if isinstance(found, timedelta) else found) < 0:
        raise BadValue(coded("GE1008", "must not be negative"), node, "Rows may be late by 0 or more.")
    return found


def write_lateness(value: Lateness) -> str | int:
    """Write an interval as SQL, and a number as it is."""
    return constant_text(value).replace("INTERVAL", "interval") if isinstance(value, timedelta) else value


LATENESS: Field[Lateness] = Field(
    "an interval, or a whole number", read_lateness, write_lateness, schema={"type": ["string", "integer"]}
)
CHANGED: Field[Changed] = choice("error", "take", "skip")  # type: ignore[assignment]
LATE: Field[Late] = choice("warn", "ignore", "error")  # type: ignore[assignment]


@dataclass(frozen=True)
class IncrementalSpec:
    """What each run reads of a source: files that are new, or rows beyond a watermark."""

    new_files: bool = key(BOOLEAN, False, doc="read the files that no successful run has read")
    changed: Changed = key(
        CHANGED, "error", doc="what to do with a file that has changed since a run read it: stop, read it again, or not"
    )
    watermark: str = key(NAME, "", doc="a column whose values grow: read the rows beyond those that runs have read")
    lateness: Lateness = key(LATENESS, 0, doc="how much later than the newest row a row may come")
    late: Late = key(LATE, "warn", doc="what to do where rows came too late: count them in a warning, nothing, or stop")


OF_FILES, OF_ROWS = ("new_files", "changed"), ("watermark", "lateness", "late")


def read_incremental(node: Node) -> IncrementalSpec:
    """Read the map of a source's key `incremental`."""
    problems = Problems()
    found = read_keys(IncrementalSpec, node, problems, "")
    if found is None:
        raise BadValues(
            [BadValue(one.message, KeyPlace(one.place) if one.place else node, one.hint) for one in problems.found]
        )
    if not found.new_files and not found.watermark:
        message = coded("GE1548", "names neither new_files: true nor a watermark")
        raise BadValue(message, node, "Write {new_files: true}, or {watermark: COLUMN}.")
    others = OF_ROWS if found.new_files else OF_FILES
    for name in node.value:
        if name in others and not (name == "new_files" and not found.new_files):
            of = "new_files" if found.new_files else "a watermark"
            message = coded("GE1548", f"{name} does not go together with {of}")
            raise BadValue(message, KeyPlace(node.keys[name]), f"Keys for {of}: {', '.join(own_keys(found))}.")
    return found


def own_keys(spec: IncrementalSpec) -> tuple[str, ...]:
    """Return the keys that go together."""
    return OF_FILES if spec.new_files else OF_ROWS


def write_incremental(spec: IncrementalSpec) -> dict[str, Any]:
    """Write the map."""
    return write_keys(spec)


def incremental_schema() -> dict[str, Any]:
    """Return the JSON Schema of the map."""

    def properties(names: tuple[str, ...]) -> dict[str, Any]:
        declared = keys_of(IncrementalSpec)
        return {name: shown(declared[name].metadata) for name in names}

    def shown(metadata: Any) -> dict[str, Any]:
        doc = metadata["doc"]
        return {"description": f"{doc[0].upper()}{doc[1:]}.", **(metadata["form"].schema or {})}

    def closed(names: tuple[str, ...]) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": properties(names),
            "required": [names[0]],
            "additionalProperties": False,
        }

    return {"anyOf": [closed(OF_FILES), closed(OF_ROWS)]}


INCREMENTAL: Field[IncrementalSpec | None] = Field(
    "a map of new_files, or of watermark and lateness",
    read_incremental,
    write_incremental,  # type: ignore[arg-type]
    constant=True,
    schema=incremental_schema(),
)


class Report(Protocol):
    """Takes a message, a hint, and the value that is wrong."""

    def __call__(self, message: str, hint: str, at: object) -> None:
        """Keep the problem."""


def bound_incremental(
    spec: IncrementalSpec, path: str, schema: Mapping[str, DataType], problem: Report
) -> Incremental | None:
    """Return what a run reads of a source with these columns; None, with the problem reported, where that is wrong.

    `path` is that of the source, as it is written.
    """
    if spec.new_files:
        return NewFiles(path, spec.changed)
    column = spec.watermark
    dtype = schema[column]
    if not can_be_watermark(dtype):
        message = coded("GE1542", f"watermark: '{column}' is {type_name(dtype)}")
        problem(message, "Take a column of timestamps, dates or integers.", at=column)
        return None
    lateness = lateness_of(spec.lateness, dtype)
    if lateness is None:
        days = " of whole days" if dtype == DATE else ""
        kind = "a whole number" if is_integer(dtype) else f"an interval{days}"
        shown = write_lateness(spec.lateness)
        message = coded("GE1542", f"lateness: {shown} does not suit '{column}', which is {type_name(dtype)}")
        problem(message, f"Write {kind}.", at=column)
        return None
    return Watermark(path, str(column), dtype, lateness, spec.late)


def can_be_watermark(dtype: DataType) -> bool:
    """Tell whether rows of a source are chosen by a column of this type."""
    return is_integer(dtype) or dtype == DATE or (is_temporal(dtype) and has_days(dtype))


def has_days(dtype: DataType) -> bool:
    """Tell whether a type has a date and microseconds: neither a duration nor a time of day, nor nanoseconds."""
    return dtype != TIMESTAMP_NS and str(dtype).startswith("timestamp[us")


def lateness_of(lateness: Lateness, dtype: DataType) -> Lateness | None:
    """Return a lateness that can be subtracted from values of a type; None for one that cannot."""
    if is_integer(dtype):
        return lateness if isinstance(lateness, int) else None
    if isinstance(lateness, int):
        return timedelta(0) if lateness == 0 else None
    return None if dtype == DATE and lateness % timedelta(days=1) else lateness

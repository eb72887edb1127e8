"""What successful runs have read of an incremental source, as `state.json` has it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from gpuetl.records import dataclass
from gpuetl.types.data_types import DATE, DataType, is_integer, parse_type, type_name

WatermarkValue = int | date
"""A value of a watermark's column; a `datetime` is a `date`, too."""


@dataclass(frozen=True)
class FilesState:
    """The files of a source that successful runs have read.

    `path` is that of the source, as the pipeline has it.  `files` are Arrow files of the state folder that list them: a
    later one's entry of a file replaces an earlier one's.  `count` is how many entries these have.
    """

    path: str
    files: tuple[str, ...] = ()
    count: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return {"kind": "new_files", "path": self.path, "count": self.count, "files": list(self.files)}


@dataclass(frozen=True)
class WatermarkState:
    """The watermark of a source: successful runs have read all rows up to `value`.

    `rows` is how many rows of the source were at or below it then; None where that was not counted.
    """

    path: str
    column: str
    dtype: DataType
    value: WatermarkValue
    rows: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the state as plain data."""
        value = self.value if isinstance(self.value, int) else self.value.isoformat()
        own = {"path": self.path, "column": self.column, "type": type_name(self.dtype)}
        return {"kind": "watermark", **own, "value": value, "rows": self.rows}


SourceState = FilesState | WatermarkState


def source_state(data: Mapping[str, Any]) -> SourceState:
    """Return a source's state from plain data.

    Raises
    ------
    KeyError, TypeError, ValueError
        For what `to_json` does not write.
    """
    if data["kind"] == "new_files":
        return FilesState(str(data["path"]), tuple(map(str, data["files"])), int(data["count"]))
    if data["kind"] != "watermark":
        raise ValueError(f"unknown kind {data['kind']!r}")
    dtype, rows = parse_type(data["type"]), data["rows"]
    value = watermark_value(data["value"], dtype)
    return WatermarkState(str(data["path"]), str(data["column"]), dtype, value, None if rows is None else int(rows))


def watermark_value(written: Any, dtype: DataType) -> WatermarkValue:
    """Return a watermark's value from plain data; raise `ValueError` or `TypeError` for what is none of the type."""
    if is_integer(dtype):
        return int(written)
    return date.fromisoformat(written) if dtype == DATE else datetime.fromisoformat(written)

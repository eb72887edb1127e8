"""JSON lines: one object a line, in the types that the source declares, or that the first lines have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from gpuetl.errors import system_reason
from gpuetl.format_options import NO_OPTIONS, FormatOptions
from gpuetl.formats.format import Encoding, Format, Piece
from gpuetl.formats.json_options import COMPRESSED, JsonReadOptions, JsonWriteOptions, json_options
from gpuetl.formats.json_text import first_lines, lines_before, part_text, parts_of
from gpuetl.formats.json_types import types_of
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.open_file import opened, opened_to_look
from gpuetl.places.paths import FilePath
from gpuetl.types.data_types import DURATION, TIME, TIMESTAMP_NS, DataType, is_binary, is_opaque
from gpuetl.types.nested_types import is_nested, type_parts

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset

SUFFIXES = (".jsonl", ".ndjson", ".json")


class InferredTypes(dict[FilePath, Mapping[str, DataType]]):
    """The columns of files without a declared schema, as their first lines were when they were first looked at."""


NO_FORM = (DURATION, TIME, TIMESTAMP_NS)


class JsonFormat(Format):
    """JSON lines.  What a value means is decided by the readers of the engines, with the types that are declared."""

    name = "json"
    title = "JSON"
    suffixes = (*SUFFIXES, *(suffix + end for end in COMPRESSED.values() for suffix in SUFFIXES))
    read_options = JsonReadOptions
    write_options = JsonWriteOptions
    encoding = Encoding(2.0, 0, 1.1)
    infers_columns = True

    def metadata(self) -> InferredTypes:
        """Return the inferred types."""
        return InferredTypes()

    def stored(self, dataset: Dataset, file: DataFile) -> Mapping[str, DataType]:
        """Return the declared columns, else those of the first file; with `extra_columns: add` a file's own."""
        if dataset.declared and dataset.extra_columns != "add":
            return dataset.declared
        first = dataset.all_files[0] if dataset.extra_columns != "add" else file
        return inferred(dataset, first)

    def inferred_from(self, dataset: Dataset) -> str:
        """Return which lines were looked at."""
        count = f"{json_options(dataset).sample_rows:,}"
        return "" if dataset.declared or not dataset.files else f"up to {count} lines of {dataset.files[0].path}"

    def pieces(self, dataset: Dataset, file: DataFile) -> Sequence[Piece]:
        """Return parts of a file of 64 MB, whose rows are not known."""
        with opened_to_look(file.path, file.state) as source:
            return [Piece(-1, {"": size}) for size in parts_of(source)]

    def holds(self, dtype: DataType) -> bool:
        """Tell whether JSON has a type: durations, times of day and bytes have no form in it."""
        flat = [part for part in type_parts(dtype) if not is_nested(part)]
        return not any(is_binary(part) or is_opaque(part) or part in NO_FORM for part in flat)

    def row_name(self, dataset: Dataset, group: RowGroup, row: int) -> str:
        """Name a row by its line; lines without a value have no row."""
        with opened(group.file.path, group.file.state) as source:
            before, text = lines_before(source, group.index), part_text(source, group.index)
        lines = [number for number, line in enumerate(text.split(b"\n"), 1) if line.strip()]
        at = lines[row - 1] if row <= len(lines) else row
        return f"Line {before + at} of {group.file.path}"

    def sink_suffix(self, path: str, options: FormatOptions) -> str:
        """Return how names of the sink's files end: as its path does, if it is one file, with the compression's."""
        codec = JsonWriteOptions.of(options).compression.codec
        end = COMPRESSED.get(codec, "")
        suffixes = self.suffixes if codec == "auto" else [suffix + end for suffix in SUFFIXES]
        found = [suffix for suffix in suffixes if path.endswith(suffix)]
        return max(found, key=len, default=suffixes[0])

    def write(self, table: pa.Table, path: Path, options: FormatOptions = NO_OPTIONS) -> None:
        """Write one object a row; null is null."""
        from gpuetl.formats.json_writing import write_lines

        write_lines(table, path, JsonWriteOptions.of(options).codec(path.name))

    def columns_of(self, file: OpenFile) -> list[str]:
        """Return the names of the columns in the first line."""
        from gpuetl.formats.json_text import parsed

        return sorted(name for line in first_lines(file, 1) for name in parsed(line))


def inferred(dataset: Dataset, file: DataFile) -> Mapping[str, DataType]:
    """Return the columns of a file's first lines, which are looked at once.

    Raises
    ------
    DatasetError
        For a file that cannot be read, and where its lines have no columns or no common types.
    """
    known, options = dataset.metadata, json_options(dataset)
    assert isinstance(known, InferredTypes)
    if file.path not in known:
        try:
            with opened_to_look(file.path, file.state) as source:
                lines = first_lines(source, options.sample_rows)
                known[file.path] = types_of(lines, file.path, options.on_bad_row != "fail")
        except OSError as error:
            reason = system_reason(error) or " ".join(str(error).split())
            hint = "Check the file, or take it out of the source's path."
            raise DatasetError(coded("GE1403", f"cannot read {file.path}: {reason}"), hint) from None
        if not known[file.path]:
            hint = "Declare the source's schema."
            raise DatasetError(coded("GE1435", f"{file.path}: the file has no line with a column"), hint)
    return known[file.path]

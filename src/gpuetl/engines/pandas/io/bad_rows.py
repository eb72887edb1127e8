"""Rows of a CSV file that are not as the schema says: an error with the line, null, or quarantine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Column
from gpuetl.engines.pandas.io.csv_values import LARGEST_BLOCK, Written, advice, read_texts, reads, values_of
from gpuetl.formats.csv_header import header_of
from gpuetl.formats.csv_options import csv_options
from gpuetl.formats.csv_pieces import CsvText
from gpuetl.formats.csv_records import CsvRecords, shortened, text_after_quote
from gpuetl.formats.csv_tokens import fields_with_text_after, without_comments
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.rejected import COLUMNS
from gpuetl.io.data_file import DataFile
from gpuetl.messages import coded, recoded
from gpuetl.places.file_state import DatasetError
from gpuetl.records import dataclass
from gpuetl.telemetry.counted_warning import SHOWN, Count, CountedWarning
from gpuetl.telemetry.recorder import warn
from gpuetl.types.data_types import STRING, DataType, type_name

VALUE_CHARACTERS = 80


@dataclass(frozen=True)
class CsvRows:
    """The rows of a piece of a file as bytes: row i of `texts` is record `records[i]` of the piece, from 0.

    `broken` has the records with too few or too many fields, and how many those are; they are among the rows only
    where bad rows are read as null.  `text_after_quote` has the records with fields that go on after their closing
    quote, and which fields those are; they are among the rows.
    """

    dataset: Dataset
    file: DataFile
    types: Mapping[str, DataType]
    texts: pa.Table
    records: NDArray[np.int64]
    broken: Mapping[int, int]
    places: CsvRecords
    text_after_quote: Mapping[int, tuple[int, ...]]

    @classmethod
    def read(cls, dataset: Dataset, file: DataFile, types: Mapping[str, DataType], text: CsvText) -> Self:
        """Read records on one thread, which knows the number of each.

        Raises
        ------
        pyarrow.ArrowInvalid
            For what is not CSV.
        """
        header, broken, options = header_of(dataset, file).names, dict[int, int](), csv_options(dataset)

        def skip(row: Any) -> str:
            broken[row.number - 1] = row.actual_columns
            return "skip"

        places = CsvRecords(text.data, options.dialect, empty_lines=len(header) == 1, first_line=text.line)
        is_utf8 = places.is_utf8()
        data = without_comments(text.data, options.dialect)
        data = data if is_utf8 else as_latin_1(data)
        block = min(LARGEST_BLOCK, max(1 << 20, 2 * len(data)))  # a record must fit a block
        texts = read_texts(dataset, data, header, list(types), skip, block)
        if not is_utf8:
            texts = pa.table({name: of_latin_1(texts.column(name)) for name in texts.column_names})
        rows = texts.num_rows if types else len(places) - len(broken)
        numbers = np.arange(rows + len(broken))
        records = numbers[~np.isin(numbers, list(broken))]
        after = {
            record: fields_with_text_after(places.fields(record), options.dialect) for record in places.text_after_quote
        }
        made = cls(dataset, file, types, texts, records, broken, places, after)
        return made.repaired() if broken and options.on_bad_row == "null" else made

    def repaired(self) -> Self:
        """Return the rows with those that have too few or too many fields, which get nulls or lose the last ones."""
        header, options = header_of(self.dataset, self.file).names, csv_options(self.dataset)
        delimiter, lines = options.delimiter.encode(), []
        for record in self.broken:
            fields = self.places.fields(record)[: len(header)]
            missing = (self.null(name) for name in header[len(fields) :])
            lines.append(delimiter.join([*fields, *missing]))
        buffer = b"\n".join(lines) + b"\n"
        size = max(1 << 20, len(buffer))
        added = read_texts(self.dataset, buffer, header, list(self.types), lambda row: "error", size)
        records = np.concatenate([self.records, np.array(list(self.broken), np.int64)])
        order = np.argsort(records, kind="stable")
        texts = pa.concat_tables([self.texts, added]).take(order) if self.types else self.texts
        return replace(self, texts=texts, records=records[order])

    def null(self, name: str) -> bytes:
        """Return how null is written in a column."""
        return next(iter(csv_options(self.dataset).nulls.of(name)), "").encode()

    @cached_property
    def converted(self) -> tuple[dict[str, Column], dict[str, NDArray[np.bool_]]]:
        """The values of each column, and by column which rows have a bad one, for columns that have any."""
        values, bad = {}, {}
        for name, dtype in self.types.items():
            text, other = decoded(self.texts.column(name))
            values[name], wrong = (text, None) if dtype == STRING else values_of(text, dtype, self.written(name))
            masks = [mask for mask in (other, wrong) if mask is not None]
            irregular = self.goes_on(name)
            if masks:
                wrong_rows = np.logical_or.reduce([np.asarray(mask, np.bool_) for mask in masks]) & ~irregular
                if wrong_rows.any():
                    bad[name] = wrong_rows
            if irregular.any():
                values[name] = pc.if_else(pa.array(irregular), pa.scalar(None, values[name].type), values[name])
        return values, bad

    def written(self, name: str) -> Written:
        """Return how the values of a column are written."""
        return Written.of(csv_options(self.dataset), name, self.types[name])

    def goes_on(self, name: str) -> NDArray[np.bool_]:
        """Tell in which rows the field of a column goes on after its closing quote."""
        place = header_of(self.dataset, self.file).names.index(name)
        return np.isin(self.records, [record for record, fields in self.text_after_quote.items() if place in fields])

    def allowed(self) -> pa.Table:
        """Return the rows as the source's `on_bad_row` says.

        Raises
        ------
        DatasetError
            With the first bad row, where it says `fail`.
        """
        values, bad = self.converted
        mode = csv_options(self.dataset).on_bad_row
        dirty = bool(bad or self.broken or self.text_after_quote)
        if mode == "fail" and dirty:
            raise self.first_error()
        rows = pa.table(values) if values else self.texts
        if mode == "null" and dirty:
            warn(self.warning())
        if mode == "quarantine" and (bad or self.text_after_quote):
            after = np.isin(self.records, list(self.text_after_quote))
            rows = rows.filter(pa.array(~np.logical_or.reduce([after, *bad.values()])))
        return rows

    def rejected(self, run_id: str) -> pa.Table:
        """Return where the bad rows stand, as they are written, and what is wrong with each."""
        rules = dict(sorted(self.rules().items()))
        columns = {
            "file": [str(self.file.path)] * len(rules), "line": [self.places.line(record) for record in rules],
            "text": [self.places.text(record) for record in rules], "_rule": list(rules.values()),
            "_run": [run_id] * len(rules),
        }  # fmt: skip
        return pa.table(columns, schema=COLUMNS.to_arrow())

    def rules(self) -> dict[int, str]:
        """Return what is wrong with each bad record."""
        told = {
            record: ["text after the closing quote of field " + " and ".join(str(place + 1) for place in fields)]
            for record, fields in self.text_after_quote.items()
        }
        for record, count in self.broken.items():
            told.setdefault(record, []).append(self.counted(count))
        for name, mask in self.converted[1].items():
            for row in np.flatnonzero(mask).tolist():
                told.setdefault(int(self.records[row]), []).append(self.said(name, row))
        return {record: "; ".join(parts) for record, parts in told.items()}

    def said(self, name: str, row: int) -> str:
        """Say of a bad value what it is not."""
        return f"{name}: '{self.value(name, row)}' is not a valid {type_name(self.types[name])}"

    def counted(self, fields: int) -> str:
        """Say how many fields a record has."""
        return f"{fields} field{'s' * (fields != 1)}, expected {len(header_of(self.dataset, self.file).names)}"

    def value(self, name: str, row: int) -> str:
        """Return a value as it is written, without its quotes."""
        return shortened(self.texts.column(name)[row].as_py().decode("utf-8", "replace"), VALUE_CHARACTERS)

    def first_error(self) -> DatasetError:
        """Word the first bad row of the file."""
        _, bad = self.converted
        firsts = {name: int(np.argmax(mask)) for name, mask in bad.items()}
        name = min(firsts, key=lambda one: firsts[one], default="")
        record = min([*self.broken, *self.text_after_quote, *([int(self.records[firsts[name]])] if name else [])])
        at = f"{self.file.path}:{self.places.line(record)}"
        if record in self.text_after_quote:
            return text_after_quote(self.file.path, self.places.line(record), self.places.text(record))
        if record in self.broken:
            hint = "Put texts that hold the delimiter in quotes, or set such rows aside: on_bad_row: quarantine."
            return DatasetError(
                coded("GE1411", f"{at}: {self.counted(self.broken[record])}: {self.places.text(record)}"), hint
            )
        dtype, row = self.types[name], firsts[name]
        told = coded(
            "GE1410",
            f"column '{name}': '{self.value(name, row)}' is not a valid {type_name(dtype)}, which is {reads(dtype)}",
        )
        return DatasetError(recoded(f"{at}: {told}", told), self.advice(name))

    def advice(self, name: str) -> str:
        """Return the next step for a column that has a value which is not of its type."""
        options = csv_options(self.dataset)
        told = advice(name, decoded(self.texts.column(name))[0], self.types[name], options)
        rows = self.dataset.inferred_rows
        if not rows:
            return told
        return f"The type was inferred from the first {rows:,} rows: write out the schema.  {told}"

    def warning(self) -> CountedWarning:
        """Count what was read as null, or left out, with the first places."""
        _, bad = self.converted
        nulls, place = "values that are not of their type are null", self.places.first_line
        counts = [
            Count(f"column '{name}'", place, int(mask.sum()), tuple(self.shown(name, mask)), nulls)
            for name, mask in bad.items()
        ]
        expected = len(header_of(self.dataset, self.file).names)
        for what, such in (
            ("text after a closing quote get nulls there", list(self.text_after_quote)),
            ("too few fields get nulls", [r for r, n in self.broken.items() if n < expected]),
            ("too many fields lose the last ones", [r for r, n in self.broken.items() if n > expected]),
        ):
            if such:
                lines = tuple(f"line {self.places.line(record)}" for record in such[:SHOWN])
                counts.append(Count(f"rows with {what}", place, len(such), lines))
        return CountedWarning("GE1706", f"source '{self.dataset.name}': {self.file.path}", counts)

    def shown(self, name: str, mask: NDArray[np.bool_]) -> Iterator[str]:
        """Yield the first bad values of a column with their lines."""
        for row in np.flatnonzero(mask)[:SHOWN].tolist():
            yield f"line {self.places.line(int(self.records[row]))}: '{self.value(name, row)}'"


def as_latin_1(data: bytes) -> bytes:
    """Return bytes that are not UTF-8 as UTF-8 in which each stands for itself: Arrow hands bad rows over as text."""
    return data.decode("latin-1").encode()


def of_latin_1(column: Column) -> Column:
    """Return the bytes that `as_latin_1` took."""
    values = (None if value is None else value.decode().encode("latin-1") for value in column.to_pylist())
    return pa.chunked_array([pa.array(values, pa.binary())])


def decoded(column: Column) -> tuple[Column, Column | None]:
    """Return bytes as texts, and where they are not UTF-8, if anywhere: null then."""
    try:
        return column.cast(STRING), None
    except pa.ArrowInvalid:
        texts = pa.array([text_or_none(value) for value in column.to_pylist()], STRING)
        return texts, pc.and_(pc.is_null(texts), pc.is_valid(column.combine_chunks()))


def text_or_none(value: bytes | None) -> str | None:
    """Return bytes as a text, None where they are not UTF-8."""
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None

"""Hints for columns of a CSV file that are strings only because of a few values, or of how numbers and dates look."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gpuetl.expressions.unparse import quote_name
from gpuetl.formats.csv_header import header_of
from gpuetl.formats.csv_inference import (
    INTEGER,
    NO_NUMBER,
    NUMBER,
    READS,
    UTC,
    Sample,
    is_written,
    plain_number,
    sample_of,
    values_in,
)
from gpuetl.formats.csv_options import CsvOptions, csv_options
from gpuetl.types.data_types import BOOL, DATE, FLOAT64, INT64, STRING, TIMESTAMP, DataType, integer_fits, type_name
from gpuetl.units import percent

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset

LEAST_GOOD = 0.8
"""The share of a column's values that must be of another type, for a hint."""
TRIED_VALUES = 20
"""Values, spread over the sample, of which a way to read must read half before it is tried on all."""
MOST_MARKERS = 3
SHOWN_CHARACTERS = 40
CODE = re.compile(r"[-+]?[0-9]+")
MARKER = re.compile(r"#?n[/.]?a\.?|null|none|nil|missing|unknown|empty|tbd|[-.?*x]+", re.IGNORECASE)
"""Texts that often stand for no value."""
DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d.%m.%y", "%m/%d/%y", "%d-%b-%Y", "%d %b %Y")
AMBIGUOUS = {("thousands", "decimal"), ("date_format", "date_format"), ("timestamp_format", "timestamp_format")}
"""Options that may read the same values as other ones: `1,234`, or `01/02/2026`."""
CLOCKS = (" %H:%M", " %H:%M:%S", "T%H:%M:%S")


class Value(NamedTuple):
    """A value of a column, without spaces around it: its row from 1 on, and whether it seems to stand for no value."""

    row: int
    text: str
    is_marker: bool


class Reading(NamedTuple):
    """A way to read the values of a column: as a type, with other options of the source.

    `bad` are the values that it does not read, and `other` are options that read as many.
    """

    dtype: DataType
    options: Mapping[str, str]
    reads: Callable[[str], bool]
    bad: Sequence[Value] = ()
    other: Mapping[str, str] = {}


def hints(dataset: Dataset, types: Mapping[str, DataType]) -> dict[str, str]:
    """Return hints on string columns of a source's first file whose values are mostly of another type, by column.

    `types` are the columns as they were inferred.  Columns of codes, such as `007`, get none.
    """
    file, options = dataset.files[0], csv_options(dataset)
    sample = sample_of(file, options, header_of(dataset, file))
    found = dict[str, str]()
    for place, name in enumerate(sample.header.names):
        if types.get(name) == STRING:
            values = list(values_of(sample, place, options))
            if best := best_reading(name, values, options):
                found[name] = hint(name, values, best, has_points=FLOAT64 in types.values())
    return found


def values_of(sample: Sample, place: int, options: CsvOptions) -> Iterator[Value]:
    """Yield the values of a column that are not null."""
    quote = options.quote.encode()
    for row, fields in enumerate(sample.rows, 1):
        for text in values_in(Sample(sample.header, [fields]), place, options):
            yield Value(row, text.strip(" \t"), is_marker(text) and not (quote and fields[place].startswith(quote)))


def best_reading(name: str, values: Sequence[Value], options: CsvOptions) -> Reading | None:
    """Return how most values of a column can be read; None where that is as strings, or where they are codes."""
    some, best = values[:: max(1, len(values) // TRIED_VALUES)], None
    for reading in readings(name, options):
        if sum(reading.reads(value.text) for value in some) < len(some) / 2:
            continue
        bad = [value for value in values if not reading.reads(value.text)]
        is_rare = len(values) - len(bad) < max(2, LEAST_GOOD * len(values))
        if is_rare or any(CODE.fullmatch(value.text) for value in bad):
            continue
        if best is None or len(bad) < len(best.bad):
            best = reading._replace(bad=bad)
        elif len(bad) == len(best.bad) and (*best.options, *reading.options) in AMBIGUOUS:
            best = best._replace(other=reading.options)
    if best and best.dtype == FLOAT64 and all(is_whole(value.text) for value in values if best.reads(value.text)):
        return best._replace(dtype=INT64)
    return best


def is_whole(text: str) -> bool:
    """Tell whether a text is an int64."""
    return bool(INTEGER.fullmatch(text)) and integer_fits(int(text), INT64)


def hint(name: str, values: Sequence[Value], best: Reading, has_points: bool) -> str:
    """Word what keeps a column from another type, and what to write."""
    written = type_name(best.dtype)
    good = next(value.text for value in values if best.reads(value.text))
    reasons = [f"its values look like {shown(good)}"] if best.options else []
    if bad := best.bad:
        first = f"{shown(bad[0].text)} in row {bad[0].row:,}"
        are, which = ("is", first) if len(bad) == 1 else ("are", f"the first is {first}")
        share = percent(len(bad) / len(values))
        reasons.append(f"{len(bad):,} of {len(values):,} values ({share}) {are} not valid as {written}: {which}")
    why = f"column '{name}' is a string: {'; '.join(reasons)}."
    if has_points and "decimal" in best.options:
        text = f"replace({quote_name(name)}, '.', '')" if "thousands" in best.options else quote_name(name)
        cast = f"TRY_CAST(replace({text}, ',', '.') AS {written})"
        step = f"with_columns: {{{key_text(name)}: {json.dumps(cast, ensure_ascii=False)}}}"
        return f"{why}  Other columns have decimal points, so convert it in a step: {step}"
    keys = [f"{key}: {option_text(key, value, name)}" for key, value in best.options.items()]
    for key, value in best.other.items():
        keys[-1] += f" (or {key}: {option_text(key, value, name)}, as {shown(good)} can be either)"
    if bad and all(value.is_marker for value in bad) and len({value.text for value in bad}) <= MOST_MARKERS:
        texts = sorted({value.text for value in bad})
        keys.append(f"nulls: {json.dumps(['', *texts], ensure_ascii=False)}")
    elif bad:
        keys.append("on_bad_row: null (or quarantine, to keep these rows apart)")
    where = f"write {key_text(name)}: {written} in the schema, and next to it {', '.join(keys)}"
    return f"{why}  To read it as {written}, {where}"


def readings(name: str, options: CsvOptions) -> Iterator[Reading]:
    """Yield ways to read a column, the usual first."""
    yield Reading(FLOAT64, {}, is_number(options))
    for dtype in (DATE, TIMESTAMP, UTC, BOOL):
        yield Reading(dtype, {}, READS[dtype])
    if options.decimal == "." and not options.thousands:
        for changed in ({"thousands": ","}, {"decimal": ","}, {"decimal": ",", "thousands": "."}):
            marks = CsvOptions(decimal=changed.get("decimal", "."), thousands=changed.get("thousands", ""))
            yield Reading(FLOAT64, changed, is_number(marks))
    if not options.date_format.of(name):
        for day in DAYS:
            yield Reading(DATE, {"date_format": day}, written_as(day))
    if not options.timestamp_format.of(name):
        for form in (day + clock for day in DAYS for clock in CLOCKS):
            yield Reading(TIMESTAMP, {"timestamp_format": form}, written_as(form))


def is_marker(text: str) -> bool:
    """Tell whether a text often stands for no value."""
    return bool(MARKER.fullmatch(text))


def is_number(options: CsvOptions) -> Callable[[str], bool]:
    """Return what tells whether a text is a number; one with leading zeros is not."""

    def reads(text: str) -> bool:
        plain = plain_number(text, options)
        return bool(NUMBER.fullmatch(plain) or NO_NUMBER.fullmatch(plain))

    return reads


def written_as(form: str) -> Callable[[str], bool]:
    """Return what tells whether a text is a date or time in a format."""
    return lambda text: is_written(text, form)


def option_text(key: str, value: str, name: str) -> str:
    """Return the value of an option as YAML: formats of dates are for the column alone."""
    if key.endswith("_format"):
        return f"{{{key_text(name)}: {json.dumps(value)}}}"
    return json.dumps(value)


def key_text(name: str) -> str:
    """Return the name of a column as a key of YAML."""
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else json.dumps(name, ensure_ascii=False)


def shown(text: str) -> str:
    """Return a value in quotes, cut where it is long."""
    return f"'{text}'" if len(text) <= SHOWN_CHARACTERS else f"'{text[:SHOWN_CHARACTERS]}…'"

"""The bytes of a CSV file's strings: the first rows say how a row's bytes are spread over its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gpuetl.formats.csv_header import header_of
from gpuetl.formats.csv_inference import Sample, sample_of
from gpuetl.formats.csv_options import csv_options
from gpuetl.formats.csv_pieces import TextExtent
from gpuetl.io.data_file import RowGroup
from gpuetl.types.data_types import STRING

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset

SAMPLE_BYTES, SAMPLE_ROWS = 1 << 16, 500
OFFSET_BYTES = 4


def string_bytes(dataset: Dataset, groups: Sequence[RowGroup]) -> Mapping[str, float]:
    """Return the bytes a row of each column of strings, offsets included; none where no file was cut into pieces.

    The pieces say how many bytes of text a row has.  The first rows of the first file say how many of these are numbers
    and other values.  The rest are strings, in the proportions of the first rows: where strings get longer further on,
    the estimate grows with them.
    """
    pieces = [(group.rows, group.extent) for group in groups if isinstance(group.extent, TextExtent)]
    if not pieces:
        return {}
    file = next(group.file for group in groups if isinstance(group.extent, TextExtent))
    sample = sample_of(file, csv_options(dataset), header_of(dataset, file), SAMPLE_BYTES, SAMPLE_ROWS)
    fields, types = mean_bytes(sample), dataset.own_schema
    strings = {name: size for name, size in fields.items() if types.get(name, STRING) == STRING}
    sampled = sum(strings.values())
    scale, rows = 1.0, sum(max(0, rows) for rows, _ in pieces)
    if rows and sampled:
        text = sum(extent.stop - extent.start for rows, extent in pieces if rows >= 0)
        others = sum(fields.values()) - sampled + len(sample.header.names)
        scale = max(1.0, (text / rows - others) / sampled)
    return {name: size * scale + OFFSET_BYTES for name, size in strings.items() if name in types}


def mean_bytes(sample: Sample) -> dict[str, float]:
    """Return how many bytes the fields of each column have, as they are written, in the mean of some rows."""
    names, rows = sample.header.names, sample.rows
    sizes = dict.fromkeys(names, 0)
    for row in rows:
        for name, field in zip(names, row, strict=False):  # a bad row has other fields
            sizes[name] += len(field)
    return {name: size / max(1, len(rows)) for name, size in sizes.items()}

"""The options of a CSV source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gpuetl.format_options import CHARACTER, STRINGS, FormatOptions, choice, option
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset

OnBadRow = Literal["fail", "null", "quarantine"]


@dataclass(frozen=True)
class CsvOptions(FormatOptions):
    """How CSV files are written, and what becomes of rows that do not fit.

    A row is bad that has a value which is not of its type, or too few or too many fields.
    """

    delimiter: str = option(CHARACTER, ",", "the character between two fields")
    nulls: tuple[str, ...] = option(STRINGS, ("",), "the strings that stand for null")
    on_bad_row: OnBadRow = option(
        choice("fail", "null", "quarantine", null="null"), "fail", "what becomes of a row that cannot be read"
    )


def csv_options(dataset: Dataset) -> CsvOptions:
    """Return the options of a CSV source."""
    return CsvOptions.of(dataset.options)

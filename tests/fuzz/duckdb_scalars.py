"""Scalar functions in DuckDB's SQL, by family, and the macros that they use."""

from fuzz.duckdb_casts import CAST_MACROS
from fuzz.duckdb_decimals import DECIMAL_MACROS
from fuzz.duckdb_formats import FORMAT_MACROS, FORMATS
from fuzz.duckdb_lists import LISTS
from fuzz.duckdb_logic import LOGIC
from fuzz.duckdb_nested import NESTED
from fuzz.duckdb_numbers import NUMBER_MACROS, NUMBERS
from fuzz.duckdb_strings import STRING_MACROS, STRINGS
from fuzz.duckdb_text import Text
from fuzz.duckdb_times import TIME_MACROS, TIMES

SCALARS: dict[str, Text] = {**NUMBERS, **LOGIC, **STRINGS, **TIMES, **FORMATS, **LISTS, **NESTED}
SCALAR_MACROS = DECIMAL_MACROS + NUMBER_MACROS + STRING_MACROS + TIME_MACROS + FORMAT_MACROS + CAST_MACROS

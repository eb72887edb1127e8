"""Dates and times as text in DuckDB's SQL."""

from itertools import product

from fuzz.duckdb_text import Text, clock, constant_of, moment, text_literal
from gpuetl.expressions.ir import Call
from gpuetl.types.data_types import DataType

OFFSET = "[+-]([01][0-9]|2[0-3])[0-5][0-9]"

FORMAT_MACROS = """
CREATE MACRO offset_text(m) AS CASE WHEN m < 0 THEN '-' ELSE '+' END || lpad(CAST(abs(m) // 60 AS VARCHAR), 2, '0')
    || lpad(CAST(abs(m) % 60 AS VARCHAR), 2, '0');
CREATE MACRO offset_micros(t) AS (CAST(t[2:3] AS BIGINT) * 60 + CAST(t[4:5] AS BIGINT)) * 60000000
    * CASE WHEN t[1] = '-' THEN -1 ELSE 1 END;
"""


def strftime(call: Call, x: str, form: str) -> str:
    """An error in a year that has not 4 digits; DuckDB writes only the hours of an offset."""
    return written(x, call.args[0].dtype, constant_of(call, 1))


def written(x: str, dtype: DataType, form: str) -> str:
    """Return the text of a moment by a format."""
    at = moment(x, dtype)
    parts = [f"strftime({at}, {text_literal(part)})" if part else "''" for part in form.split("%z")]
    offset = f"offset_text(({clock(x, dtype)} - {x}) // 60000000)" if len(parts) > 1 else ""
    return f"checked(year({at}) NOT BETWEEN 0 AND 9999, {f' || {offset} || '.join(parts)})"


def try_strptime(call: Call, text: str, form: str) -> str:
    """The moment of which the format writes this text; DuckDB reads other forms as well."""
    plain = constant_of(call, 1)
    if not plain.endswith("%z"):
        return f"(CASE WHEN {text} IS NOT NULL THEN {_read(text, plain)} END)"
    before, offset = f"left({text}, greatest(length({text}) - 5, 0))", f"right({text}, 5)"
    exact = f"regexp_full_match({offset}, '{OFFSET}')"
    return f"(CASE WHEN {exact} THEN {_read(before, plain[:-2])} - offset_micros({offset}) END)"


def _read(text: str, form: str) -> str:
    found = f"try_strptime({text}, {text_literal(form)})"
    pieces = form.split("%-")
    forms = {
        pieces[0] + "".join(map(str.__add__, ways, pieces[1:])) for ways in product(("%-", "%"), repeat=len(pieces) - 1)
    }
    same = " OR ".join(f"strftime({found}, {text_literal(way)}) = {text}" for way in sorted(forms))
    return f"(CASE WHEN {same} THEN epoch_us({found}) END)"


def strptime(call: Call, text: str, form: str) -> str:
    """An error where there is none."""
    found = try_strptime(call, text, form)
    return f"checked({text} IS NOT NULL AND {found} IS NULL, {found})"


FORMATS: dict[str, Text] = {"strftime": strftime, "strptime": strptime, "try_strptime": try_strptime}

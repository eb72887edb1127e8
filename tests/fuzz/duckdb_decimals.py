"""Decimals in DuckDB's SQL: as whole numbers of their units where its own functions become floats or lose digits."""

from fuzz.duckdb_types import sql_type
from gpuetl.expressions.ir import Call
from gpuetl.types.data_types import DataType

DECIMAL_MACROS = """
CREATE MACRO half_even(n, m) AS n // m + CASE
    WHEN abs(n % m) > m - abs(n % m) OR (abs(n % m) = m - abs(n % m) AND (n // m) % 2 <> 0) THEN sign(n) ELSE 0 END;
"""
"""Of integers in 128 bits: `n / m`, rounded half to even."""


def widened(x: str, dtype: DataType) -> str:
    """Return a decimal in 128 bits: DuckDB gives operands in 64 a result in 64."""
    return f"CAST({x} AS DECIMAL({max(19, dtype.precision)},{dtype.scale}))"


def units(x: str, dtype: DataType) -> str:
    """Return a decimal's count of units of 10^-scale, in 128 bits."""
    return f"CAST(replace(CAST({x} AS VARCHAR), '.', '') AS HUGEINT)"


def of_units(n: str, dtype: DataType) -> str:
    """Return the decimal of so many units; an error where it has too many digits."""
    whole = f"CAST({n} AS DECIMAL(38,0))"
    if dtype.scale:
        whole += f" * CAST('{'0.'.ljust(dtype.scale + 1, '0')}1' AS DECIMAL({dtype.scale},{dtype.scale}))"
    return f"CAST({whole} AS {sql_type(dtype)})"


def compared(operator: str, x: str, y: str, left: DataType, right: DataType) -> str:
    """Compare decimals of two types, which may have more than 38 digits together: what is before the point first."""
    scale = max(left.scale, right.scale)
    (x_whole, x_rest), (y_whole, y_rest) = _halves(x, left, scale), _halves(y, right, scale)
    if operator in ("=", "<>"):
        result = f"{x_whole} = {y_whole} AND {x_rest} = {y_rest}"
        result = result if operator == "=" else f"NOT ({result})"
    else:
        result = f"{x_whole} {operator[0]} {y_whole} OR ({x_whole} = {y_whole} AND {x_rest} {operator} {y_rest})"
    return f"(CASE WHEN {x} IS NULL OR {y} IS NULL THEN NULL ELSE {result} END)"


def _halves(x: str, dtype: DataType, scale: int) -> tuple[str, str]:
    n, unit = units(x, dtype), power(dtype.scale)
    return f"({n} // {unit})", f"(({n} % {unit}) * {power(scale - dtype.scale)})"


def divided(call: Call, x: str, y: str) -> str:
    """Truncated toward zero; null where y is 0."""
    return of_units(f"{_operand(call, 0, x)} // nullif({_operand(call, 1, y)}, 0)", call.dtype)


def remainder(call: Call, x: str, y: str) -> str:
    """With the sign of x; null where y is 0."""
    return of_units(f"{_operand(call, 0, x)} % nullif({_operand(call, 1, y)}, 0)", call.dtype)


def rounded(call: Call, x: str, digits: str = "0") -> str:
    """Half to even, with a digit more than x."""
    dtype = call.args[0].dtype
    nearest = f"half_even({units(x, dtype)}, {unit(dtype, digits)}) * {unit(dtype, digits)}"
    kept = f"(CASE WHEN {digits} >= {dtype.scale} THEN {units(x, dtype)} ELSE {nearest} END)"
    return of_units(f"(CASE WHEN {digits} < {dtype.scale - 38} THEN 0 * {units(x, dtype)} ELSE {kept} END)", call.dtype)


def truncated(call: Call, x: str, digits: str = "0") -> str:
    """Without the units behind the digits."""
    n, dtype = units(x, call.dtype), call.dtype
    below = f"(CASE WHEN {digits} >= {dtype.scale} THEN 0 WHEN {digits} < {dtype.scale - 38} THEN {n} ELSE {n} % {unit(dtype, digits)} END)"
    return of_units(f"({n} - {below})", dtype)


def unit(dtype: DataType, digits: str) -> str:
    """Return 10 to as many digits as are dropped, from 0 to 38, in 128 bits."""
    return (
        f"CAST('1' || repeat('0', CAST(within({dtype.scale} - CAST({digits} AS HUGEINT), 0, 38) AS BIGINT)) AS HUGEINT)"
    )


def _operand(call: Call, place: int, x: str) -> str:
    return units(x, call.args[place].dtype)


def power(digits: int) -> str:
    """Return 10 to so many digits, in 128 bits."""
    return f"CAST('1{'0' * digits}' AS HUGEINT)"

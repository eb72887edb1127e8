"""Random arithmetic of constants, exact here and in DuckDB, whose literals are decimals: the same text on both."""

import random
from decimal import Decimal

import duckdb
import pyarrow as pa

from expressions.evaluation import values

CASES = 400
VALUES = ["0.07", "0.05", "1.19", "-0.30", "0.00", "2.50", "12345.67", None]
FRAME = pa.table(
    {
        "p": pa.array([None if v is None else Decimal(v) for v in VALUES], pa.decimal128(15, 2)),
        "i": pa.array([1, 0, -7, 2**53 + 1, 100, None, 2, -1], pa.int64()),
    }
)


def number(chance):
    """A number of few digits, so that DuckDB holds what is calculated of some."""
    whole = str(chance.choice((0, 0, 1, 2, 7, 60)))
    return chance.choice((whole, f"{whole}.{chance.randrange(10)}", f"{whole}.0{chance.randrange(10)}", f"{whole}.50"))


def arithmetic(chance, depth):
    """Up to 4 numbers; DuckDB's `/` is of floats, and its `%` of decimals has another type."""
    if depth == 0 or chance.random() < 0.2:
        return number(chance)
    if chance.random() < 0.15:
        return f"-({arithmetic(chance, depth - 1)})"
    return f"({arithmetic(chance, depth - 1)} {chance.choice('+-*')} {arithmetic(chance, depth - 1)})"


def predicate(chance):
    """A comparison of a column, in any of its forms."""
    column = chance.choice("pi")
    first, second, third = (arithmetic(chance, 2) for _ in range(3))
    return chance.choice(
        (
            f"{column} {chance.choice(('=', '<>', '<', '<=', '>', '>='))} {first}",
            f"{first} {chance.choice(('=', '<', '>='))} {column}",
            f"{column} BETWEEN {first} AND {second}",
            f"{column} IN ({first}, {second}, 0.03 + 0.04)",
            f"{column} IS DISTINCT FROM {first}",
            f"CASE {column} WHEN {first} THEN true WHEN {second} THEN false END",
            f"p * ({first}) = p * {second} + {third}",
            f"CASE WHEN i > 0 THEN {first} ELSE {second} END * p > p * ({third})",
            f"{first} < {second}",
        )
    )


def test_random_arithmetic_of_constants_compares_as_in_duckdb():
    chance = random.Random(22)
    drawn = [predicate(chance) for _ in range(CASES)]
    database = duckdb.connect()
    database.register("t", FRAME)
    selected = ", ".join(f"{text} AS c{n}" for n, text in enumerate(drawn))
    expected = database.sql(f"SELECT {selected} FROM t").to_arrow_table()
    wrong = [text for n, text in enumerate(drawn) if values(text, FRAME) != expected[f"c{n}"].to_pylist()]
    assert not wrong

"""join: every kind on random rows full of nulls, NaN, both zeros and repeats, against DuckDB."""

import random
from functools import cache
from itertools import count

import pyarrow as pa
import pytest

from gpuetl.types.data_types import parse_type
from tables import NAN, table, write_source

KINDS = ["inner", "left", "right", "full", "semi", "anti"]
VALUES = {
    "float64": [None, NAN, -0.0, 0.0, 1.5, float("inf"), -1.5],
    "string": [None, "", "a", "é", "e\u0301", "😀"],
    "int8": [None, -128, -1, 0, 1, 127],
    "int64": [None, -(2**63), -128, -1, 0, 1, 127, 2**63 - 1],
    "date": [None, *range(-2, 3)],
}
KEYS = {
    "one": {"i": ("float64", "float64")},
    "widths": {"i": ("int8", "int64")},
    "two": {"i": ("int64", "int8"), "s": ("string", "string")},
    "three": {"i": ("float64", "float64"), "s": ("string", "string"), "d": ("date", "date")},
}


def random_rows(rng, types, payload):
    counts = rng.choice([0, 1, 7, 13])
    kept = {dtype: rng.sample(values, rng.randint(1, len(values))) for dtype, values in VALUES.items()}
    rows = [(*(rng.choice(kept[dtype]) for dtype in types.values()), number) for number in range(counts)]
    return table({**types, payload: "int64"}, *rows)


@cache
def connection():
    """Return a database for all cases: to open one takes longer than its query."""
    return pytest.importorskip("duckdb").connect(config={"threads": 1})


def answer_of_duckdb(left, right, keys, how, nulls_equal):
    operator = "IS NOT DISTINCT FROM" if nulls_equal else "="
    on = " AND ".join(f"l.{k} {operator} r.{k}_r" for k in keys)
    kept = {"right": [f"r.{k}_r AS {k}" for k in keys], "full": [f"coalesce(l.{k}, r.{k}_r) AS {k}" for k in keys]}
    columns = ", ".join([*kept.get(how, [f"l.{k}" for k in keys]), "l.a"])
    sql = {
        "semi": f"SELECT {columns} FROM l WHERE EXISTS (SELECT 1 FROM r WHERE {on})",
        "anti": f"SELECT {columns} FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE {on})",
        "cross": "SELECT l.*, r.* FROM l, r",
    }.get(how, f"SELECT {columns}, r.b FROM l {how} JOIN r ON {on}")
    connection().register("l", left)
    connection().register("r", right)
    return connection().sql(sql).to_arrow_table()


def key_type(how, types):
    left, right = map(parse_type, types)
    return max(types, key=lambda t: parse_type(t).bit_width) if how in ("right", "full") and left != right else types[0]


@cache
def cases(how, keys, nulls_equal):
    """Return pairs of tables with the rows of their join; each is for all engines and layouts."""
    rng, found = random.Random(f"{how} {keys} {nulls_equal}"), []
    for _ in range(2):
        left = random_rows(rng, {k: types[0] for k, types in KEYS[keys].items()}, "a")
        right = random_rows(rng, {f"{k}_r": types[1] for k, types in KEYS[keys].items()}, "b")
        expected = answer_of_duckdb(left, right, KEYS[keys], how, nulls_equal)
        fields = [
            pa.field(f.name, parse_type(key_type(how, KEYS[keys][f.name])) if f.name in KEYS[keys] else f.type)
            for f in expected.schema
        ]
        found.append((left, right, expected.cast(pa.schema(fields))))
    return found


@pytest.fixture
def sides(pipeline):
    """Writes the two tables of a join, in up to four partitions."""
    number = count()

    def write(*tables):
        return [write_source(pipeline, f"t{next(number)}", rows, row_group_size=4) for rows in tables]

    return write


@pytest.mark.part(12)
@pytest.mark.parametrize("nulls_equal", [False, True])
@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("how", KINDS)
def test_every_kind_of_join_is_that_of_sql(sides, check, how, keys, nulls_equal):
    on = {k: f"{k}_r" for k in KEYS[keys]}
    for *rows, expected in cases(how, keys, nulls_equal):
        left, right = sides(*rows)
        check(left.join(right, on, how, nulls_equal=nulls_equal), expected)


def test_a_cross_join_is_that_of_sql(sides, check):
    """It has no keys."""
    for *rows, expected in cases("cross", "three", False):
        left, right = sides(*rows)
        check(left.join(right, how="cross"), expected)

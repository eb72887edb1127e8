"""docs/from-sql.md: each query has the rows of the steps below it."""

import re
from datetime import date
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from gpuetl import loads
from gpuetl.testing import assert_tables_equal
from tables import table

PAGE = (Path(__file__).parents[2] / "docs/from-sql.md").read_text()
PAIRS = re.findall(r"```sql\n(.*?)```\n\n```yaml\n(.*?)```", PAGE, re.DOTALL)
TABLES = {
    "orders": table(
        {"id": "int64", "customer": "int64", "region": "string", "day": "date", "amount": "float64"},
        (1, 1, "EU", date(2026, 1, 5), 10.0), (2, 2, "US", date(2026, 1, 5), 4.5), (3, 1, "EU", date(2026, 1, 7), 30.0),
        (4, 3, "US", date(2026, 1, 9), 20.0), (5, 1, "EU", date(2026, 2, 1), None),
    ),
    "customers": table(
        {"id": "int64", "name": "string", "country": "string"},
        (1, "Ada", "GB"), (2, "Bob", "US"), (3, "Cid", "NL"), (4, "Dan", "NL"),
    ),
    "prices": table(
        {"region": "string", "since": "date", "price": "float64"},
        ("EU", date(2026, 1, 1), 1.0), ("EU", date(2026, 1, 6), 1.5), ("US", date(2026, 1, 1), 2.0),
    ),
}  # fmt: skip


def test_the_page_shows_the_tables():
    shown = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)[0].split()
    words = [
        "null" if value is None else str(value)
        for t in TABLES.values()
        for row in t.to_pylist()
        for value in row.values()
    ]
    assert sorted(words) == sorted(set_of_values(shown))


def set_of_values(words):
    """Return the words of the tables without their names and those of columns."""
    heads = [f"{name}:" for name in TABLES] + [column for t in TABLES.values() for column in t.column_names]
    for head in heads:
        words.remove(head)
    return words


@pytest.mark.part(4)
@pytest.mark.parametrize(("query", "stages"), PAIRS, ids=[query.split("\n")[0][:60] for query, _ in PAIRS])
def test_steps_have_the_rows_of_the_query(query, stages, tmp_path):
    with duckdb.connect() as connection:
        for name, rows in TABLES.items():
            connection.register(name, rows)
        expected = connection.sql(query).to_arrow_table()
    sources = "".join(f"  {name}: {{parquet: {name}.parquet}}\n" for name in TABLES)
    for name, rows in TABLES.items():
        pq.write_table(rows, tmp_path / f"{name}.parquet")
    indented = "".join(f"  {line}\n" for line in stages.splitlines())
    pipeline = loads(f"gpuetl: 1\nname: page\nsources:\n{sources}stages:\n{indented}", root=tmp_path)
    found = pipeline.run(engine="pandas", keep=["result"])["result"].to_arrow()
    assert found.num_rows
    assert found.column_names == expected.column_names
    assert_tables_equal(found, expected.cast(found.schema), ordered="ORDER BY total" in query)

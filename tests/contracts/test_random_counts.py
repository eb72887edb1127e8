"""What rules count and remove, of random rows with nulls, NaN and repeats, next to a count in plain Python."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import col

SCHEMA = pa.schema([("id", pa.int64()), ("k", pa.string()), ("x", pa.float64()), ("t", pa.bool_())])
RULES = ["not_null(id)", "unique(id)", "unique(x, t)", "in(k)", "range(x)", "matches(k)", "references(id)", "is true"]


class Case(NamedTuple):
    """Random rows, the values that they refer to, and what happens to rows that break each rule."""

    rows: list[dict[str, Any]]
    known: list[int | None]
    on_fail: dict[str, str]


def drawn(seed: int) -> Case:
    """Draw a case; every fifth has no rows, and every third knows no values."""
    draw = random.Random(seed)
    floats = [None, math.nan, -0.0, 0.0, 1.0, 5.0, math.inf]
    rows = [
        {
            "id": draw.choice([None, *range(12)]),
            "k": draw.choice(["a", "b,c", "x/y", "", None, "é"]),
            "x": draw.choice(floats),
            "t": draw.choice([None, True, False]),
        }
        for _ in range([0, 1, 2, 9, 40][seed % 5])
    ]
    on_fail = {rule: draw.choice(["warn", "drop", "quarantine"]) for rule in RULES} | {"is true": "quarantine"}
    return Case(rows, [1, 2, None, 5] if seed % 3 else [], on_fail)


def broken(case: Case) -> list[list[str]]:
    """Return the rules that each row breaks, by what docs/language.md says."""

    def key(row: dict[str, Any]) -> tuple[Any, ...] | None:
        x, t = row["x"], row["t"]
        return None if x is None or t is None else ("NaN" if math.isnan(x) else x + 0.0, t)

    ids = Counter(row["id"] for row in case.rows)
    pairs = Counter(key(row) for row in case.rows)
    checks: dict[str, Callable[[dict[str, Any]], bool]] = {
        "not_null(id)": lambda r: r["id"] is None,
        "unique(id)": lambda r: r["id"] is not None and ids[r["id"]] > 1,
        "unique(x, t)": lambda r: key(r) is not None and pairs[key(r)] > 1,
        "in(k)": lambda r: r["k"] is not None and r["k"] not in ("a", "é"),
        "range(x)": lambda r: r["x"] is not None and not 0 <= r["x"] <= 4,
        "matches(k)": lambda r: r["k"] is not None and len(r["k"]) != 1,
        "references(id)": lambda r: r["id"] is not None and r["id"] not in case.known,
        "is true": lambda r: r["t"] is False,
    }
    return [[rule for rule in RULES if checks[rule](row)] for row in case.rows]


@pytest.mark.part(8)
@pytest.mark.parametrize("seed", range(6))
def test_counts_and_quarantine_are_those_of_python(pipeline, tmp_path, engine, layout, seed):
    """Also behind folders named by their rules, to which two runs append."""
    case = drawn(seed)
    rows = pipeline.from_frame("rows", pa.Table.from_pylist(case.rows, SCHEMA))
    pipeline.from_frame("known", pa.table({"n": pa.array(case.known, pa.int64())}))
    on = case.on_fail
    stage = (
        rows.expect(not_null="id", on_fail=on["not_null(id)"])
        .expect(unique="id", on_fail=on["unique(id)"])
        .expect(unique=["x", "t"], on_fail=on["unique(x, t)"])
        .expect(in_={"k": ["a", "é"]}, on_fail=on["in(k)"])
        .expect(range={"x": (0, 4)}, on_fail=on["range(x)"])
        .expect(matches={"k": "."}, on_fail=on["matches(k)"])
        .expect(references={"id": "known.n"}, on_fail=on["references(id)"])
        .expect(name="is true", that=col("t"), on_fail="quarantine")
        .stage("stage")
    )
    stage.rejected.write_parquet("rejects", "rejects", mode="append", partition_by=["_rule"])
    wanted = broken(case)
    left = [row for row, rules in zip(case.rows, wanted, strict=True) if all(on[rule] == "warn" for rule in rules)]
    rejected = sorted(", ".join(rules) for rules in wanted if any(on[rule] == "quarantine" for rule in rules))
    for _ in range(2):
        run = pipeline.run(engine=engine, options=layout, keep=["stage", "stage.rejected"])
        counts = {check.rule: (check.rows, check.broken) for check in run.report.checks}
        assert counts == {rule: (len(wanted), sum(rule in rules for rules in wanted)) for rule in RULES}
        assert run["stage"].to_arrow().num_rows == len(left)
        assert sorted(run["stage.rejected"].to_arrow()["_rule"].to_pylist()) == rejected
    if rejected:
        read = pq.read_table(tmp_path / "rejects", partitioning=None, ignore_prefixes=["."]).num_rows
        assert read == 2 * len(rejected)

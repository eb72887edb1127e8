"""Every rule with everything that is done about rows that break it, on every engine and in every layout."""

from datetime import date
from decimal import Decimal

import pyarrow.parquet as pq
import pytest

from gpuetl import ContractBroken, expr
from gpuetl.testing import assert_tables_equal
from tables import NAN, table, write_source

TYPES = {"id": "int64", "part": "int32", "kind": "string", "price": "decimal(9,2)", "x": "float64", "day": "date"}
ROWS = (
    (1, 1, "A", Decimal("1.00"), 0.5, date(2024, 1, 1)),
    (2, 1, "B", Decimal("2.50"), NAN, date(2024, 1, 2)),
    (2, 2, "b", Decimal("-1.00"), 1.5, date(2024, 2, 1)),
    (3, 2, None, None, None, None),
    (None, 9, "AB", Decimal("9.99"), -0.0, date(2023, 12, 31)),
    (4, 9, "A\n", Decimal("10.00"), 2.5, date(2024, 1, 31)),
    (2, 2, "A", Decimal("3.00"), 3.5, date(2024, 1, 3)),
)
BROKEN = {
    "not_null(id)": 1, "not_null(kind)": 1, "unique(id)": 3, "unique(id, part)": 2, "in(kind)": 3, "in(day)": 5,
    "range(price)": 2, "range(x)": 1, "range(day)": 2, "range(kind)": 1, "matches(kind)": 3, "references(part)": 2,
    "references(id)": 2, "small": 2, "that(kind = 'A')": 4,
}  # fmt: skip
"""How many rows break each rule: null breaks none but not_null."""


@pytest.fixture
def rows(pipeline):
    write_source(pipeline, "others", table({"key": "int64"}, (1,), (2,), (None,), (1,)))
    return write_source(pipeline, "t", table(TYPES, *ROWS))


def with_all_rules(t, **how):
    """Return the table with every rule for single rows."""
    return (
        t.expect(not_null=["id", "kind"], unique="id", **how)
        .expect(unique=["id", "part"], in_={"kind": ["A", "B"], "day": [date(2024, 1, 1)]}, **how)
        .expect(range={"price": [0, Decimal("9.98")], "x": [0, None], "day": ["2024-01-01", "2024-01-31"]}, **how)
        .expect(range={"kind": [None, "a"]}, matches={"kind": "[A-Z]"}, **how)
        .expect(references={"part": "others.key", "id": "others.key"}, **how)
        .expect(name="small", that=expr("price * 2 < 10"), **how)
        .expect(that=expr("kind = 'A'"), **how)
    )


def found(report):
    """Return how many rows break each rule."""
    return {check.rule: check.broken for check in report.checks}


def test_rules_count_the_rows_that_break_them(rows, engine, layout):
    """Those of the stage as its steps give them, whatever others take of it."""
    with_all_rules(rows, on_fail="warn").stage("checked").filter(expr("id = 1")).stage("few")
    run = rows.pipeline.run(engine=engine, keep=["few"], options=layout)
    assert found(run.report) == {**BROKEN, "range(price)": 3}
    assert {(check.rows, check.verdict) for check in run.report.checks} == {(7, "warned")}
    assert "stage 'checked': rule 'range(x)': 1 of 7 rows (14.3 %) breaks it" in run.report.warnings
    assert len(run.report.warnings) == len(BROKEN)
    assert run["few"].to_arrow().num_rows == 1


MIXED = (
    (1, 1, "A"), (2, 1, "B"), (2, 2, "b"), (3, 2, None), (None, 9, "AB"), (4, 9, "A\n"), (2, 2, "A"), (5, 9, "A"),
    (5, 1, "A"),
)  # fmt: skip


def test_rows_are_kept_dropped_and_put_in_quarantine(pipeline, engine, layout):
    types = {"id": "int64", "part": "int32", "kind": "string"}
    write_source(pipeline, "others", table({"key": "int64"}, (1,), (2,), (None,), (1,)))
    t = write_source(pipeline, "t", table(types, *MIXED)).sort("id", "part", "kind")
    kept = (
        t.expect(not_null="id", references={"part": "others.key"}, on_fail="quarantine")
        .expect(unique="id", on_fail="warn")
        .expect(unique=["id", "part"], matches={"kind": "[A-Z]"}, on_fail="drop")
        .expect(rows=(4, 4))
        .expect(name="few", rows=(None, 3), on_fail="warn")
        .stage("kept")
    )
    kept.rejected.select("kind", "_rule", here=expr("_run <> ''")).stage("rejects")
    run = pipeline.run(engine=engine, keep=["kept", "rejects", "kept.rejected"], options=layout)
    remaining = table(types, (1, 1, "A"), (2, 1, "B"), (3, 2, None), (5, 1, "A"))
    assert_tables_equal(run["kept"].to_arrow(), remaining, ordered=True)
    rejected = (
        ("AB", "not_null(id), references(part), matches(kind)", True),
        ("A\n", "references(part), matches(kind)", True),
        ("A", "references(part), unique(id)", True),
    )
    assert_tables_equal(
        run["rejects"].to_arrow(), table({"kind": "string", "_rule": "string", "here": "bool"}, *rejected)
    )
    assert run["kept.rejected"].to_arrow().column("_run").to_pylist() == [run.report.run_id] * 3
    verdicts = {check.rule: (check.broken, check.verdict) for check in run.report.checks}
    assert verdicts == {
        "not_null(id)": (1, "quarantined"), "references(part)": (3, "quarantined"), "unique(id)": (5, "warned"),
        "unique(id, part)": (2, "dropped"), "matches(kind)": (3, "dropped"), "rows": (0, "passed"),
        "few": (1, "warned"),
    }  # fmt: skip


FAILED = """\
5 expectations failed; no sink has changed

stage 'a': rule 'unique(id)': 3 of 7 rows (42.9 %) break it
    id  kind  part
    2   A     2
    2   B     1
    2   b     2

stage 'a': rule 'in(kind)': 3 of 7 rows (42.9 %) break it
    kind  id    part
    AB    null  9
    A\\n   4     9
    b     2     2

stage 'a': rule 'references(part)': 2 of 7 rows (28.6 %) break it
    part  id    kind
    9     4     A\\n
    9     null  AB

stage 'a': rule 'rows': the stage has 7 rows, and must have at most 3

stage 'b': rule 'no more': 7 of 7 rows (100 %) break it
    id
"""


def test_a_rule_that_fails_changes_no_sink_and_shows_rows(rows, engine, layout):
    """Also one of a stage that no sink reads; a share that is allowed does not fail."""
    pipeline = rows.pipeline
    t = rows.select("id", "part", "kind")
    t.expect(not_null="id", max_fraction=1 / 7).expect(in_={"kind": ["A", "B"]}, unique="id").expect(
        references={"part": "others.key"}, rows=(None, 3)
    ).expect(not_null="kind", on_fail="warn").stage("a")
    rows.select("id").expect(that=expr("id IS NULL AND id IS NOT NULL"), name="no more").stage("b")
    old = pipeline.root / "out.parquet"
    pq.write_table(table({"id": "int64"}, (0,)), old)
    rows.write_parquet("out", "out.parquet", mode="overwrite")
    with pytest.raises(ContractBroken) as caught:
        pipeline.run(engine=engine, options=layout)
    assert in_order(str(caught.value)) == in_order(FAILED)
    assert pq.read_table(old).to_pydict() == {"id": [0]}
    assert sorted(path.name for path in pipeline.root.iterdir()) == ["others.parquet", "out.parquet", "t.parquet"]
    report = caught.value.report
    assert [check.verdict for check in report.checks] == ["passed", *["failed"] * 4, "warned", "failed"]
    assert report.sinks == ()
    assert len(report.checks[-1].sample) == 5


def in_order(text):
    """Return the lines of each rule, its rows sorted; which are shown is any order's."""
    parts = [part.splitlines() for part in text.strip().split("\n\n")]
    return [[*part[:2], *sorted(line.strip() for line in part[2:] if "no more" not in part[0])] for part in parts]


def test_a_stage_without_rows_breaks_only_a_least_number(source, engine):
    t = source(table(TYPES))
    source(table({"key": "int64"}), "others")
    with_all_rules(t).expect(rows=(1, None), on_fail="warn").stage("empty")
    run = t.pipeline.run(engine=engine)
    assert {check.rule for check in run.report.checks if check.verdict != "passed"} == {"rows"}
    assert {check.rows for check in run.report.checks} == {0}

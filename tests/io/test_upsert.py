"""Sinks of mode upsert: rows replace those of equal keys, and nothing else changes."""

import os
import random
from collections import Counter
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed, RunOptions, loads
from gpuetl.testing import LAYOUTS
from left_to_full import after
from sink_files import leftovers, sink_files
from tables import table, write_source

TYPES = {"id": "int64", "day": "string", "v": "int64"}
DAYS = "abcd"
SHAPES = {
    "partitions that rows leave": ("out", "day", "id"),
    "two partition columns, one a key": ("out", ("day", "half"), ("id", "day")),
    "a file": ("out.parquet", (), "id"),
    "partitions that keys have": ("out", "day", ("id", "day")),
    "a folder": ("out", (), "id"),
}


def upserting(root, rows, types=TYPES, path="out", partition_by=(), on="id", mode="upsert", **keys):
    pipeline = Pipeline("daily", root=root)
    t = write_source(pipeline, "t", table(types, *rows))
    t.write_parquet("out", path, mode=mode, on=on, partition_by=partition_by, **keys)
    return pipeline


def run(pipeline, engine="pandas", options=LAYOUTS["2 rows a partition"]):
    return pipeline.run(engine=engine, keep=[], options=options).report


def rows_at(path, types=TYPES):
    partitioning = ds.partitioning(
        pa.schema([(name, types[name]) for name in ("day", "half") if name in types]), flavor="hive"
    )
    found = ds.dataset(path, format="parquet", partitioning=partitioning).to_table()
    return sorted(map(tuple, found.select(list(types)).to_pandas().itertuples(index=False)))


def changes(report):
    (sink,) = report.sinks
    return str(sink.changes)


def test_rows_of_equal_keys_are_replaced_and_others_stay(tmp_path, engine, layout):
    for rows, expected in [
        ([(1, "a", 1), (2, "a", 2), (3, "b", 3), (4, "c", 4)], "4 inserted, 0 updated, 0 kept, 3 of 3 partitions rewritten"),
        ([(2, "a", 20), (5, "d", 50)], "1 inserted, 1 updated, 1 kept, 2 of 4 partitions rewritten"),
    ]:  # fmt: skip
        report = run(upserting(tmp_path, rows, partition_by="day"), engine, layout)
        assert changes(report) == expected
        assert not report.warnings
    assert rows_at(tmp_path / "out") == [(1, "a", 1), (2, "a", 20), (3, "b", 3), (4, "c", 4), (5, "d", 50)]
    assert not leftovers(tmp_path)


def test_a_row_whose_partition_changes_leaves_the_old_one(tmp_path, engine, layout):
    run(upserting(tmp_path, [(1, "a", 1), (2, "a", 2), (3, "b", 3)], partition_by="day"), engine, layout)
    untouched = sink_files(tmp_path)[:1]
    report = run(upserting(tmp_path, [(3, "c", 30)], partition_by="day"), engine, layout)
    assert changes(report) == "0 inserted, 1 updated, 0 kept, 2 of 3 partitions rewritten"
    assert rows_at(tmp_path / "out") == [(1, "a", 1), (2, "a", 2), (3, "c", 30)]
    assert not (tmp_path / "out/day=b").exists()
    assert sink_files(tmp_path)[:1] == untouched


def test_only_touched_partitions_are_read_and_written(tmp_path):
    """Where keys include the partition, no other file is opened: here it is damaged, and of the right size."""
    rows = [(1, "a", 1), (2, "a", 2), (3, "b", 3)]
    run(upserting(tmp_path, rows, partition_by="day", on=["id", "day"]))
    (file,) = (tmp_path / "out/day=b").glob("*.parquet")
    before = file.read_bytes()
    file.write_bytes(b"x" * len(before))
    report = run(upserting(tmp_path, [(2, "a", 20)], partition_by="day", on=["id", "day"]))
    assert changes(report) == "0 inserted, 1 updated, 1 kept, 1 of 2 partitions rewritten"
    assert file.read_bytes() == b"x" * len(before)
    file.write_bytes(before)
    assert rows_at(tmp_path / "out") == [(1, "a", 1), (2, "a", 20), (3, "b", 3)]


@pytest.mark.part(12)
@pytest.mark.parametrize("shape", after(3, SHAPES, "random batches of upserts into other targets"))
def test_random_batches_against_a_dictionary(tmp_path, engine, layout, shape):
    path, partition_by, on = SHAPES[shape]
    draws, oracle = random.Random(shape), {}
    types = {"id": "int64", "day": "string", "half": "int64", "v": "int64"}
    for batch in range(4):
        found = {}
        for _ in range(draws.choice((1, 3, 9))):
            row = draws.randrange(12), draws.choice(DAYS), draws.randrange(2), batch
            found[row[: 2 if "day" in on else 1]] = row
        before = dict(oracle)
        oracle |= found
        report = run(upserting(tmp_path, found.values(), types, path, partition_by, on), engine, layout)
        assert rows_at(tmp_path / path, types) == sorted(oracle.values())
        (sink,) = report.sinks
        updated = len(before.keys() & found.keys())
        assert (sink.changes.inserted, sink.changes.updated) == (len(found) - updated, updated)
        assert sink.rows == len(found) + sink.changes.kept
        assert not report.warnings
        assert not leftovers(tmp_path)


def test_the_same_rows_again_change_nothing(tmp_path, engine):
    rows = [(1, "a", 1), (2, "b", 2)]
    for _ in range(3):
        run(upserting(tmp_path, rows, partition_by="day"), engine)
        assert rows_at(tmp_path / "out") == rows
    assert len(sink_files(tmp_path)) == 3  # with that of the source


@pytest.mark.part(6)
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("int32", [1, 2, -1]), ("string", ["", "é", "x/y=1"]), ("date", [date(1970, 1, 1), date(2026, 2, 28), date(1, 1, 1)]),
        ("timestamp", [datetime(2026, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2026, 1, 1, 1)]),
        ("float64", [0.5, float("nan"), -1e300]), ("bool", [True, False]), ("decimal(9, 2)", [Decimal("1.10"), Decimal("-0.01")]),
    ],
)  # fmt: skip
def test_keys_and_partitions_of_each_type(tmp_path, local_engine, name, values):
    types = {"k": name, "p": name if name != "float64" else "int64", "v": "int64"}
    partitions = values if name != "float64" else [1, 2, 3]
    for batch in range(2):
        rows = [(key, part, batch) for key, part in zip(values, partitions[batch:] + partitions[:batch], strict=True)]
        report = run(upserting(tmp_path, rows[batch:], types, partition_by="p", on="k"), local_engine)
    assert report.sinks[0].changes.updated == len(values) - 1
    pipeline = Pipeline("read", root=tmp_path)
    found = pipeline.read_parquet("out", "out", partitions={"p": types["p"]})
    result = pipeline.run(engine=local_engine, keep=["out"])["out"].to_arrow().to_pylist()
    expected = [(values[0], partitions[0], 0), *rows[1:]]
    assert Counter(repr((row["k"], row["p"], row["v"])) for row in result) == Counter(map(repr, expected))
    assert found is not None


def test_null_partitions_and_null_values_stay(tmp_path, engine):
    run(upserting(tmp_path, [(1, None, 1), (2, "a", None), (3, None, 3)], partition_by="day"), engine)
    report = run(upserting(tmp_path, [(1, None, 10), (4, "a", 4)], partition_by="day"), engine)
    assert changes(report) == "1 inserted, 1 updated, 2 kept, 2 of 2 partitions rewritten"
    found = pq.read_table(tmp_path / "out").to_pylist()
    assert sorted((row["id"], row["day"], row["v"]) for row in found if row["day"]) == [(2, "a", None), (4, "a", 4)]
    assert sorted((row["id"], row["v"]) for row in found if not row["day"]) == [(1, 10), (3, 3)]


def test_keys_that_repeat_stop_the_run(tmp_path, engine):
    run(upserting(tmp_path, [(1, "a", 1)], partition_by="day"), engine)
    before = sink_files(tmp_path / "out")
    rows = [(7, "a", 1), (8, "a", 2), (7, "b", 3), (9, "c", 1), (9, "c", 1)]
    with pytest.raises(RunFailed) as caught:
        run(upserting(tmp_path, rows, partition_by="day"), engine)
    text = str(caught.value)
    assert (
        "sink 'out': several of the new rows have the same key (id): 2 keys, id=7 (2 rows); id=9 (2 rows).  No sink has changed"
        in text
    )
    assert "Keep one row of each: distinct: {on: [id], order_by: …}." in text
    assert sink_files(tmp_path / "out") == before
    assert not leftovers(tmp_path)


def test_null_keys_stop_the_run(tmp_path, engine):
    with pytest.raises(
        RunFailed, match=r"sink 'out': 2 rows have a null in the key \(id, day\), and null equals nothing"
    ):
        run(upserting(tmp_path, [(None, "a", 1), (1, None, 2), (1, "a", 1)], on=["id", "day"]), engine)
    assert not leftovers(tmp_path)


def test_a_target_with_keys_that_repeat(tmp_path, engine):
    """Another mode wrote them: all rows of the key are replaced by the new one."""
    run(
        upserting(tmp_path, [(1, "a", 1), (1, "b", 2), (2, "b", 3)], partition_by="day", mode="overwrite", on=None),
        engine,
    )
    report = run(upserting(tmp_path, [(1, "c", 9)], partition_by="day"), engine)
    assert rows_at(tmp_path / "out") == [(1, "c", 9), (2, "b", 3)]
    (note,) = (one for one in report.notes if "several times" in one)
    assert note.startswith("sink 'out': 2 rows of the target had the keys of 1 new rows")


@pytest.mark.parametrize(
    ("rows", "types", "difference"),
    [
        ([(1, "a")], {"id": "int64", "day": "string"}, "it has 'v'"),
        ([(1, "a", 1, 2)], TYPES | {"w": "int64"}, "it lacks 'w'"),
        ([(1, "a", 1)], TYPES | {"v": "int32"}, "'v' is int64 there, and int32 here"),
        ([("1", "a", 1)], TYPES | {"id": "string"}, "'id' is int64 there, and string here"),
    ],
)
def test_a_target_with_other_columns_stops_the_run(tmp_path, rows, types, difference):
    run(upserting(tmp_path, [(1, "a", 1), (2, "b", 2)], partition_by="day"))
    before = sink_files(tmp_path / "out")
    with pytest.raises(RunFailed) as caught:
        run(upserting(tmp_path, rows, types, partition_by="day"))
    assert f"has other columns than the sink writes: {difference}." in str(caught.value)
    assert sink_files(tmp_path / "out") == before
    assert not leftovers(tmp_path)


def test_files_of_others_stop_the_run_or_are_kept(tmp_path):
    run(upserting(tmp_path, [(1, "a", 1), (2, "b", 2)], partition_by="day"))
    (file,) = (tmp_path / "out/day=b").glob("*.parquet")
    (tmp_path / "out/day=c").mkdir()
    (tmp_path / "out/day=c/mine.parquet").write_bytes(file.read_bytes())
    with pytest.raises(
        RunFailed, match=r"out holds 1 file that gpuetl did not write.*mine.*An upsert would not see their rows"
    ):
        run(upserting(tmp_path, [(1, "a", 10)], partition_by="day"))
    run(upserting(tmp_path, [(1, "b", 10)], partition_by="day", keep_foreign=True))
    assert rows_at(tmp_path / "out") == [(1, "b", 10), (2, "b", 2), (2, "c", 2)]


def test_a_run_whose_target_changed_meanwhile_fails(tmp_path, monkeypatch):
    from gpuetl.run import upsert

    run(upserting(tmp_path, [(1, "a", 1), (2, "b", 2)], partition_by="day"))
    look = upsert.look

    def meanwhile(*arguments):
        found = look(*arguments)
        monkeypatch.setattr(upsert, "look", look)
        run(upserting(tmp_path, [(2, "b", 20)], partition_by="day", on=on))
        return found

    for on, fails in (("id", True), (["id", "day"], False)):
        monkeypatch.setattr(upsert, "look", meanwhile)
        again = upserting(tmp_path, [(1, "a", 10)], partition_by="day", on=on)
        if fails:
            with pytest.raises(
                RunFailed,
                match=r"sink 'out': another run has changed the target.*day=b.*No sink has changed\.  Run again",
            ):
                run(again)
            assert rows_at(tmp_path / "out") == [(1, "a", 1), (2, "b", 20)]
        else:  # another partition than those that this run reads
            run(again)
            assert rows_at(tmp_path / "out") == [(1, "a", 10), (2, "b", 20)]
    assert not leftovers(tmp_path)


def test_a_file_that_changed_meanwhile(tmp_path, monkeypatch):
    from gpuetl.run import upsert

    run(upserting(tmp_path, [(1, "a", 1)], path="out.parquet"))
    row_changes = upsert.row_changes

    def meanwhile(*arguments):
        pq.write_table(table(TYPES, (5, "x", 5)), tmp_path / "out.parquet")
        return row_changes(*arguments)

    monkeypatch.setattr(upsert, "row_changes", meanwhile)
    with pytest.raises(RunFailed, match=r"another run has changed the target since this run read it: out\.parquet"):
        run(upserting(tmp_path, [(1, "a", 10)], path="out.parquet"))
    assert rows_at(tmp_path / "out.parquet") == [(5, "x", 5)]


@pytest.mark.part(4)
@pytest.mark.parametrize("on_empty", ["write", "keep", "error"])
@pytest.mark.parametrize("path", ["out", "out.parquet"])
def test_no_rows(tmp_path, engine, on_empty, path):
    run(upserting(tmp_path, [(1, "a", 1)], path=path), engine)
    empty = upserting(tmp_path, [], path=path, on_empty=on_empty)
    if on_empty == "error":
        with pytest.raises(RunFailed, match="got no rows, and has on_empty: error"):
            run(empty, engine)
    else:
        report = run(empty, engine)
        told = report.warnings if on_empty == "write" else report.notes
        assert any("sink 'out' got no rows" in one for one in told)
    assert rows_at(tmp_path / path) == [(1, "a", 1)]
    assert not leftovers(tmp_path)


def test_other_sinks_of_the_run_change_together_with_it(tmp_path, engine):
    def pipeline(rows):
        made = upserting(tmp_path, rows, partition_by="day")
        made.table("t").write_csv("list", "list.csv", mode="overwrite")
        made.table("t").write_parquet("whole", "whole", mode="upsert", on="id")
        return made

    report = run(pipeline([(1, "a", 1), (2, "b", 2)]), engine)
    assert [sink.name for sink in report.sinks] == ["out", "list", "whole"]
    before = sink_files(tmp_path)
    with pytest.raises(RunFailed, match="sink 'out'"):
        run(pipeline([(3, "a", 1), (3, "b", 2)]), engine)
    assert sink_files(tmp_path) == before
    run(pipeline([(3, "a", 1)]), engine)
    assert rows_at(tmp_path / "whole") == rows_at(tmp_path / "out") == [(1, "a", 1), (2, "b", 2), (3, "a", 1)]
    assert (tmp_path / "list.csv").read_text().splitlines() == ['"id","day","v"', '3,"a",1']


def test_rows_of_each_file_are_in_order(tmp_path, engine, layout):
    for rows in ([(5, "a", 1), (1, "a", 5), (3, "a", 3)], [(4, "a", 4), (2, "a", 2)]):
        run(upserting(tmp_path, rows, path="out.parquet", sort_by="id desc"), engine, layout)
    assert pq.read_table(tmp_path / "out.parquet")["id"].to_pylist() == [5, 4, 3, 2, 1]


def test_arrow_files(tmp_path, engine):
    for rows in ([(1, "a", 1), (2, "b", 2)], [(2, "b", 20)]):
        pipeline = Pipeline("daily", root=tmp_path)
        t = write_source(pipeline, "t", table(TYPES, *rows))
        t.write_arrow("out", "out", mode="upsert", on="id", partition_by="day")
        run(pipeline, engine)
    found = ds.dataset(tmp_path / "out", format="arrow", partitioning="hive").to_table().to_pylist()
    assert sorted((row["id"], row["v"]) for row in found) == [(1, 1), (2, 20)]


@pytest.mark.parametrize(
    ("sink", "problem"),
    [
        ("parquet: out, mode: upsert", "mode upsert needs on, the columns that identify a row"),
        ("parquet: out, mode: append, on: [id]", "on is for mode upsert, and the mode is append"),
        ("csv: out, mode: upsert, on: [id]", "mode upsert reads the rows that stay, and CSV files do not keep all types"),
        ("parquet: out, mode: upsert, on: [ix]", "unknown column 'ix'"),
        ("parquet: out, mode: upsert, on: [l]", "lists are no keys here"),
        ("parquet: out, mode: upsert, on: [id], partition_by: f", "'f' is float64, which has several names for one value"),
        ("parquet: out, mode: upsert, on: [id], run_key: x", "run_key is for mode append, and the mode is upsert"),
    ],
)  # fmt: skip
def test_keys_that_do_not_fit(tmp_path, sink, problem):
    pq.write_table(pa.table({"id": [1], "f": [0.5], "l": [[1]]}), tmp_path / "t.parquet")
    text = "gpuetl: 1\nname: t\nparams: {x: {type: int64, default: 1}}\nsources: {t: {parquet: t.parquet}}\n"
    with pytest.raises(InvalidPipeline) as caught:
        loads(f"{text}sinks: {{out: {{from: t, {sink}}}}}", tmp_path).plan()
    assert problem in str(caught.value)


def test_yaml_and_python_are_the_same(tmp_path):
    pipeline = upserting(tmp_path, [(1, "a", 1)], partition_by="day", sort_by="v")
    text = pipeline.to_yaml()
    assert "mode: upsert" in text
    assert "on: id" in text
    run(loads(text, tmp_path))
    assert rows_at(tmp_path / "out") == [(1, "a", 1)]


def test_a_limit_of_memory_and_spilling(tmp_path, local_engine):
    rows = [(n, DAYS[n % 4], n) for n in range(3000)]
    options = RunOptions(partition_rows=100, resident_bytes=1)
    run(upserting(tmp_path, rows, partition_by="day"), local_engine, options)
    run(
        upserting(tmp_path, [(n, DAYS[(n + 1) % 4], -n) for n in range(0, 3000, 3)], partition_by="day"),
        local_engine,
        options,
    )
    expected = sorted((n, DAYS[(n + 1) % 4], -n) if n % 3 == 0 else (n, DAYS[n % 4], n) for n in range(3000))
    assert rows_at(tmp_path / "out") == expected


@pytest.mark.parametrize("dies_in", ["look", "row_changes", "commit"])
def test_what_a_run_leaves_that_was_killed_is_removed_by_the_next(tmp_path, dies_in):
    """New rows wait in a hidden folder beside the target; the run dies when they are there."""
    run(upserting(tmp_path, [(1, "a", 1), (2, "b", 2)], partition_by="day"))
    child = os.fork()
    if not child:
        from gpuetl.run import upsert

        setattr(upsert, dies_in, lambda *arguments: os._exit(9))
        run(upserting(tmp_path, [(2, "c", 3)], partition_by="day"))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert rows_at(tmp_path / "out") == [(1, "a", 1), (2, "b", 2)]
    assert leftovers(tmp_path)
    report = run(upserting(tmp_path, [(2, "c", 3)], partition_by="day"))
    assert any("which died, left beside" in note for note in report.notes)
    assert rows_at(tmp_path / "out") == [(1, "a", 1), (2, "c", 3)]
    assert not leftovers(tmp_path)


def test_an_incremental_source_feeds_an_upsert(tmp_path, engine):
    """Its state moves with the commit of the sink, and not where the keys are refused."""
    (tmp_path / "in").mkdir()
    text = (
        "gpuetl: 1\nname: t\nsources: {t: {csv: in, schema: {id: int64, v: int64}, incremental: {new_files: true}}}\n"
        "sinks: {out: {from: t, parquet: out, mode: upsert, on: [id]}}\n"
    )
    types = {"id": "int64", "v": "int64"}
    for number, (rows, expected) in enumerate([
        ("1,1\n2,2\n", [(1, 1), (2, 2)]), ("3,3\n3,4\n", None), ("2,20\n", [(1, 1), (2, 20), (3, 3)]),
    ]):  # fmt: skip
        file = tmp_path / f"in/{number}.csv"
        file.write_text(f"id,v\n{rows}")
        pipeline = loads(text, tmp_path)
        if expected is None:
            with pytest.raises(RunFailed, match=r"several of the new rows have the same key \(id\): 1 key, id=3"):
                run(pipeline, engine)
            file.write_text("id,v\n3,3\n")
        else:
            run(pipeline, engine)
            assert rows_at(tmp_path / "out", types) == expected

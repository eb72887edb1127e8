"""prune_fields: of structs in Parquet files only the fields are read that somebody wants."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import RunOptions, expr
from gpuetl.formats import parquet_rows
from gpuetl.optimize.prune_fields import prune_fields
from plans import described, kept_plan

ROW = pa.struct([
    ("a", pa.int64()),
    ("b", pa.struct([("c", pa.string()), ("d", pa.timestamp("ms"))])),
    ("l", pa.list_(pa.struct([("x", pa.int64()), ("y", pa.string())]))),
])  # fmt: skip
ROWS = [
    {"a": 1, "b": {"c": "x", "d": 0}, "l": [{"x": 1, "y": "q"}]},
    None,
    {"a": None, "b": None, "l": []},
    {"a": 4, "b": {"c": None, "d": None}, "l": None},
]


@pytest.fixture
def source(pipeline):
    """A source with a struct."""
    columns = {"id": pa.array([1, 2, 3, 4]), "s": pa.array(ROWS, ROW), "z": pa.array(["p", "q", None, "r"])}
    pq.write_table(pa.table(columns), pipeline.root / "s.parquet")
    return pipeline.read_parquet("source", "s.parquet")


@pytest.fixture
def reading(source):
    """Returns how the source is read by the last plan, and the rows of every engine's run."""

    def of(steps, engine="pandas", partition_rows=None):
        steps.stage("result")
        plan = kept_plan(source.pipeline)
        pruned = prune_fields(plan)
        assert pruned.kept["result"].schema == plan.kept["result"].schema
        options = RunOptions(partition_rows=partition_rows, skip_passes=("read_small_on_cpu",))
        rows = source.pipeline.run(engine=engine, keep=["result"], options=options)["result"].to_arrow().to_pylist()
        return described(pruned)[0], rows

    return of


@pytest.mark.parametrize("partition_rows", [2, None])
def test_a_field_is_read_alone(source, reading, engine, partition_rows):
    line, rows = reading(source.select(c=expr("s.b.c")), engine, partition_rows)
    assert line == "Read source: 3 of 3 columns, of structs only s.b.c"
    assert rows == [{"c": "x"}, {"c": None}, {"c": None}, {"c": None}]


@pytest.mark.parametrize("partition_rows", [2, None])
def test_fields_of_filters_sorts_and_explodes_are_read(source, reading, engine, partition_rows):
    steps = source.filter(expr("s.a > 0 OR id = 2")).sort("id desc").rename({"s": "r"}).select("id", l=expr("r.l"))
    line, rows = reading(steps.explode("l").select("id", y=expr("l.y")), engine, partition_rows)
    assert line == "Read source: 3 of 3 columns, of structs only s.a, s.l"
    assert rows == [{"id": 4, "y": None}, {"id": 2, "y": None}, {"id": 1, "y": "q"}]


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi"])
def test_fields_are_read_below_a_join(source, reading, engine, how):
    other = source.select("id", other=expr("s")).filter(expr("id > 1"))
    line, rows = reading(source.join(other, on="id", how=how).select("id", a=expr("s.a")).sort("id"), engine)
    assert line == "Read source: 3 of 3 columns, of structs only s.a"
    first = [] if how not in ("left", "full") else [{"id": 1, "a": 1}]
    assert rows == [*first, {"id": 2, "a": None}, {"id": 3, "a": None}, {"id": 4, "a": 4}]


def test_fields_are_read_on_both_sides_of_a_join(source, reading, engine):
    joined = source.join(source.select("id", other=expr("s")), on="id").select("id", a=expr("s.a"), c=expr("other.b.c"))
    line, rows = reading(joined.sort("id").limit(1), engine)
    assert line == "Read source: 3 of 3 columns, of structs only s.a, s.b.c"
    assert rows == [{"id": 1, "a": 1, "c": "x"}]


def test_fields_that_unnest_gives_and_nobody_wants_are_not_read(source, reading, engine):
    line, rows = reading(source.unnest("s").select("id", "a"), engine)
    assert line == "Read source: 3 of 3 columns"  # before other passes drop what nobody wants
    assert rows == [{"id": 1, "a": 1}, {"id": 2, "a": None}, {"id": 3, "a": None}, {"id": 4, "a": 4}]
    assert "Read source: 2 of 3 columns, of structs only s.a" in str(source.pipeline.explain())


@pytest.mark.parametrize(
    "steps",
    [
        lambda t: t,
        lambda t: t.filter(expr("s IS NULL")).select(a=expr("s.a")),
        lambda t: t.select("s", a=expr("s.a")),
        lambda t: t.with_columns(a=expr("s.a")),
        lambda t: t.union(t).select(a=expr("s.a")),
        lambda t: t.select(b=expr("coalesce(s, s)")).select(a=expr("b.a")),
    ],
)
def test_a_struct_that_is_wanted_as_a_whole_is_read_as_a_whole(source, reading, steps):
    line, _ = reading(steps(source))
    assert line == "Read source: 3 of 3 columns"


def test_a_whole_struct_in_a_struct_is_read(source, reading, engine):
    line, rows = reading(source.select(b=expr("s.b")).filter(expr("b.c = 'x'")).select(c=expr("b.c")), engine)
    assert line == "Read source: 3 of 3 columns, of structs only s.b.c, s.b.d"
    assert rows == [{"c": "x"}]


def test_only_the_chunks_of_the_fields_are_asked_for(source, monkeypatch):
    asked = []
    places = parquet_rows.leaf_places

    def noted(footer, types):
        found = places(footer, types)
        asked.append([b".".join(footer.metadata.schema.leaves[place].path).decode() for place in found])
        return found

    monkeypatch.setattr(parquet_rows, "leaf_places", noted)
    source.select("id", c=expr("s.b.c"), l=expr("s.l")).stage("result")
    source.pipeline.run(engine="pandas", keep=["result"])
    assert asked == [["id", "s.b.c", "s.l.list.element.x", "s.l.list.element.y"]]


def test_a_field_with_a_dot_in_its_name_is_read_with_the_struct(pipeline, engine):
    struct = pa.array([{"a.b": 1, "c": 2}], pa.struct([("a.b", pa.int64()), ("c", pa.int64())]))
    pq.write_table(pa.table({"s": struct, "s.c": [5]}), pipeline.root / "s.parquet")
    pipeline.read_parquet("own", "s.parquet").select(x=expr('s."a.b"'), y=expr('"s.c"')).stage("r")
    assert pipeline.run(engine=engine, keep=["r"])["r"].to_arrow().to_pylist() == [{"x": 1, "y": 5}]


def test_a_file_whose_column_is_named_as_a_field_is_read(pipeline, engine):
    struct = pa.array([{"a": 1, "c": 2}], pa.struct([("a", pa.int64()), ("c", pa.int64())]))
    pq.write_table(pa.table({"s.a": ["no"], "s": struct}), pipeline.root / "s.parquet")
    pipeline.read_parquet("own", "s.parquet").select(x=expr("s.a")).stage("r")
    options = RunOptions(skip_passes=("read_small_on_cpu",))
    assert pipeline.run(engine=engine, keep=["r"], options=options)["r"].to_arrow().to_pylist() == [{"x": 1}]

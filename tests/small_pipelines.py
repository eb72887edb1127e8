"""Pipelines that have every operation between them, over two sources of a few small row groups."""

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from gpuetl import Pipeline, RunOptions, Table, col, expr
from gpuetl.run.pipeline_run import Run
from tables import NAN, table, write_source

FILES = Path(__file__).parent / "kernel_files"
OPTIONS = RunOptions(partition_rows=4, broadcast_bytes=0, carried_share=1.0)
"""Three partitions of two row groups each: they can be made smaller."""
SPILLS = RunOptions(partition_rows=4, broadcast_bytes=0, resident_bytes=0)
"""The same partitions, of which all that wait are spilled."""
TYPES = {"k": "string", "t": "int64", "x": "float64"}


def aggregate(t: Table, u: Table) -> None:
    t.filter(col("t") > 0).aggregate("k", n=expr("count(*)"), s=expr("sum(t)"), m=expr("max(x)")).stage("groups")


def join(t: Table, u: Table) -> None:
    t.join(u, "k").stage("inner")
    t.join(u, "k", how="left").stage("left")


def outer_join(t: Table, u: Table) -> None:
    t.join(u, "k", how="full").stage("full")
    t.join(u, "k", how="right").stage("right")


def semi_join(t: Table, u: Table) -> None:
    t.join(u, "k", how="semi").stage("semi")
    t.join(u, "k", how="anti").stage("anti")


def window(t: Table, u: Table) -> None:
    t.window("k", "t", n=expr("row_number()"), s=expr("cum_sum(t)"), before=expr("lag(x)")).stage("rows")


def whole_window(t: Table, u: Table) -> None:
    t.window(order_by="t", n=expr("ntile(3)")).stage("tiles")


def stateful_window(t: Table, u: Table) -> None:
    calls = {"n": "row_number()", "s": "cum_sum(t)", "before": "lag(x, 2)", "filled": "ffill(x)", "first": "first(k)"}
    t.window((), "t", **{name: expr(call) for name, call in calls.items()}).stage("rows")


def kernel(t: Table, u: Table) -> None:
    t.kernel(
        cuda="sums.cu", entry="running_sum", inputs=["x"], outputs={"total": "float64"}, by="k", order_by="t",
        reference="sums.py:running_sum",
    ).stage("sums")  # fmt: skip


def sort(t: Table, u: Table) -> None:
    t.sort("k desc", "t").stage("sorted")
    t.sort("x", "t").limit(5).stage("first")


def distinct(t: Table, u: Table) -> None:
    t.select("k").union(u.select("k")).distinct().stage("keys")


def explode(t: Table, u: Table) -> None:
    t.with_columns(word=expr("split(k, 'b')")).explode("word").stage("words")


def gaps(t: Table, u: Table) -> None:
    t.fill_gaps("t", 2, by="k", start=-3, before=20, mark="made").stage("filled")


def nested(t: Table, u: Table) -> None:
    packed = t.with_columns(s=expr("struct_pack(k := k, x := x)"), b=expr("encode(k)"), l=expr("split(k, 'b')"))
    joined = packed.with_columns(d=expr("struct_pack(s := s, l := l)")).join(u, "k", how="left").sort("k", "t")
    joined.select("s", "d", "v", first=expr("d.l[1]")).stage("joined")
    packed.aggregate("b", n=expr("count(s)")).stage("groups")


def sinks(t: Table, u: Table) -> None:
    shared = t.with_columns(y=col("t") * 2).stage("shared")
    shared.write_parquet("parts", "parts", mode="overwrite")
    shared.aggregate("k", s=expr("sum(y)")).write_parquet("file", "file.parquet", mode="overwrite")
    shared.select("k", "t").write_csv("csv", "csv", partition_by="k", mode="overwrite")


def expectations(t: Table, u: Table) -> None:
    held = (
        t.expect(not_null="k", unique="t", references={"k": "u.k"}, on_fail="warn")
        .expect(that=col("t") < 11, unique="k", on_fail="quarantine")
        .expect(rows=(1, 12))
        .stage("held")
    )
    held.write_parquet("kept", "kept", mode="overwrite")
    held.rejected.drop("_run").write_parquet("rejects", "rejects", mode="overwrite")


PIPELINES = {
    function.__name__: function
    for function in (
        aggregate,
        join,
        outer_join,
        semi_join,
        window,
        whole_window,
        stateful_window,
        kernel,
        sort,
        distinct,
        explode,
        gaps,
        nested,
        sinks,
        expectations,
    )
}


def pipeline_of(name: str, root: Path) -> Pipeline:
    """Return a pipeline, with its sources written below a folder."""
    shutil.copytree(FILES, root, dirs_exist_ok=True)
    pipeline = Pipeline(name, root=root)
    keys = ["b", "a", None, "abc", "b", "a", "", "c", "b", "a", None, "é"]
    rows = [(k, i + 1, None if i % 5 == 3 else NAN if i == 7 else i * 0.5) for i, k in enumerate(keys)]
    t = write_source(pipeline, "t", table(TYPES, *rows))
    u = write_source(pipeline, "u", table({"k": "string", "v": "int64"}, *((k, -i) for i, k in enumerate("abcdef"))))
    PIPELINES[name](t, u)
    return pipeline


def answers(pipeline: Pipeline, engine: str, options: RunOptions = OPTIONS) -> dict[str, list[str]]:
    """Run a pipeline; return the rows of its last stages and of its sinks."""
    return rows_of(pipeline.run(engine=engine, options=options))


def rows_of(run: Run) -> dict[str, list[str]]:
    """Return the rows of a run's stages and sinks, in an order of their own."""
    rows = {name: result.to_arrow() for name, result in run.results.items()}
    for sink in run.report.sinks:
        path = Path(sink.path)
        rows[sink.name] = pq.read_table(path) if "csv" not in path.name else csv_lines(path)
    return {name: sorted(map(repr, found.to_pylist())) for name, found in rows.items()}


def csv_lines(folder: Path) -> pa.Table:
    """Return the lines of CSV files below a folder, but for their headers, each with the folder of its file."""
    lines = [f"{p.parent.name}: {line}" for p in folder.rglob("*.csv") for line in p.read_text().splitlines()[1:]]
    return pa.table({"line": lines})

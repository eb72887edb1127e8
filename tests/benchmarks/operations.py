"""Operations of the cudf engine on rows in device memory, each beside libcudf's way and the device's own copy.

    python tests/benchmarks/operations.py [--rows 100000000] [--runs 7] [--results FILE]

Prints the least time of some runs after a first one, in which kernels are compiled; no
expression is interpreted.  Where libcudf has the operation, its
answer is compared first.  An operation's bytes are those of the columns that it reads and of those that it makes, each
once; the copy's are what it reads and writes.  Results go to results/operations-DATE.json, docs/performance.md is rendered
from it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import cupy
import pyarrow as pa
import pylibcudf as plc
from device_events import USERS, events
from environment import described, today
from suites.results import gpu, installed

from gpuetl import Pipeline, Table, expr
from gpuetl.choices import skipping
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.order import sort_rows
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.cudf_engine import CudfBackend
from gpuetl.engines.cudf.runtime.gpu_machine import machine
from gpuetl.engines.cudf.runtime.libcudf import column_array, to_libcudf
from gpuetl.plan.node import Node, SortKey
from gpuetl.types.schema import Schema

HERE = Path(__file__).parent
FEATURES = {
    "spent": "cum_sum(amount)", "most": "cum_max(amount)", "n": "row_number()", "last": "lag(amount)",
    "recent": "ewm_mean(amount, half_life => interval '1 day')", "session": "session_id(interval '30 minutes')",
}  # fmt: skip
PIECES = 4, 64
"""Of an exchange by hash."""
EXPRESSIONS = {
    "paid": "amount * quantity",
    "dear": "CASE WHEN amount > 500 AND quantity > 2 THEN amount / quantity ELSE 0.0 END",
    "hour": "hour(ts)",
}


@dataclass
class Measured:
    """What was measured of one operation, in ms; `goal_ms` is what was aimed at for 100 million rows."""

    name: str
    ms: float
    goal_ms: float | None
    libcudf_ms: float | None
    bytes: int


@dataclass(frozen=True)
class Work:
    """An operation, its goal, what it reads, and libcudf's way, whose answer `same` compares with ours."""

    name: str
    ours: Callable[[], Any]
    reads: int
    goal_ms: float | None = None
    libcudf: Callable[[], Any] | None = None
    same: Callable[[Any, Any], bool] | None = None


def main() -> None:
    """Measure all, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--results", type=Path, default=HERE / "results" / f"operations-{today()}.json")
    given = parser.parse_args()
    backend = CudfBackend()
    copied = best_ms(copy_of(given.rows), given.runs)
    rate = 2 * 8 * given.rows / copied / 1e6
    print(f"{'copy':40} {copied:8.2f} ms, {rate:7,.0f} GB/s", flush=True)
    measured = []
    with skipping(["interpret"]):
        for work in operations(backend, events(given.rows, backend.machine)):
            measured.append(done(work, given.runs))
            print(line(measured[-1], rate), flush=True)
    found = {
        "benchmark": "operations", **described(installed()), "rows": given.rows, "runs": given.runs,
        "copy_gb_a_s": rate, "operations": [asdict(each) for each in measured],
    }  # fmt: skip
    found["hardware"] |= gpu()
    given.results.parent.mkdir(parents=True, exist_ok=True)
    given.results.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def done(work: Work, runs: int) -> Measured:
    """Compare with libcudf where it has the operation, then measure both."""
    answer = work.ours()
    made = answer.nbytes
    theirs = None
    if work.libcudf and work.same:
        if not work.same(answer, work.libcudf()):
            raise SystemExit(f"{work.name}: the answers differ")
        theirs = best_ms(work.libcudf, runs)
    del answer
    return Measured(work.name, best_ms(work.ours, runs), work.goal_ms, theirs, work.reads + made)


def line(found: Measured, rate: float) -> str:
    """Return a line for people."""
    share = found.bytes / found.ms / 1e6 / rate
    goal = f", goal {found.goal_ms:g} ms" if found.goal_ms else ""
    theirs = f", libcudf {found.libcudf_ms:.2f} ms" if found.libcudf_ms else ""
    return f"{found.name:40} {found.ms:8.2f} ms, {share:4.0%} of the copy{goal}{theirs}"


def best_ms(work: Callable[[], object], runs: int) -> float:
    """Return the least milliseconds of some runs after a first one; the device has done all before and after."""
    times = []
    for _ in range(runs + 1):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        kept = work()
        cupy.cuda.Device().synchronize()
        times.append(time.perf_counter() - start)
        del kept
    return min(times[1:]) * 1e3


def copy_of(rows: int) -> Callable[[], object]:
    """Return a copy of so many numbers of 8 bytes."""
    source = cupy.ones(rows, "int64")
    return partial(cupy.copyto, cupy.empty_like(source), source)


def planned(frame: Frame, step: Callable[..., Table], other: Frame | None = None) -> Node:
    """Return the operation that a step is planned as, over rows such as the frame's."""
    pipeline = Pipeline("operation")
    tables = [pipeline.from_frame(name, empty(each)) for name, each in (("t", frame), ("u", other)) if each]
    (step(*tables) if other else step(tables[0])).stage("s")
    return pipeline.plan().stages["s"]


def empty(frame: Frame) -> pa.Table:
    """Return a table without rows, of a frame's columns."""
    return pa.schema([(name, vector.dtype) for name, vector in frame.columns.items()]).empty_table()


def operations(backend: CudfBackend, frame: Frame) -> Iterator[Work]:
    """Return what is measured, one by one: the device holds the columns of one at a time."""

    def run(node: Node, *frames: Frame) -> Callable[[], Frame]:
        return partial(backend.run, node, *frames)

    by_time = frame.select(("user_id", "ts"))
    keys = [SortKey("user_id"), SortKey("ts")]
    yield Work(
        "order by user and time", lambda: sort_rows(by_time, keys, 1, False, backend.machine).rows, by_time.nbytes, 10,
        partial(libcudf_order, by_time), partial(same_order, by_time),
    )  # fmt: skip
    amounts = frame.select(("user_id", "ts", "amount"))
    features = planned(amounts, lambda t: t.window("user_id", "ts", **exprs(FEATURES)))
    yield Work("6 features by user, with the sort", run(features, amounts), amounts.nbytes, 20)
    in_order = backend.run(planned(amounts, lambda t: t.sort("user_id", "ts")), amounts)
    yield Work("6 features by user, of rows in order", run(features, in_order), in_order.nbytes)
    del in_order
    read = frame.select(("ts", "amount", "quantity"))
    node = planned(read, lambda t: t.select(**exprs(EXPRESSIONS)))
    yield Work("3 expressions", run(node, read), read.nbytes)
    node = planned(read, lambda t: t.filter(expr("amount > 200 AND quantity <> 3")))
    yield Work("filter that 70 % pass", run(node, read), read.nbytes)
    yield from grouped(backend, frame)
    yield joined(backend, frame)
    yield from (exchanged(backend, frame, count) for count in PIECES)


def grouped(backend: CudfBackend, frame: Frame) -> Iterator[Work]:
    """Groups: few of them, and distinct values in each."""
    amounts = frame.select(("category", "amount"))
    calls = {"n": "count(*)", "total": "sum(amount)", "mean": "mean(amount)"}
    yield Work(
        "count, sum and mean by 20 strings", partial(backend.run, aggregate(amounts, calls), amounts), amounts.nbytes, 5,
        partial(libcudf_groups, amounts, "amount", (plc.aggregation.sum(), plc.aggregation.mean())), same_totals,
    )  # fmt: skip
    users = frame.select(("category", "user_id"))
    distinct = aggregate(users, {"users": "count(DISTINCT user_id)"})
    yield Work(
        "distinct users by 20 strings", partial(backend.run, distinct, users), users.nbytes, 20,
        partial(libcudf_groups, users, "user_id", (plc.aggregation.nunique(),)), same_counts,
    )  # fmt: skip
    amounts = frame.select(("user_id", "amount"))
    yield Work(
        "count, sum and mean by user", partial(backend.run, aggregate(amounts, calls, "user_id"), amounts), amounts.nbytes,
        None, partial(libcudf_groups, amounts, "amount", (plc.aggregation.sum(), plc.aggregation.mean()), "user_id"), same_totals,
    )  # fmt: skip


def aggregate(frame: Frame, calls: dict[str, str], by: str = "category") -> Node:
    """Plan an aggregate."""
    return planned(frame, lambda t: t.aggregate(by, **exprs(calls)))


def joined(backend: CudfBackend, frame: Frame) -> Work:
    """Every event's user, of a million of them, with one column."""
    draws = cupy.random.default_rng(2)
    users = Frame({
        "user_id": Vector(pa.int64(), USERS, cupy.random.permutation(USERS)),
        "km": Vector(pa.float64(), USERS, draws.random(USERS)),
    }, USERS)  # fmt: skip
    left = frame.select(("user_id",))
    node = planned(left, lambda t, u: t.join(u, "user_id"), users)
    return Work(
        "join with 1 M users, one column", partial(backend.run, node, left, users), left.nbytes + users.nbytes, 3,
        partial(libcudf_join, left, users), same_joined,
    )  # fmt: skip


def exchanged(backend: CudfBackend, frame: Frame, count: int) -> Work:
    """Rows split by their user's hash into pieces in memory of their own, and put below each other again."""
    rows = frame.select(("user_id", "ts", "amount", "quantity"))
    schema = Schema({name: vector.dtype for name, vector in rows.columns.items()})
    ours = lambda: backend.concat(backend.split_by_hash(rows, ["user_id"], count), schema)  # noqa: E731
    return Work(
        f"{count} pieces by user, put together again", ours, rows.nbytes, None, partial(libcudf_exchange, rows, count),
        same_rows,
    )  # fmt: skip


def exprs(texts: dict[str, str]) -> dict[str, Any]:
    """Read SQL."""
    return {name: expr(text) for name, text in texts.items()}


def libcudf_order(frame: Frame) -> Any:
    """Sort all columns ascending."""
    table = plc.Table([to_libcudf(vector, machine()) for vector in frame.columns.values()])
    count = len(frame.columns)
    return plc.sorting.sorted_order(table, [plc.types.Order.ASCENDING] * count, [plc.types.NullOrder.AFTER] * count)


def same_order(frame: Frame, ours: Any, theirs: Any) -> bool:
    """Whether both put equal keys at each place."""
    order = column_array(theirs, "int32")
    return all(bool((vector.data[ours] == vector.data[order]).all()) for vector in frame.columns.values())


def libcudf_groups(frame: Frame, value: str, calls: tuple[Any, ...], by: str = "category") -> Any:
    """Aggregate one column by another; texts by their codes, as the engine does."""
    key = frame.columns[by]
    codes = Vector(pa.int32(), key.rows, key.data) if key.dictionary is not None else key
    grouped = plc.groupby.GroupBy(plc.Table([to_libcudf(codes, machine())]))
    return grouped.aggregate([plc.groupby.GroupByRequest(to_libcudf(frame.columns[value], machine()), list(calls))])


def same_totals(ours: Frame, theirs: Any) -> bool:
    """Whether as many groups have the same sums, in any order."""
    sums = column_array(theirs[1][0].columns()[0], "float64")
    return bool(cupy.allclose(cupy.sort(sums), cupy.sort(ours.columns["total"].data)))


def same_counts(ours: Frame, theirs: Any) -> bool:
    """Whether as many groups have the same counts, in any order."""
    counts = column_array(theirs[1][0].columns()[0], "int32").astype("int64")
    return bool((cupy.sort(counts) == cupy.sort(ours.columns["users"].data)).all())


def libcudf_join(left: Frame, right: Frame) -> Any:
    """Find the pairs, then fetch the key and the column."""
    keys = [plc.Table([to_libcudf(each.columns["user_id"], machine())]) for each in (left, right)]
    rows, places = plc.join.inner_join(*keys, plc.types.NullEquality.UNEQUAL)
    bounds = plc.copying.OutOfBoundsPolicy.DONT_CHECK
    fetched = plc.copying.gather(plc.Table([to_libcudf(right.columns["km"], machine())]), places, bounds)
    return plc.copying.gather(keys[0], rows, bounds), fetched


def same_joined(ours: Frame, theirs: Any) -> bool:
    """Whether the rows are as many, and so are the kilometres."""
    km = column_array(theirs[1].columns()[0], "float64")
    return ours.rows == len(km) and bool(cupy.allclose(km.sum(), cupy.sum(ours.columns["km"].data)))


def libcudf_exchange(frame: Frame, count: int) -> Any:
    """Reorder rows by their hash, and copy each part, as one that is to be sent is; then put them together."""
    table = plc.Table([to_libcudf(vector, machine()) for vector in frame.columns.values()])
    ordered, starts = plc.partitioning.hash_partition(table, [0], count)
    splits = [start for start in starts if 0 < start < ordered.num_rows()]
    pieces = [plc.contiguous_split.pack(part) for part in plc.copying.split(ordered, splits)]
    return plc.concatenate.concatenate([plc.contiguous_split.unpack(piece) for piece in pieces])


def same_rows(ours: Frame, theirs: Any) -> bool:
    """Whether the rows are as many, and their users and times have the same sums."""
    sums = [int(cupy.sum(ours.columns[name].data.view("int64"))) for name in ("user_id", "ts")]
    return ours.rows == theirs.num_rows() and sums == [
        int(column_array(theirs.columns()[place], "int64").sum()) for place in range(2)
    ]


if __name__ == "__main__":
    main()

"""fit and apply: features whose numbers come from the data, on every engine and however rows are split."""

import datetime as dt
import json
import re
from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed, load, transforms
from gpuetl.engines.registry import is_clustered
from gpuetl.messages import code_of
from gpuetl.testing import assert_same, assert_tables_equal
from left_to_full import in_full
from tables import NAN, table, write_source

TYPES = {"id": "int64", "c": "string", "x": "float64", "y": "int64"}
TRAIN = [
    (1, "a", 1.0, 1), (2, "b", 2.0, 0), (3, "a", None, 1), (4, None, 4.0, 0), (5, "c", 5.0, 1), (6, "a", 6.0, 0),
    (7, "b", 7.0, 1), (8, "d", 8.0, 0),
]  # fmt: skip
OTHER = [(1, "a", None, 0), (2, "zz", 3.0, 0), (3, None, 100.0, 0), (4, "d", -5.0, 0)]


@pytest.fixture
def train(pipeline):
    return write_source(pipeline, "train", table(TYPES, *TRAIN))


@pytest.fixture
def other(pipeline):
    return write_source(pipeline, "other", table(TYPES, *OTHER))


@pytest.fixture
def fitted(train, other, check):
    """Check a column of the rows that are fitted, and of other rows."""

    def check_both(transform, dtype, rows, others, column="new"):
        learned = train.fit(transform)
        check(learned.select("id", column), table({"id": "int64", column: dtype}, *zip(range(1, 9), rows, strict=True)))
        applied = other.apply(learned).select("id", column)
        check(applied, table({"id": "int64", column: dtype}, *zip(range(1, 5), others, strict=True)))

    return check_both


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("statistic", "value"), [("mean", 33 / 7), ("median", 5.0), ("min", 1.0), ("max", 8.0), ("mode", 1.0)]
)
def test_fill_takes_a_statistic_for_null(fitted, statistic, value):
    rows = [1.0, 2.0, value, 4.0, 5.0, 6.0, 7.0, 8.0]
    fitted(transforms.fill({"new": "x"}, statistic), "float64", rows, [value, 3.0, 100.0, -5.0])


def test_clip_moves_values_to_bounds_and_quantiles(fitted):
    clip = transforms.clip({"new": "x"}, lower=2, upper_quantile=0.5)
    fitted(clip, "float64", [2.0, 2.0, None, 4.0, 5.0, 5.0, 5.0, 5.0], [None, 3.0, 5.0, 2.0])


def test_min_max_maps_to_0_and_1(fitted):
    rows = [0.0, 1 / 7, None, 3 / 7, 4 / 7, 5 / 7, 6 / 7, 1.0]
    fitted(transforms.min_max({"new": "x"}), "float64", rows, [None, 2 / 7, 99 / 7, -6 / 7])


def test_normalise_subtracts_the_mean(fitted):
    mean, std = 33 / 7, (sum((x - 33 / 7) ** 2 for x in (1, 2, 4, 5, 6, 7, 8)) / 7) ** 0.5
    rows = [None if x is None else (x - mean) / std for _, _, x, _ in TRAIN]
    others = [None if x is None else (x - mean) / std for _, _, x, _ in OTHER]
    fitted(transforms.normalise({"new": "x"}), "float64", rows, others)


def test_a_column_of_one_value_becomes_0(source, check):
    t = source(table({"id": "int64", "x": "int64"}, (1, 7), (2, 7), (3, None)))
    expected = table({"id": "int64", "x": "float64"}, (1, 0.0), (2, 0.0), (3, None))
    check(t.fit(transforms.normalise("x")), expected)
    check(t.fit(transforms.min_max("x")), expected)


def test_bucketise_counts_the_boundaries_below(fitted):
    fitted(transforms.bucketise({"new": "x"}, 2), "int32", [0, 0, None, 0, 1, 1, 1, 1], [None, 0, 1, 0])
    rows = [0, 1, None, 1, 2, 2, 2, 2]
    fitted(transforms.bucketise({"new": "x"}, boundaries=[2, 5]), "int32", rows, [None, 1, 2, 0])


@pytest.mark.part(6)
def test_categorify_numbers_values_by_frequency(fitted):
    fitted(transforms.categorify({"new": "c"}), "int32", [2, 3, 2, 0, 4, 2, 3, 5], [2, 1, 0, 5])
    fitted(transforms.categorify({"new": "c"}, min_count=2), "int32", [2, 3, 2, 0, 1, 2, 3, 1], [2, 1, 0, 1])
    fitted(transforms.categorify({"new": "c"}, most=1), "int32", [2, 1, 2, 0, 1, 2, 1, 1], [2, 1, 0, 1])


def test_unknown_values_are_spread_over_buckets(train, other, answer):
    learned = train.fit(transforms.categorify({"new": "c"}, min_count=3, unknown_buckets=100))
    numbers = dict(zip(*(answer(learned).column(name).to_pylist() for name in ("c", "new")), strict=True))
    assert numbers["a"] == 101
    assert numbers[None] == 0
    assert all(1 <= numbers[name] <= 100 for name in "bcd")
    assert len({numbers[name] for name in "bcd"}) > 1


def test_columns_can_have_one_vocabulary(source, check):
    t = source(table({"id": "int64", "a": "string", "b": "string"}, (1, "u", "v"), (2, "v", "w"), (3, "v", None)))
    joint = t.fit(transforms.categorify(["a", "b"], joint=True))
    check(joint, table({"id": "int64", "a": "int32", "b": "int32"}, (1, 3, 2), (2, 2, 4), (3, 2, 0)))


def test_target_encode_of_other_rows_is_a_smoothed_mean(train, other, check):
    learned = train.fit(transforms.target_encode({"new": "c"}, "y", smoothing=2))
    expected = [(2 + 1) / 5, 0.5, 1 / 3, 1 / 3]
    check(
        other.drop("y").apply(learned).select("id", "new"),
        table({"id": "int64", "new": "float64"}, *zip(range(1, 5), expected, strict=True)),
    )


@pytest.mark.part(12)
def test_target_encode_does_not_see_a_row_s_own_target(source, answer):
    rows = [(i, "k", float(i == 0)) for i in range(40)]
    t = source(table({"id": "int64", "c": "string", "y": "float64"}, *rows))
    learned = answer(t.fit(transforms.target_encode({"new": "c"}, "y", smoothing=0, folds=4, fold_by="id")))
    values = learned.to_pydict()
    own = values["new"][values["id"].index(0)]
    assert own == 0.0  # the only 1 is its own
    assert len(set(values["new"])) == 3  # two folds have the same size
    assert all(value >= 0 for value in values["new"])
    in_sample = answer(t.fit(transforms.target_encode({"new": "c"}, "y", smoothing=0, folds=0)))
    assert set(in_sample.column("new").to_pylist()) == {1 / 40}


def test_one_hot_compares_with_the_listed_values(fitted):
    hot = transforms.one_hot("c", ["a", "d"])
    fitted(hot, "int8", [1, 0, 1, 0, 0, 1, 0, 0], [1, 0, 0, 0], "c_a")
    fitted(hot, "int8", [0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 1], "c_d")


def test_cross_hashes_columns(train, answer):
    crossed = answer(train.fit(transforms.cross(["c", "y"], 1000, "cy"))).sort_by("id").column("cy").to_pylist()
    assert crossed[0] == crossed[2] != crossed[5]
    assert all(0 <= value < 1000 for value in crossed)


def test_a_transform_sees_the_columns_of_those_before(train, check):
    learned = train.fit([transforms.fill("x", "max"), transforms.min_max("x")]).select("id", "x")
    rows = [0.0, 1 / 7, 1.0, 3 / 7, 4 / 7, 5 / 7, 6 / 7, 1.0]
    check(learned, table({"id": "int64", "x": "float64"}, *zip(range(1, 9), rows, strict=True)))


def test_no_rows_and_nulls_alone(source, check):
    types = {"x": "float64", "c": "string"}
    empty = source(table(types))
    every = [transforms.normalise("x"), transforms.categorify("c")]
    check(empty.fit(every), table({"x": "float64", "c": "int32"}))
    nulls = source(table(types, (None, None), (NAN, "")))
    check(nulls.fit(transforms.categorify("c")).select("c"), table({"c": "int32"}, (0,), (2,)))


ALL = [
    transforms.fill("x"), transforms.clip({"clipped": "x"}, lower_quantile=0.1), transforms.log({"log": "x"}),
    transforms.normalise({"z": "x"}), transforms.bucketise({"bucket": "x"}, 3),
    transforms.target_encode({"rate": "c"}, "y", folds=2), transforms.cross(["c", "y"], 10, "cy"),
    transforms.one_hot("c", ["a"]), transforms.categorify("c", min_count=2),
]  # fmt: skip


def test_every_layout_and_engine_learns_the_same(train, other, pipeline):
    train.fit(ALL).stage("features")
    other.apply(pipeline.table("features")).stage("scored")
    assert_same(pipeline, keep=["features", "scored"])


def test_what_is_saved_is_applied_later(pipeline, train, other, engine, tmp_path):
    train.fit(ALL, save="model").stage("features")
    other.apply(pipeline.table("features")).write_parquet("at_once", "at_once")
    run = pipeline.run(engine=engine)
    described = json.loads((tmp_path / "model" / "fit.json").read_text())
    assert described["version"] == 1
    assert described["columns"] == ["x: float64", "c: string", "y: int64"]
    assert [next(iter(json.loads(one))) for one in described["transforms"]] == [one.verb for one in ALL]
    assert {sink.name for sink in run.report.sinks} > {"at_once", "features.fit/fit.json"}

    later = Pipeline("later", root=tmp_path)
    write_source(later, "others", table(TYPES, *OTHER)).apply(load="model").stage("scored")
    later.read_parquet("at_once", "at_once").stage("at_once_rows")
    kept = later.run(engine=engine, keep=["scored", "at_once_rows"])
    assert_tables_equal(kept["scored"].to_arrow(), kept["at_once_rows"].to_arrow())


def test_several_columns_are_numbered_and_saved_at_once(pipeline, train, other, engine, tmp_path):
    train.fit(transforms.categorify(["c", "x", "y"], min_count=2), save="model").stage("features")
    other.apply(pipeline.table("features")).stage("scored")
    run = pipeline.run(engine=engine, keep=["features", "scored"])
    found = run["features"].to_arrow().sort_by("id").select(["c", "x", "y"]).to_pydict()
    assert found == {"c": [2, 3, 2, 0, 1, 2, 3, 1], "x": [1, 1, 0, 1, 1, 1, 1, 1], "y": [3, 2, 3, 2, 3, 2, 3, 2]}
    scored = run["scored"].to_arrow().sort_by("id").select(["c", "x", "y"]).to_pydict()
    assert scored == {"c": [2, 1, 0, 1], "x": [0, 1, 1, 1], "y": [2, 2, 2, 2]}
    saved = [pq.read_table(path).to_pydict() for path in sorted((tmp_path / "model").glob("*.parquet"))]
    assert sorted(saved, key=repr) == [
        {"value": ["a", "b"], "count": [3, 2], "id": [2, 3]},
        {"value": [0, 1], "count": [4, 4], "id": [2, 3]},
        {"value": [], "count": [], "id": []},
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: None, "there is no fit.json in"),
        (lambda text: text.replace('"version":1', '"version":9'), "has version 9, and this gpuetl reads version 1"),
        (lambda text: text.replace("float64", "float32"), "its fingerprint does not fit its content"),
        (lambda text: "{", "is not a fit that gpuetl wrote"),
    ],
)
def test_a_damaged_artefact_is_refused(pipeline, train, tmp_path, change, message):
    train.fit(transforms.normalise("x"), save="model").stage("features")
    pipeline.run(engine="pandas")
    file = tmp_path / "model" / "fit.json"
    text = change(file.read_text())
    file.unlink() if text is None else file.write_text(text)
    later = Pipeline("later", root=tmp_path)
    write_source(later, "others", table(TYPES, *OTHER)).apply(load="model").stage("scored")
    with pytest.raises(InvalidPipeline, match=re.escape(message)):
        later.run(engine="pandas", keep=["scored"])


def test_other_types_are_refused(pipeline, train, source):
    learned = train.fit(transforms.normalise("x"))
    source(table({"x": "int64"}, (1,)), "ints").apply(learned).stage("scored")
    with pytest.raises(InvalidPipeline, match=r"'x' is int64, and was float64 in stage"):
        pipeline.run(engine="pandas", keep=["scored"])


def test_apply_needs_a_stage_with_a_fit(pipeline, train, other):
    other.apply(train.stage("plain")).stage("scored")
    with pytest.raises(InvalidPipeline, match=r"'plain' has no fit step"):
        pipeline.run(engine="pandas", keep=["scored"])


WRONG = [
    ({"normalise": "c"}, "GE1880", "normalise takes numbers, and 'c' is string"),
    ({"normalise": "z"}, "GE1003", "unknown column 'z'"),
    ({"clip": "x"}, "GE1880", "clip needs a bound"),
    ({"bucketise": "x"}, "GE1880", "bucketise takes either buckets or boundaries"),
    ({"scale": "x"}, "GE1880", "unknown transform 'scale'"),
    ({"target_encode": {"columns": "c", "target": "c"}}, "GE1880", "takes a target of numbers"),
    ({"target_encode": {"columns": "c", "target": "y", "folds": 1}}, "GE1880", "folds"),
    ({"categorify": {"columns": "c", "min": 3}}, "GE1006", "unknown key 'min'"),
    ({"cross": {"columns": ["c"], "buckets": 0, "name": "n"}}, "GE1880", "cross: buckets"),
]


@pytest.mark.parametrize(("transform", "code", "message"), WRONG)
def test_wrong_transforms_are_told_once(tmp_path, transform, code, message):
    text = {
        "gpuetl": 1, "name": "p",
        "sources": {"t": {"csv": "t.csv", "schema": {"c": "string", "x": "float64", "y": "int64"}}},
        "stages": {"s": {"from": "t", "steps": [{"fit": [transform]}]}},
        "sinks": {"out": {"from": "s", "parquet": "out"}},
    }  # fmt: skip
    (tmp_path / "t.csv").write_text("c,x,y\na,1,1\n")
    (tmp_path / "p.yaml").write_text(json.dumps(text))
    with pytest.raises(InvalidPipeline) as wrong:
        load(tmp_path / "p.yaml").run(engine="pandas", keep=["s"])
    assert [code_of(problem.message) for problem in wrong.value.problems] == [code]
    assert message in str(wrong.value)


VALUES_OF_TYPES = {
    "int8": [3, -1, None], "uint64": [(1 << 64) - 1, 0, None], "int64": [-(1 << 63), (1 << 63) - 1, None],
    "float64": [NAN, -0.0, 0.0, float("-inf"), None], "float32": [NAN, 1.5, None], "bool": [True, False, None],
    "string": ["b", "", "é", None], "date": [dt.date(2020, 1, 1), dt.date(1960, 1, 1), None],
    "timestamp": [dt.datetime(2020, 1, 1, 1), dt.datetime(1960, 1, 1), None],
    "decimal(5,2)": [Decimal("1.50"), Decimal("-1.50"), None], "decimal(30,2)": [Decimal("9e25"), Decimal("1"), None],
}  # fmt: skip


@pytest.mark.part(12)
def test_every_type_of_key_is_numbered(pipeline, answer, source, engine):
    """By frequency, then ascending: -0.0 is 0.0, and NaN is the greatest value.  Clusters number four of the types, or all with --full."""
    types, columns = {"id": "int64"}, [range(20)]
    for name, values in list(VALUES_OF_TYPES.items())[:: in_full(1, 3) if is_clustered(engine) else 1]:
        types[f"c_{len(types)}"] = name
        columns.append([values[min(i % 7, i % 5) % len(values)] for i in range(20)])
    t = source(table(types, *zip(*columns, strict=True)))
    names = [name for name in types if name != "id"]
    found = answer(t.fit(transforms.categorify(names))).sort_by("id").to_pydict()
    least = answer(t.fit(transforms.categorify(names, min_count=5, most=1))).sort_by("id").to_pydict()
    for name, values in zip(names, columns[1:], strict=True):
        keys = [None if v is None else ("nan" if v != v else v + 0 if isinstance(v, float) else v) for v in values]
        counts = Counter(key for key in keys if key is not None)
        order = sorted(counts, key=lambda key: (-counts[key], key == "nan", 0 if key == "nan" else key))
        ids = {None: 0, **{key: place for place, key in enumerate(order, 2)}}
        assert found[name] == [ids[key] for key in keys], types[name]
        first = order[:1] if counts[order[0]] >= 5 else []
        assert least[name] == [0 if key is None else 2 if key in first else 1 for key in keys], types[name]


def test_a_vocabulary_whose_file_repeats_a_value_is_refused(pipeline, train, engine, tmp_path):
    train.fit(transforms.categorify("c"), save="model").stage("features")
    pipeline.run(engine="pandas")
    (file,) = (tmp_path / "model").glob("*.parquet")
    rows = pq.read_table(file)
    pq.write_table(pa.concat_tables([rows, rows.slice(0, 1)]), file)
    later = Pipeline("later", root=tmp_path)
    write_source(later, "others", table(TYPES, *OTHER)).apply(load="model").stage("scored")
    with pytest.raises(RunFailed, match="value repeats on the right side"):
        later.run(engine=engine, keep=["scored"])


@pytest.mark.parametrize("on", [pytest.param("cudf", marks=pytest.mark.gpu), "pandas"])
def test_many_values_are_counted(on):
    """Few values that most rows have, and more than fit a GPU's small tables."""
    rows = 3_000_000 if on == "cudf" else 30_000
    rng = np.random.default_rng(1)
    columns = {
        "few": rng.integers(0, 3, rows),
        "skewed": (1_000_000 * rng.random(rows) ** 4).astype(np.int64),
        "many": rng.integers(-(1 << 63), (1 << 63) - 1, rows) >> rng.choice([0, 44], rows),
    }
    columns["many"][:20] = (1 << 63) - 1
    pipeline = Pipeline("many")
    t = pipeline.from_frame("t", pa.table(columns))
    t.fit(transforms.categorify(list(columns))).stage("all")
    t.fit(transforms.categorify(list(columns), min_count=15)).stage("frequent")
    run = pipeline.run(engine=on, keep=["all", "frequent"])
    for name, values in columns.items():
        unique, places, counts = np.unique(values, return_inverse=True, return_counts=True)
        order = np.lexsort([unique, -counts])
        ids = np.empty(len(unique), np.int64)
        ids[order] = np.arange(2, 2 + len(unique))
        assert np.array_equal(run["all"].to_arrow().column(name).to_numpy(), ids[places]), name
        ids[counts < 15] = 1
        assert np.array_equal(run["frequent"].to_arrow().column(name).to_numpy(), ids[places]), name

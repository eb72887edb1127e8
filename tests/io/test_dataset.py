"""Sources: which files they are, what columns they have, and what is wrong with them."""

import re
from datetime import date, datetime
from decimal import Decimal
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed, RunOptions, col, expr, loads
from gpuetl.formats import footers
from gpuetl.formats.parquet_footer import footer_bytes
from gpuetl.testing import assert_tables_equal
from messages import without_place
from tables import INF, INT64_MIN, NAN, table

TYPES = {"k": "string", "x": "int64"}


@pytest.fixture
def read(pipeline):
    """Reads a Parquet source as it is, in partitions of 2 rows."""

    def rows(path, **keys):
        pipeline.read_parquet("s", path, **keys)
        return pipeline.run(engine="pandas", keep=["s"], options=RunOptions(partition_rows=2))["s"].to_arrow()

    return rows


@pytest.fixture
def read_csv(pipeline):
    """Reads CSV text."""

    def rows(text, schema, **keys):
        (pipeline.root / "s.csv").write_text(text)
        pipeline.read_csv("s", "s.csv", schema, **keys)
        return pipeline.run(engine="pandas", keep=["s"])["s"].to_arrow()

    return rows


def write(path, *rows, types=TYPES):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table(types, *rows), path)


def xs(rows):
    return rows.column("x").to_pylist()


def test_dots_in_the_name_of_a_column_mean_nothing(read, tmp_path):
    """In footers they stand before the parts of a list."""
    rows = pa.table({"a": [1, 2], "a.b": ["x", "yy"], "a.b.c": pa.array([[1], [2, None]], pa.list_(pa.int64()))})
    pq.write_table(rows, tmp_path / "t.parquet")
    assert_tables_equal(read("t.parquet"), rows, ordered=True)
    (group,) = footers.footer_of(tmp_path / "t.parquet").groups
    assert set(group.file_bytes) == set(rows.column_names)
    assert [group.limits(name) for name in rows.column_names] == [(1, 2, 0), ("x", "yy", 0), None]


@pytest.fixture
def lake(tmp_path):
    """A folder with files in the order of their paths, and some that are not to be read."""
    for i, name in enumerate(
        ["a.parquet", "b/c.parquet", "b/d.parquet", "_temporary/e.parquet", ".f.parquet", "b/.g/h.parquet"]
    ):
        write(tmp_path / "lake" / name, ("k", i))
    (tmp_path / "lake" / "notes.txt").write_text("not rows")
    return tmp_path / "lake"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("lake", [0, 1, 2]),
        ("lake/a.parquet", [0]),
        ("lake/*.parquet", [0]),
        ("lake/b/*", [1, 2]),
        ("lake/**/*.parquet", [0, 1, 2]),
        ("lake/[ab]*", [0]),
        ("lake/_temporary/e.parquet", [3]),
        ("lake/_temporary", [3]),
    ],
)
def test_a_source_is_a_file_a_glob_or_a_folder(lake, read, path, expected):
    assert xs(read(path)) == expected


@pytest.mark.parametrize("name", ["a[1].parquet", "a*.parquet", "a?.parquet"])
def test_a_file_whose_name_looks_like_a_glob_is_a_file(tmp_path, read, name):
    write(tmp_path / name, ("k", 1))
    assert xs(read(name)) == [1]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("none.parquet", r"source 's': .*/none\.parquet does not exist\n    pipeline.*\nCheck the path"),
        ("lake/*.pq", r"lake/\*\.pq matches no file"),
        ("empty", r"/empty holds no \.parquet file"),
        ("lake/notes.txt", r"notes\.txt is not a Parquet file that can be read"),
    ],
)
def test_a_source_that_is_not_there_is_told_with_its_path(lake, pipeline, path, message, tmp_path):
    (tmp_path / "empty").mkdir()
    pipeline.read_parquet("s", path)
    with pytest.raises(InvalidPipeline, match=message):
        pipeline.plan()


def test_a_source_with_a_schema_is_told_of_when_it_is_run(pipeline):
    pipeline.read_parquet("s", "none.parquet", schema={"x": "int64"})
    pipeline.plan()
    with pytest.raises(RunFailed, match=r"none\.parquet does not exist"):
        pipeline.run(engine="pandas", keep=["s"])


def test_columns_of_the_path_have_their_declared_types(tmp_path, read):
    for day, place, x in [("2024-01-01", "a%20b", 1), ("2024-01-02", "__HIVE_DEFAULT_PARTITION__", 2)]:
        write(tmp_path / f"lake/day={day}/place={place}/f.parquet", ("k", x))
    got = read("lake", partitions={"day": "date", "place": "string"})
    types = {**TYPES, "day": "date", "place": "string"}
    assert_tables_equal(got, table(types, ("k", 1, date(2024, 1, 1), "a b"), ("k", 2, date(2024, 1, 2), None)))


def test_files_are_left_out_by_the_columns_of_their_path(tmp_path, pipeline):
    for day in (1, 2, 3):
        write(tmp_path / f"lake/day={day}/f.parquet", ("k", day))
    t = pipeline.read_parquet("s", "lake", partitions={"day": "int32"})
    t.filter(col("day") == 2).stage("two")
    report = pipeline.run(engine="pandas").report
    assert report.stages[0].rows_in == 1


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        (
            "day=x",
            r"'day=x' is not of type int32\n    pipeline.*\nDeclare 'day' of another type in the source's partitions\.",
        ),
        ("month=1", r"f\.parquet has no 'day=…' folder\n    pipeline.*\nFolders of the path: month\."),
    ],
)
def test_a_path_without_the_partition_s_value_is_told(tmp_path, pipeline, folder, message):
    write(tmp_path / f"lake/{folder}/f.parquet", ("k", 1))
    pipeline.read_parquet("s", "lake", partitions={"day": "int32"})
    with pytest.raises((RunFailed, InvalidPipeline), match=message):
        pipeline.run(engine="pandas", keep=["s"])


HAVE = "unknown column 'day'\nColumns: a, k, x. Folders 'day=…' of source 's' have it: declare it there by partitions: "


@pytest.mark.parametrize(
    ("days", "dtype"),
    [
        (("1", "02", "__HIVE_DEFAULT_PARTITION__"), "int64"),
        (("2024-01-01", "2024%2D01%2D02"), "date"),
        (("1", "b"), "string"),
        (("__HIVE_DEFAULT_PARTITION__",), "string"),
    ],
)
@pytest.mark.parametrize(
    "step", [lambda t: t.filter(expr("day = 1")), lambda t: t.sort("day"), lambda t: t.drop("day")]
)
def test_a_column_of_folders_that_is_not_declared_is_told_with_how_to(tmp_path, pipeline, days, dtype, step):
    for day in days:
        write(tmp_path / f"lake/a=1/day={day}/f.parquet", ("k", 1))
    t = pipeline.read_parquet("s", "lake", partitions={"a": "int32"})
    step(t).stage("one")
    with pytest.raises(InvalidPipeline) as caught:
        pipeline.plan()
    assert f"{HAVE}{{a: int32, day: {dtype}}}." in without_place(str(caught.value))


def test_a_column_that_a_source_asks_for_in_vain_is_told_once(tmp_path, pipeline):
    write(tmp_path / "lake/day=1/f.parquet", ("k", 1))
    t = pipeline.read_parquet("s", "lake", columns=["k", "day"])
    t.filter(expr("day = 1")).stage("one")
    with pytest.raises(InvalidPipeline) as error:
        pipeline.plan()
    assert [problem.message for problem in error.value.problems] == ["unknown column 'day'"]


def test_a_column_that_one_of_several_files_lacks_is_told(tmp_path, read):
    write(tmp_path / "lake/a.parquet", ("k", 1))
    write(tmp_path / "lake/b.parquet", ("k",), types={"k": "string"})
    with pytest.raises(RunFailed, match=r"source 's': .*b\.parquet has no column 'x'"):
        read("lake")


def test_columns_that_only_some_files_have_are_left_out_where_the_schema_says_so(tmp_path, read):
    write(tmp_path / "lake/a.parquet", ("k", 1))
    write(tmp_path / "lake/b.parquet", (2, True), types={"x": "int64", "more": "bool"})
    assert xs(read("lake", schema={"x": "int64"})) == [1, 2]


@pytest.mark.parametrize(
    ("stored", "declared", "values"),
    [
        ("int32", "int64", [1, None, -5]),
        ("uint8", "int16", [255]),
        ("float32", "float64", [1.5, NAN, None]),
        ("int32", "float64", [1, None]),
        ("null", "string", [None, None]),
    ],
)
def test_a_stored_type_widens_to_the_declared_one(tmp_path, read, stored, declared, values):
    write(tmp_path / "lake/a.parquet", *((value,) for value in values), types={"x": stored})
    write(tmp_path / "lake/b.parquet", (values[0],), types={"x": declared})
    expected = table({"x": declared}, *((value,) for value in [*values, values[0]]))
    assert_tables_equal(read("lake", schema={"x": declared}), expected)


@pytest.mark.parametrize(
    ("stored", "declared"),
    [("int64", "int32"), ("string", "int64"), ("float64", "int64"), ("timestamp[UTC]", "timestamp")],
)
def test_a_stored_type_that_does_not_widen_is_told(tmp_path, read, stored, declared):
    write(tmp_path / "a.parquet", (None,), types={"x": stored})
    with pytest.raises(
        RunFailed, match=re.escape(f"a.parquet: column 'x' is {stored}, and the source says {declared}")
    ):
        read("a.parquet", schema={"x": declared})


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ({"k": "string", "y": "int64"}, "source 's': .*b.parquet has no column 'x'"),
        ({"k": "string", "x": "float64"}, "source 's': .*b.parquet: column 'x' is float64, and the source says int64"),
    ],
)
def test_a_file_that_differs_is_told_by_the_plan_even_where_its_column_is_not_read(tmp_path, pipeline, types, message):
    write(tmp_path / "lake/a.parquet", ("k", 1))
    write(tmp_path / "lake/b.parquet", ("k", 1), types=types)
    pipeline.read_parquet("s", "lake").select("k").stage("only_k")
    with pytest.raises(RunFailed, match=message):
        pipeline.explain()


def test_a_value_that_does_not_widen_is_told(tmp_path, read):
    write(tmp_path / "a.parquet", (2**53 + 1,), types={"x": "int64"})
    with pytest.raises(RunFailed, match=r"source 's': .*a\.parquet: column 'x': .*9007199254740993"):
        read("a.parquet", schema={"x": "float64"})


def test_a_footer_is_kept_until_its_file_is_written_anew(tmp_path, monkeypatch):
    """Files of one size, whose footers tell that all rows are left out, or none."""
    monkeypatch.setattr(footers, "SETTLED_NS", 0)
    for x in (1, 2):
        write(tmp_path / "s.parquet", ("k", x))
        first, again = (Pipeline("test", root=tmp_path) for _ in range(2))
        for pipeline in (first, again):
            pipeline.read_parquet("s", "s.parquet").filter(expr(f"x >= {x}")).stage("large")
            assert xs(pipeline.run(engine="pandas")["large"].to_arrow()) == [x]
        kept = [footers.footer_of(tmp_path / "s.parquet") for _ in range(2)]
        assert kept[0] is kept[1]


def test_footers_are_kept_up_to_a_number_of_bytes(tmp_path, monkeypatch):
    """Those that were used last: small ones are many, and one that is larger than all that is kept is read anew."""
    monkeypatch.setattr(footers, "SETTLED_NS", 0)
    paths = [tmp_path / f"{number}.parquet" for number in range(2000)]
    write(paths[0], ("k", 1))
    for path in paths[1:]:
        path.write_bytes(paths[0].read_bytes())
    size = len(footer_bytes(BytesIO(paths[0].read_bytes())))
    kept = footers.KeptFooters(1500 * size)
    monkeypatch.setattr(footers, "KEPT", kept)
    read = [footers.footer_of(path) for path in paths]
    assert kept.bytes == 1500 * size
    assert list(kept.kept) == paths[500:]
    assert [footers.footer_of(path) for path in paths[500:]] == read[500:]
    assert footers.footer_of(paths[0]) is not read[0]
    write(paths[1999], ("k", 1), ("k", 2))
    assert footers.footer_of(paths[1999]) is not read[1999]
    assert kept.bytes <= kept.most_bytes
    assert len(kept.kept) == 1500
    kept.most_bytes = 10
    assert footers.footer_of(paths[3]) is not footers.footer_of(paths[3])
    assert (kept.bytes, len(kept.kept)) == (0, 0)


def test_csv_of_one_column_is_read_back(source, pipeline, tmp_path):
    expected = table({"s": "string"}, (None,), ("",), ("a",), (None,))
    source(expected).write_csv("out", "out.csv")
    pipeline.run(engine="pandas")
    again = Pipeline("again", root=tmp_path)
    again.read_csv("s", "out.csv", {"s": "string"})
    assert_tables_equal(again.run(engine="pandas", keep=["s"])["s"].to_arrow(), expected, ordered=True)


NS = pa.timestamp("ns")


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (pa.array(["a", None]).dictionary_encode(), pa.array(["a", None])),
        (pa.array(["a", None], pa.large_string()), pa.array(["a", None])),
        (pa.array([1_000, None], NS), pa.array([1, None], pa.timestamp("us"))),
        (pa.array([1, None], pa.timestamp("s")), pa.array([1_000_000, None], pa.timestamp("us"))),
        (pa.array([1, None], pa.timestamp("ms", "UTC")), pa.array([1_000, None], pa.timestamp("us", "UTC"))),
        (pa.array([1_000_000, None], pa.duration("ns")), pa.array([1_000, None], pa.duration("us"))),
        (pa.array([86_400_000, None], pa.date64()), pa.array([1, None], pa.date32())),
    ],
)
def test_stored_forms_are_read_in_the_language_s_type(tmp_path, read, stored, expected):
    pq.write_table(pa.table({"x": stored}), tmp_path / "a.parquet")
    assert_tables_equal(read("a.parquet"), pa.table({"x": expected}))


def test_nanoseconds_that_are_no_microseconds_are_told(tmp_path, read):
    pq.write_table(pa.table({"x": pa.array([1_000, 1_001], NS)}), tmp_path / "a.parquet")
    with pytest.raises(RunFailed, match=r"source 's': .*a\.parquet: column 'x': .*lose data"):
        read("a.parquet")


@pytest.mark.parametrize(
    "stored",
    [pa.array([[[1]]]), pa.array([{"a": 1}]), pa.array([b"x"]), pa.array([1], pa.time64("us")), pa.array([None, 1], pa.int8())[1:]],
)  # fmt: skip
def test_a_column_of_any_type_of_parquet_is_read(tmp_path, read, stored):
    pq.write_table(pa.table({"x": pa.array([1]), "y": stored}), tmp_path / "a.parquet")
    assert read("a.parquet").column("y").combine_chunks().equals(stored)


@pytest.fixture
def with_a_union(tmp_path):
    """An Arrow file with a column whose type the language has not."""
    union = pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])])
    rows = pa.table({"x": [1, 2], "y": union, "z": [3, 4]})
    with pa.ipc.new_file(tmp_path / "a.arrow", rows.schema) as writer:
        writer.write_table(rows, max_chunksize=1)
    return "a.arrow"


def test_a_column_of_another_type_is_not_read_where_the_source_names_those_that_are(with_a_union, pipeline):
    pipeline.read_arrow("s", with_a_union, columns=["x"], filter=col("z") > 3)
    assert pipeline.run(engine="pandas", keep=["s"])["s"].to_arrow().to_pydict() == {"x": [2]}


def test_columns_of_a_source_with_other_types_are_the_same_from_yaml(with_a_union, pipeline):
    pipeline.read_arrow("s", with_a_union, columns=["x"], filter=col("z") > 3).limit(1).stage("first")
    again = loads(pipeline.to_yaml(), root=pipeline.root)
    assert again.fingerprint == pipeline.fingerprint
    assert again.run(engine="pandas")["first"].to_arrow().to_pydict() == {"x": [2]}


@pytest.mark.parametrize("keys", [{"columns": ["x", "y"]}, {"columns": ["x"], "filter": col("y").is_not_null()}])
def test_a_column_of_another_type_is_told_where_the_source_names_it(with_a_union, pipeline, keys):
    pipeline.read_arrow("s", with_a_union, **keys)
    with pytest.raises(InvalidPipeline, match="source 's': column 'y' has type sparse_union<0: int64=0>, which gpuetl"):
        pipeline.plan()


def test_a_path_without_a_file_says_to_check_the_path(pipeline):
    pipeline.read_parquet("s", "no.parquet")
    with pytest.raises(
        InvalidPipeline, match=r"no.parquet does not exist\n    pipeline.*\nCheck the path; relative ones start at"
    ):
        pipeline.plan()


def test_times_beyond_python_s_are_read(tmp_path, pipeline):
    values = pa.array([INT64_MIN + 1, 2**62], pa.timestamp("us"))
    pq.write_table(pa.table({"x": values, "n": pa.array([1, 2])}), tmp_path / "a.parquet")
    pipeline.read_parquet("s", "a.parquet").filter(expr("x > TIMESTAMP '2024-01-01 00:00:00'")).select("n").stage(
        "late"
    )
    assert pipeline.run(engine="pandas")["late"].to_arrow().to_pydict() == {"n": [2]}


def test_two_columns_of_one_name_are_told(tmp_path, pipeline):
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["x", "x"]), tmp_path / "a.parquet")
    pipeline.read_parquet("s", "a.parquet")
    with pytest.raises(InvalidPipeline, match="two columns named 'x'"):
        pipeline.plan()


@pytest.mark.parametrize("name", ["a.b", "a b", "é", "select", "A", "a,b"])
def test_columns_may_have_any_name(tmp_path, read, name):
    write(tmp_path / "a.parquet", (1, 2), types={"a": "int64", name: "int64"})
    assert read("a.parquet", columns=[name]).to_pydict() == {name: [2]}


def test_a_source_may_filter_and_choose_columns_itself(tmp_path, read):
    write(tmp_path / "a.parquet", ("a", 1), ("b", 2), ("c", 3))
    assert read("a.parquet", columns=["k"], filter=col("x") > 1).to_pydict() == {"k": ["b", "c"]}


def test_csv_tells_null_from_an_empty_string(read_csv):
    got = read_csv('k,x\na,1\n,\n"",2\n"quo""te, comma\nline",3\n', TYPES)
    assert_tables_equal(got, table(TYPES, ("a", 1), (None, None), ("", 2), ('quo"te, comma\nline', 3)), ordered=True)


def test_csv_may_write_null_otherwise(read_csv):
    got = read_csv('k;x\nNA;1\n"NA";NA\n;-\n', TYPES, nulls=["NA", "-"], delimiter=";")
    assert_tables_equal(got, table(TYPES, (None, 1), ("NA", None), ("", None)), ordered=True)


@pytest.mark.parametrize("schema", [{"x": "int64"}, {"x": "int64", "k": "string"}])
def test_csv_columns_are_found_by_name(read_csv, schema):
    expected = {"x": 1, "k": "a"}
    assert read_csv("k,more,x\na,?,1\n", schema).to_pylist() == [{name: expected[name] for name in schema}]


def test_a_csv_column_of_nulls_alone_keeps_its_rows(read_csv):
    assert read_csv("x\n1\n\n3\n", {"x": "int64"}).to_pydict() == {"x": [1, None, 3]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k,x\na,1.5\n", "s.csv:2: .*1.5"),
        ("k\na\n", "s.csv: .*x"),
        ("k,x\na\n", "s.csv:2: 1 field, expected 2: a\n"),
        ("", "s.csv: .*[Ee]mpty"),
    ],
)
def test_a_csv_file_that_is_not_what_its_schema_says_is_told(read_csv, text, message):
    with pytest.raises(RunFailed, match=message):
        read_csv(text, TYPES)


def test_csv_may_be_separated_by_tabs(read_csv):
    assert read_csv("k\tx\na,b\t1\n", TYPES, delimiter="\t").to_pylist() == [{"k": "a,b", "x": 1}]


def test_csv_texts_with_newlines_come_back_from_a_file_of_many_blocks(source, pipeline, tmp_path):
    expected = table(TYPES, *((f"a\nb,\n\n{'x' * 50_000}", i) for i in range(100)))
    source(expected).write_csv("out", "out.csv")
    pipeline.run(engine="pandas")
    again = Pipeline("again", root=tmp_path)
    again.read_csv("s", "out.csv", TYPES)
    assert_tables_equal(again.run(engine="pandas", keep=["s"])["s"].to_arrow(), expected, ordered=True)


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("mode", ["error", "append", "replace_partitions"])
def test_an_empty_partitioned_result_is_read_back(source, pipeline, tmp_path, form, mode):
    t = source(table(TYPES))
    (t.write_csv if form == "csv" else t.write_parquet)("out", "out", partition_by=["k"], mode=mode)
    pipeline.run(engine="pandas")
    again = Pipeline("again", root=tmp_path)
    (again.read_csv if form == "csv" else again.read_parquet)(
        "s", "out", schema={"x": "int64"}, partitions={"k": "string"}
    )
    again.table("s").filter(col("x") > 0).select("k", "x").stage("back")
    assert_tables_equal(again.run(engine="pandas")["back"].to_arrow(), table(TYPES))


def test_a_csv_source_needs_a_schema():
    pipeline = loads("gpuetl: 1\nname: rows\nsources:\n  s: {csv: s.csv}\n")
    with pytest.raises(InvalidPipeline, match="a CSV source needs a schema"):
        pipeline.plan()


ALL = {
    "b": "bool", "i": "int64", "u": "uint64", "f": "float64", "s": "string", "d": "date", "t": "timestamp",
    "z": "timestamp[UTC]",
    "m": "decimal(38,2)",
}  # fmt: skip
ALL_ROWS = [
    (
        True,
        INT64_MIN,
        2**64 - 1,
        NAN,
        "",
        date(2024, 2, 29),
        datetime(2024, 1, 1, 0, 0, 0, 1),
        datetime(1969, 12, 31),
        Decimal("1.50"),
    ),
    (None,) * 9,
    (
        False,
        0,
        0,
        -INF,
        'a"\n,é\r',
        date(1, 1, 1),
        datetime(1970, 1, 1),
        datetime(2999, 12, 31),
        Decimal("-99999999.99"),
    ),
    (
        True,
        1,
        1,
        0.1 + 0.2,
        " null ",
        date(9999, 12, 31),
        datetime(9999, 12, 31),
        datetime(2024, 1, 1),
        Decimal(0),
    ),
]


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("path", ["out", "out.{}"])
@pytest.mark.parametrize("rows", [ALL_ROWS, ALL_ROWS[1:2], []])
def test_what_is_written_is_read_back(source, pipeline, tmp_path, form, path, rows):
    expected, path = table(ALL, *rows), path.format(form)
    t = source(expected)
    (t.write_csv if form == "csv" else t.write_parquet)("out", path)
    pipeline.run(engine="pandas", options=RunOptions(partition_rows=2))
    again = Pipeline("again", root=tmp_path)
    again.read_csv("s", path, ALL) if form == "csv" else again.read_parquet("s", path)
    assert_tables_equal(again.run(engine="pandas", keep=["s"])["s"].to_arrow(), expected, ordered=True)


def test_csv_decimals_are_read_exactly(read_csv):
    got = read_csv("k,x\na,1.25\nb,\nc,-0.5\nd,1e1\n", {"k": "string", "x": "decimal(4,2)"})
    assert got.column("x").to_pylist() == [Decimal("1.25"), None, Decimal("-0.50"), Decimal("10.00")]


@pytest.mark.parametrize("text", ["1.255", "123", "x", "nan", "1e40"])
def test_csv_decimals_of_more_digits_than_the_schema_s_are_told(read_csv, text):
    with pytest.raises(RunFailed, match=rf"s.csv:3: column 'x': '{text}' is not a valid decimal\(4,2\)"):
        read_csv(f"k,x\na,1\nb,{text}\n", {"k": "string", "x": "decimal(4,2)"})


def test_csv_decimals_beyond_128_bits_do_not_wrap(read_csv):
    with pytest.raises(RunFailed, match=r"'300' is not a valid decimal\(38,38\)"):
        read_csv("x\n0.5\n300\n", {"x": "decimal(38,38)"})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('k,x\n"a,1\nb,2\n', 2), ('k,x\na,1\n"b,2', 3), ('k,x\r\n"a\nb",1\r\n"c,2\r\n', 4), ('k,x\na,1\nb,"2\nc,3\n', 3),
        ('k,x\n"a""b",1\n"c"",2\n', 3), ('k,x\na"b"c"d",1\n"c,2\n', 3), ('"k,x\na,1\n', 1), ('k,x\na,"', 2),
    ],
)  # fmt: skip
def test_a_quote_that_is_not_closed_is_told_with_its_line(read_csv, text, line):
    """The parser would take the rest of the file as one field."""
    with pytest.raises(RunFailed) as caught:
        read_csv(text, {"k": "string", "x": "string"}) if line > 1 else read_csv(text, {"k,x\na,1\n": "string"})
    message = (
        f"s.csv: the quote that opens in line {line} is not closed.  Close it; inside of a field in quotes, a quote"
    )
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('k,x\n5" pipe,1\n', ['5" pipe']), ('k,x\n"5"" pipe",1\n', ['5" pipe']), ('k,x\n"a\nb",1\n', ["a\nb"]),
        ('k,x\n"",1\n', [""]), ('k,x\n"a,""b""",1\n7",2\n', ['a,"b"', '7"']), ('\ufeff"k",x\na",1\n', ['a"']),
    ],
)  # fmt: skip
def test_quotes_that_are_closed_or_stand_inside_of_a_field_are_read(read_csv, text, values):
    assert read_csv(text, {"k": "string", "x": "string"}).column("k").to_pylist() == values


@pytest.mark.parametrize("delimiter", ["|", ";", "\t", "^"])
def test_a_quote_opens_after_the_source_s_own_delimiter(read_csv, delimiter):
    with pytest.raises(RunFailed, match="the quote that opens in line 2 is not closed"):
        read_csv(f'k{delimiter}x\na{delimiter}"b\n', {"k": "string", "x": "string"}, delimiter=delimiter)

"""Structs, maps and lists of structs in expressions and steps: fields, values of keys, elements, unnest and explode."""

import pyarrow as pa
import pytest

from gpuetl import InvalidExpression, InvalidPipeline, RunFailed, col, count, expr, lit, loads, struct
from gpuetl.testing import assert_tables_equal
from tables import table

POINT = pa.struct([("x", pa.int64()), ("name", pa.string())])
TYPES = {
    "k": "int64",
    "p": "struct<x: int64, name: string>",
    "deep": "struct<p: struct<x: int64, name: string>, tags: list<string>>",
    "points": "list<struct<x: int64, name: string>>",
    "m": "map<string, int64>",
    "places": "map<int64, struct<x: int64, name: string>>",
}
ROWS = [
    (1, {"x": 10, "name": "a"}, {"p": {"x": 1, "name": "q"}, "tags": ["t", None]}, [{"x": 1, "name": "one"}, None],
     [("a", 1), ("b", None)], [(7, {"x": 70, "name": "seven"})]),
    (2, None, None, None, None, None),
    (3, {"x": None, "name": ""}, {"p": None, "tags": []}, [], [], []),
    (None, {"x": -4, "name": None}, {"p": {"x": None, "name": None}, "tags": None}, [{"x": None, "name": "two"}],
     [("b", 2), ("a", 3)], [(8, None), (7, {"x": 71, "name": None})]),
    (5, {"x": 10, "name": "e"}, {"p": {"x": 5, "name": "r"}, "tags": ["u"]}, [None, {"x": 2, "name": "x"}, {"x": 3, "name": "y"}],
     [("c", 5)], [(7, None)]),
]  # fmt: skip


@pytest.fixture
def t(source):
    """Five rows with structs, lists of structs and maps, some of them null, empty, or with nulls inside."""
    return source(table(TYPES, *ROWS))


def column(dtype, *values):
    return table({"out": dtype}, *((value,) for value in values))


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("sql", "dtype", "values"),
    [
        ("p.x", "int64", [10, None, None, -4, 10]),
        ("p.name", "string", ["a", None, "", None, "e"]),
        ("deep.p.x + k", "int64", [2, None, None, None, 10]),
        ("deep.tags[1]", "string", ["t", None, None, None, "u"]),
        ("p['x'] * 2", "int64", [20, None, None, -8, 20]),
        ("deep.p", "struct<x: int64, name: string>",
         [{"x": 1, "name": "q"}, None, None, {"x": None, "name": None}, {"x": 5, "name": "r"}]),
        ("p IS NULL", "bool", [False, True, False, False, False]),
        ("deep.p IS NULL", "bool", [False, True, True, False, False]),
        ("points[1].name", "string", ["one", None, None, "two", None]),
        ("points[-1]", "struct<x: int64, name: string>", [None, None, None, {"x": None, "name": "two"}, {"x": 3, "name": "y"}]),
        ("points[k - 2].x", "int64", [None, None, None, None, 3]),
        ("list_get(points, 1).x", "int64", [None, None, None, None, 2]),
        ("list_length(points)", "int64", [2, None, 0, 1, 3]),
        ("m['a']", "int64", [1, None, None, 3, None]),
        ("m['b'] IS NULL", "bool", [True, True, True, False, True]),
        ("m['nowhere']", "int64", [None] * 5),
        ("map_keys(m)", "list<string>", [["a", "b"], None, [], ["b", "a"], ["c"]]),
        ("map_values(m)", "list<int64>", [[1, None], None, [], [2, 3], [5]]),
        ("cardinality(m)", "int64", [2, None, 0, 2, 1]),
        ("places[7].name", "string", ["seven", None, None, None, None]),
        ("map_get(places, k + 6).x", "int64", [70, None, None, None, None]),
        ("map_values(places)", "list<struct<x: int64, name: string>>",
         [[{"x": 70, "name": "seven"}], None, [], [None, {"x": 71, "name": None}], [None]]),
        ("struct_pack(a := p.x, b := k).a", "int64", [10, None, None, -4, 10]),
        ("struct(k, p.name AS \"first name\")", 'struct<k: int64, "first name": string>',
         [{"k": k, "first name": n} for k, n in ((1, "a"), (2, None), (3, ""), (None, None), (5, "e"))]),
        ("CASE WHEN k < 3 THEN p ELSE deep.p END", "struct<x: int64, name: string>",
         [{"x": 10, "name": "a"}, None, None, {"x": None, "name": None}, {"x": 5, "name": "r"}]),
        ("CASE WHEN k = 1 THEN p.name ELSE 'z' || deep.p.name END", "string", ["a", None, None, None, "zr"]),
        ("coalesce(p, struct_pack(x := k, name := 'none')).name", "string", ["a", "none", "", None, "e"]),
        ("p.x = 10 AND p.name LIKE 'a%'", "bool", [True, None, False, False, False]),
    ],
)  # fmt: skip
def test_parts_of_nested_values(t, check, sql, dtype, values):
    check(t.select(out=expr(sql)), column(dtype, *values), ordered=True)


def test_expressions_in_python_are_those_of_sql(t, check):
    check(t.select(out=col("p").field("x")), column("int64", 10, None, None, -4, 10))
    check(t.select(out=col("m")["a"]), column("int64", 1, None, None, 3, None))
    check(t.select(out=col("points").list_extract(1)["name"]), column("string", "one", None, None, "two", None))
    packed = struct(a=col("k"), b=col("p")["name"]).field("b")
    check(t.select(out=packed), column("string", "a", None, "", None, "e"))
    with pytest.raises(TypeError, match="list_get"):
        col("points")[0]


def test_a_filter_by_a_field(t, check):
    check(t.filter(expr("p.x = 10 AND m['a'] IS NULL")).select("k"), table({"k": "int64"}, (5,)))


def test_unnest_puts_the_fields_in_the_place_of_the_struct(t, check):
    unnested = table({"k": "int64", "x": "int64", "name": "string"},
                     (1, 10, "a"), (2, None, None), (3, None, ""), (None, -4, None), (5, 10, "e"))  # fmt: skip
    check(t.select("k", "p").unnest("p"), unnested)
    check(
        t.select("p", "k").unnest("p", prefix="p_"), unnested.rename_columns(["k", "p_x", "p_name"]).select([1, 2, 0])
    )


def test_select_takes_all_fields_of_a_struct(t, check):
    fields = table({"x": "int64", "name": "string", "k": "int64"},
                   (10, "a", 1), (None, None, 2), (None, "", 3), (-4, None, None), (10, "e", 5))  # fmt: skip
    check(t.select("p.*", "k"), fields)
    inner = table({"k": "int64", "x": "int64", "name": "string"},
                  (1, 1, "q"), (2, None, None), (3, None, None), (None, None, None), (5, 5, "r"))  # fmt: skip
    check(t.select("k", "deep.p.*"), inner)


def test_a_column_whose_name_ends_with_a_star_is_itself(t, check):
    named = t.select("k", **{"p.*": expr("k + 1")})
    expected = table({"k": "int64", "p.*": "int64"}, (1, 2), (2, 3), (3, 4), (None, None), (5, 6))
    check(named.select("p.*", "k").select("k", "p.*"), expected)


def test_a_map_gives_a_row_for_each_key(t, check):
    rows = [(1, "a", 1), (1, "b", None), (None, "b", 2), (None, "a", 3), (5, "c", 5)]
    types = {"k": "int64", "key": "string", "value": "int64"}
    check(t.select("k", "m").explode("m", keep_empty=False), table(types, *rows))
    check(t.select("k", "m").explode("m"), table(types, *rows, (2, None, None), (3, None, None)))


def test_keys_of_maps_have_a_prefix_and_an_index(t, check):
    exploded = t.select("places", "k").explode("places", keep_empty=False, index="i", prefix="p_")
    types = {"p_key": "int64", "k": "int64", "i": "int64", "x": "int64"}
    expected = table(types, (7, 1, 0, 70), (8, None, 0, None), (7, None, 1, 71), (7, 5, 0, None))
    check(exploded.select("p_key", "k", "i", x=expr("p_value.x")), expected)


def test_explode_of_structs_and_unnest(t, check):
    exploded = t.select("k", "points").explode("points", keep_empty=False, index="i").unnest("points")
    check(exploded, table({"k": "int64", "x": "int64", "name": "string", "i": "int64"},
                          (1, 1, "one", 0), (1, None, None, 1), (None, None, "two", 0), (5, None, None, 0), (5, 2, "x", 1),
                          (5, 3, "y", 2)))  # fmt: skip


def test_fields_are_keys_of_groups_joins_and_orders(t, check):
    by_x = t.with_columns(x=expr("p.x"), name=expr("p.name"))
    grouped = by_x.aggregate(by="x", n=expr("count(*)"), last=expr("max(name)"))
    check(grouped, table({"x": "int64", "n": "int64", "last": "string"}, (10, 2, "e"), (None, 2, ""), (-4, 1, None)))
    check(by_x.sort("x desc", "name").select("k"), table({"k": "int64"}, (1,), (5,), (None,), (3,), (2,)), ordered=True)


def test_no_rows(t, check):
    none = t.filter(expr("k > 100")).select(
        x=expr("p.x"), l=expr("points[1]"), v=expr("m['a']"), s=expr("struct(k, p)")
    )
    check(none, table({"x": "int64", "l": TYPES["p"], "v": "int64", "s": f"struct<k: int64, p: {TYPES['p']}>"}))


def test_a_schema_names_nested_types(pipeline, source, check):
    source(table(TYPES, *ROWS))
    t = pipeline.read_parquet("u", "t.parquet", schema={"p": TYPES["p"], "m": TYPES["m"]})
    check(t, table({"p": TYPES["p"], "m": TYPES["m"]}, *((row[1], row[4]) for row in ROWS)))


def test_a_pipeline_in_yaml(source, pipeline, tmp_path, local_engine):
    source(table(TYPES, *ROWS))
    text = """\
gpuetl: 1
name: shops
sources:
  t: {parquet: t.parquet}
stages:
  named:
    from: t
    steps:
      - filter: p.x > 0
      - with_columns: {here: "struct_pack(x := p.x, tag := deep.tags[1])"}
      - select: [k, here]
      - unnest: {column: here, prefix: here_}
"""
    got = loads(text, root=tmp_path).run(engine=local_engine, keep=["named"])["named"].to_arrow()
    assert_tables_equal(got, table({"k": "int64", "here_x": "int64", "here_tag": "string"}, (1, 10, "t"), (5, 10, "u")))
    again = loads(loads(text, root=tmp_path).to_yaml(), root=tmp_path)
    assert_tables_equal(again.run(engine=local_engine, keep=["named"])["named"].to_arrow(), got)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (lambda t: t.select(out=expr("p.y")), "struct_extract finds no field 'y' in struct<x: int64, name: string>"),
        (lambda t: t.select(out=expr("k.x")), "struct_extract takes a field of a struct, got int64"),
        (lambda t: t.select(out=expr("m.a")), "Write ['a'] after the column for the value of a key."),
        (lambda t: t.select(out=expr("points.x")), "Write [1].x after the column for the first element"),
        (lambda t: t.filter(expr("p = m")), "cannot compare struct<x: int64, name: string> and map<string, int64>"),
        (lambda t: t.filter(expr("p = struct(k)")), "Structs that are compared have fields of the same names"),
        (lambda t: t.select(out=expr("upper(m)")), "upper does not take maps"),
        (lambda t: t.select(out=expr("m[1]")), "map_get cannot compare string and int64"),
        (lambda t: t.pivot("p", count(), ["a"], by="k"), "'p' is struct<x: int64, name: string>, and structs are no keys"),
        (lambda t: t.aggregate(x=expr("histogram(p)")), "histogram does not take structs"),
        (lambda t: t.select(out=expr("struct_pack(k)")).select(x=expr("out.z")), "no field 'z' in struct<k: int64>"),
        (lambda t: t.select(out=expr("struct(k, k)")), "struct_pack has two fields named 'k'"),
        (lambda t: t.unnest("k"), "unnest takes a struct, and 'k' is int64"),
        (lambda t: t.select("k.*"), "'k.*' takes a struct, and 'k' is int64"),
        (lambda t: t.select("p.x.*"), "'p.x.*' takes a struct, and 'p.x' is int64"),
        (lambda t: t.select("p.z.*"), "'p.z.*' takes a struct, and there is no 'p.z'"),
        (lambda t: t.select("q.*"), "unknown column 'q'"),
        (lambda t: t.select("p.*", "deep.p.*"), "select gives two columns the name 'x'"),
        (lambda t: t.with_columns(key=lit("k")).explode("m"), "explode gives two columns the name 'key'"),
        (lambda t: t.explode("p"), "explode takes a list or a map, and 'p' is struct<x: int64, name: string>"),
        (lambda t: t.explode("points", prefix="p_"), "prefix is for a map, and 'points' is list<"),
        (lambda t: t.select("p", x=lit("k")).unnest("p"), "unnest gives two columns the name 'x'"),
        (lambda t: t.select(out=expr("CAST(p AS string)")), "cannot cast struct<x: int64, name: string> to string"),
        (lambda t: t.select(out=expr("CASE WHEN k = 1 THEN p ELSE m END")), "cannot mix"),
        (lambda t: t.window(order_by="k", x=expr("lag(p)")), "lag does not take structs"),
    ],
)  # fmt: skip
def test_what_nested_values_are_not_taken_for(t, problem, steps, message):
    assert message in problem(steps(t))


def test_fields_of_a_struct_need_names():
    with pytest.raises(InvalidExpression, match=r"the field of 'k \+ 1' has no name"):
        expr("struct(k + 1)")


def test_a_sink_of_csv_is_refused_before_a_row_is_read(t):
    t.write_csv("out", "out.csv")
    with pytest.raises(
        InvalidPipeline, match=r"a CSV file cannot hold struct<x: int64, name: string>, the type of .p."
    ):
        t.pipeline.plan()


def test_files_with_other_fields_are_refused(source, pipeline, tmp_path, local_engine):
    (tmp_path / "d").mkdir()
    import pyarrow.parquet as pq

    pq.write_table(table({"p": "struct<x: int64>"}, ({"x": 1},)), tmp_path / "d" / "a.parquet")
    pq.write_table(table({"p": "struct<y: int64>"}, ({"y": 1},)), tmp_path / "d" / "b.parquet")
    pipeline.read_parquet("t", "d").stage("s")
    with pytest.raises(
        (InvalidPipeline, RunFailed), match="column 'p' is struct<y: int64>, and the source says struct<x"
    ):
        pipeline.run(engine=local_engine, keep=["s"])

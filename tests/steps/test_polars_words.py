"""Words of Polars: the same text gives the same rows in Polars and on every engine, and the plan of the steps in YAML."""

import polars
import polars.selectors
import pytest

import gpuetl
import gpuetl.selectors
from gpuetl import InvalidExpression, InvalidPipeline, col, count, lit, row_number, when
from tables import table

TYPES = {"k": "string", "i": "int64", "x": "float64", "s": "string"}
ROWS = [
    ("a", 1, 1.5, "u"),
    ("b", 2, None, "v"),
    ("a", 3, 4.0, None),
    (None, 4, 2.0, "u"),
    ("b", 5, 0.5, "w"),
    (None, 6, None, "u"),
]
SHARES = [("a", 10), ("b", 20), ("c", 30), (None, 40)]


@pytest.fixture
def t(source):
    return source(table(TYPES, *ROWS))


@pytest.fixture
def other(source):
    return source(table({"key": "string", "n": "int64"}, *SHARES), "other")


def polars_rows(frame):
    return sorted(map(repr, frame.rows())), frame.columns


def rows_of(result):
    return sorted(repr(tuple(row.values())) for row in result.to_pylist()), result.column_names


WORDS = {
    "with_columns by place": lambda t, p, cs: t.with_columns((p.col("i") * 2).alias("j"), p.col("x").is_null().alias("n")),
    "with_columns in a list": lambda t, p, cs: t.with_columns([(p.col("i") + 1).alias("i"), p.col("s").alias("r")]),
    "with_columns and keywords": lambda t, p, cs: t.with_columns(p.col("s").alias("r"), j=p.col("i") - 1),
    "select by place": lambda t, p, cs: t.select("k", p.col("i"), (p.col("x") / 2).alias("h"), j=p.col("i") * 3),
    "filter by several": lambda t, p, cs: t.filter(p.col("i") > 1, p.col("x") > 1),
    "group_by and agg": lambda t, p, cs: t.group_by("k").agg(p.col("i").sum().alias("i"), p.col("x").mean().alias("m")),
    "group_by two": lambda t, p, cs: t.group_by(["k", "s"]).agg(n=p.col("x").count()),
    "min, max, var": lambda t, p, cs: t.group_by("k").agg(a=p.col("i").min(), b=p.col("i").max(), v=p.col("i").var()),
    "is_between": lambda t, p, cs: t.select(a=p.col("i").is_between(2, 4), b=p.col("x").is_between(0.5, 2.0, closed="right")),
    "is_between none": lambda t, p, cs: t.select(a=p.col("i").is_between(2, 4, closed="none"), b=p.col("i").is_between(2, 4, "left")),
    "when, then, otherwise": lambda t, p, cs: t.select(w=p.when(p.col("i") > 3).then(2).when(p.col("i") > 1).then(1).otherwise(0)),
    "when without otherwise": lambda t, p, cs: t.select(p.when(p.col("i") > 3).then(p.col("x")).alias("w")),
    "over": lambda t, p, cs: t.with_columns(p.col("x").sum().over("k").alias("total"), n=p.col("x").count().over("k")),
    "over in an expression": lambda t, p, cs: t.select("i", r=p.col("i") - p.col("i").min().over("k"), x="x"
                                                       if p is polars else p.col("x")),
    "over two keys": lambda t, p, cs: t.with_columns(m=p.col("i").max().over("k", "s"), n=p.col("i").max().over("s")),
    "over replaces": lambda t, p, cs: t.with_columns(p.col("i").max().over("k").alias("i"), (p.col("i") * 2).alias("j")),
    "cumulative over": lambda t, p, cs: t.with_columns(c=p.col("x").cum_sum().over("k", order_by="i")),
    "two windows over": lambda t, p, cs: t.with_columns(
        a=p.col("i").cum_sum().over("k", order_by="i"), b=p.col("i").diff().over("s", order_by="i"), c=p.col("i") + 1
    ),
    "window functions and aggregates over": lambda t, p, cs: t.with_columns(
        d=(p.col("x").cum_sum() / p.col("x").sum()).over("k", order_by="i")
    ),
    "filter over": lambda t, p, cs: t.filter(p.col("i") == p.col("i").max().over("k")),
    "pipe": lambda t, p, cs: t.pipe(lambda t, n, m: t.with_columns(j=p.col("i") * n + m), 2, m=1),
    "selectors": lambda t, p, cs: t.select(cs.numeric()),
    "selectors combined": lambda t, p, cs: t.select(cs.string() | cs.by_name("i"), cs.float()),
    "selectors less": lambda t, p, cs: t.select(cs.all() - cs.starts_with("k")),
    "selectors inverted": lambda t, p, cs: t.drop(~cs.numeric()),
    "functions of selectors": lambda t, p, cs: t.with_columns(cs.numeric() * 2, cs.string().is_null()),
    "fill_null of a selector": lambda t, p, cs: t.with_columns(cs.matches("^[kx]$").is_null(), cs.integer().cast(
        polars.Float64 if p is polars else "float64")),
    "is_in, is_nan": lambda t, p, cs: t.select(a=p.col("i").is_in([1, 2]), b=p.col("x").is_nan(), c=p.col("s").is_not_null()),
    "fill_null": lambda t, p, cs: t.select(a=p.col("x").fill_null(0.0), b=p.col("s").fill_null("-")),
}  # fmt: skip


@pytest.mark.part(3)
@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_the_same_text_gives_the_rows_of_polars(t, answer, words):
    frame = polars.DataFrame(dict(zip(TYPES, map(list, zip(*ROWS, strict=True)), strict=True)))
    expected = polars_rows(words(frame, polars, polars.selectors))
    assert rows_of(answer(words(t, gpuetl, gpuetl.selectors))) == expected


@pytest.mark.part(2)
@pytest.mark.parametrize("how", ["inner", "left", "semi", "anti"])
def test_left_on_and_right_on_give_the_rows_of_polars(t, other, answer, how):
    frame = polars.DataFrame(dict(zip(TYPES, map(list, zip(*ROWS, strict=True)), strict=True)))
    shares = polars.DataFrame({"key": [k for k, _ in SHARES], "n": [n for _, n in SHARES]})
    expected = polars_rows(frame.join(shares, left_on="k", right_on="key", how=how))
    assert rows_of(answer(t.join(other, left_on="k", right_on="key", how=how))) == expected


@pytest.mark.parametrize(
    ("words", "steps"),
    [
        (lambda t: t.with_columns((col("i") + 1).alias("j")), lambda t: t.with_columns(j=col("i") + 1)),
        (lambda t: t.select("k", col("i").alias("j")), lambda t: t.select(k=col("k"), j=col("i"))),
        (lambda t: t.filter(col("i") > 1, col("x") > 1), lambda t: t.filter((col("i") > 1) & (col("x") > 1))),
        (
            lambda t: t.group_by("k").agg(col("x").sum().alias("s"), n=count()),
            lambda t: t.aggregate("k", s=col("x").sum(), n=count()),
        ),
        (
            lambda t: t.group_by("k").agg(col("x").first().alias("f"), order_by="i desc"),
            lambda t: t.aggregate("k", order_by="i desc", f=col("x").first()),
        ),
        (
            lambda t: t.with_columns(row_number().over("k", order_by="i desc").alias("n"), c=col("x").cum_sum().over("k", order_by="i desc")),
            lambda t: t.window("k", "i desc", n=row_number(), c=col("x").cum_sum()),
        ),
        (lambda t: t.join(t, left_on=["k", "i"], right_on=["k", "i"], how="semi"), lambda t: t.join(t, ["k", "i"], "semi")),
        (lambda t: t.select(gpuetl.selectors.string()), lambda t: t.select("k", "s")),
        (
            lambda t: t.with_columns(when(col("i") > 1).then(lit("a")).otherwise(lit("b")).alias("w")),
            lambda t: t.with_columns(w=when(col("i") > 1, "a").otherwise("b")),
        ),
        (lambda t: t.pipe(lambda t, n: t.limit(n), 2), lambda t: t.limit(2)),
    ],
)  # fmt: skip
def test_words_of_polars_are_steps_of_the_language(t, words, steps):
    assert words(t).steps == steps(t).steps


def test_a_pipeline_in_the_words_of_polars_is_written_as_yaml(t, answer):
    result = t.with_columns(share=col("x") / col("x").sum().over("k")).stage("shares")
    again = gpuetl.loads(t.pipeline.to_yaml().replace("sources: {}", "sources: {t: {parquet: t.parquet}}"))
    assert [step.verb for step in again.spec.stages["shares"].steps] == ["window", "with_columns", "drop"]
    assert result.origin == "shares"


def test_first_over_a_group_is_that_of_an_order(t, answer):
    result = answer(t.select("i", f=col("x").first().over("k", order_by="i")))
    assert sorted(map(tuple, (row.values() for row in result.to_pylist()))) == [
        (1, 1.5), (2, None), (3, 1.5), (4, 2.0), (5, None), (6, 2.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.sort("i", descending=True), "sort: unknown key 'descending'"),
        (lambda t: t.with_columns(n=col("i").len()), "Write count() for the number of rows"),
        (lambda t: t.with_columns(n=col("i").n_unique()), "Write count(DISTINCT x)."),
        (lambda t: t.with_columns(col("i") * 2), "with_columns: the expression i * 2 has no name"),
        (lambda t: t.with_columns(j=(col("i") * 2).alias("j") + 1), "unsupported operand"),
        (lambda t: t.with_columns(j=col("i").alias("k")), "the name 'k' cannot stand inside an expression"),
        (lambda t: t.with_columns(col("i"), i=col("x")), "with_columns: 'i' is named twice"),
        (lambda t: t.with_columns("i"), "takes an expression, got str 'i'"),
        (lambda t: t.group_by("k").sum("x"), "a group has no method 'sum'"),
        (lambda t: t.join(t, "k", left_on="k", right_on="k"), "on is 'k'"),
        (lambda t: t.join(t, left_on=["k", "i"], right_on="k"), "left_on has 2 and right_on 1 columns"),
        (lambda t: t.with_columns(s=col("x").sum().over("k", order_by="i")), "sum over a group takes no order_by"),
        (lambda t: t.with_columns(s=(col("x") + 1).over("k")), "over takes aggregates or window functions, got neither"),
        (lambda t: t.with_columns(w=when(col("i") > 1).then("a")), "then got the string 'a'"),
        (lambda t: t.with_columns(w=when(col("i") > 1).then(1).otherwise("a")), "otherwise got the string 'a'"),
        (lambda t: t.with_columns(w=col("s").is_between("a", "b")), "is_between got the string 'a'"),
        (lambda t: t.aggregate(n=count("x")), "count got the string 'x'"),
        (lambda t: t.select(gpuetl.selectors.boolean()), "boolean() selects no column"),
        (lambda t: t.with_columns(gpuetl.selectors.float() + gpuetl.selectors.numeric()), "an expression has one selector"),
    ],
)  # fmt: skip
def test_what_means_something_else_in_polars_is_an_error(t, call, message):
    with pytest.raises((InvalidPipeline, InvalidExpression, TypeError, AttributeError)) as caught:
        call(t)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("over", "message"),
    [
        (row_number().over("k", order_by="i"), "over adds a column 'over_1', and the table has one of this name"),
        (col("i").sum().over("k"), "over adds a column 'over_1', and the table has one of this name"),
    ],
)
def test_a_column_that_over_would_replace_is_an_error(t, over, message):
    """The columns that it adds are dropped again."""
    t.with_columns(over_1=col("i")).filter(over > 1).stage("s")
    with pytest.raises(InvalidPipeline, match=message):
        t.pipeline.plan()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.aggregate("k", n=col("x").sum().over("k")), "over cannot stand here"),
        (lambda t: t.filter(gpuetl.selectors.numeric() > 1), "numeric() cannot stand here"),
    ],
)
def test_over_and_selectors_in_other_places_are_refused(t, call, message):
    call(t).stage("s")
    with pytest.raises(InvalidPipeline, match=message.replace("(", r"\(").replace(")", r"\)")):
        t.pipeline.plan()

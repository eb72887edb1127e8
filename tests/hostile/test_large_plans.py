"""Plans and expressions of a size that nobody writes and a program may make."""

import time
from functools import reduce

import pytest

import gpuetl as ge
from gpuetl import InvalidExpression, InvalidPipeline, Pipeline, col
from gpuetl.expressions.expression import apply
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.syntax import MAX_OPERATORS
from gpuetl.expressions.unparse import to_sql
from gpuetl.spec.document import plain_node
from gpuetl.spec.forms import read_names
from gpuetl.spec.values import BadValue
from tables import table, write_source

HEAD = "gpuetl: 1\nname: p\nsources:\n  t: {parquet: t.parquet}\nstages:\n"


def chain(count, step):
    """Return the text of stages that each read the next one, the last one first."""
    lines = [f"  s{i}: {{from: s{i - 1}, steps: [{step}]}}" for i in range(count, 0, -1)]
    return HEAD + "\n".join(lines) + "\n  s0: {from: t, steps: []}\n"


def test_three_thousand_stages_in_reverse_order_are_bound_and_run(tmp_path):
    write_source(Pipeline("p", root=tmp_path), "t", table({"x": "int64"}, (1,), (2,)))
    pipeline = ge.loads(chain(3_000, "limit: 5"), root=tmp_path)
    assert len(pipeline.plan().stages) == 3_001
    assert pipeline.run(keep=["s3000"])["s3000"].to_arrow().num_rows == 2


def test_six_hundred_joins_in_reverse_order_are_bound(tmp_path):
    write_source(Pipeline("p", root=tmp_path), "t", table({"x": "int64"}, (1,)))
    joins = [f"  s{i}: {{from: t, steps: [join: {{with: s{i - 1}, on: x}}]}}" for i in range(600, 0, -1)]
    text = HEAD + "\n".join(joins) + "\n  s0: {from: t, steps: []}\n"
    assert len(ge.loads(text, root=tmp_path).plan().stages) == 601


def test_a_circle_of_three_thousand_stages_is_reported_shortly(tmp_path):
    write_source(Pipeline("p", root=tmp_path), "t", table({"x": "int64"}, (1,)))
    text = chain(3_000, "limit: 5").replace("s0: {from: t", "s0: {from: s3000")
    with pytest.raises(InvalidPipeline) as caught:
        ge.loads(text, root=tmp_path).plan()
    (problem,) = caught.value.problems
    assert problem.message == (
        "the stages go in a circle: s3000 → s2999 → s2998 → s2997 → s2996 → s2995 → … → s4 → s3 → s2 → s1 → s0 → s3000"
    )


def test_two_circles_are_both_reported():
    text = (
        "gpuetl: 1\nname: p\nstages:\n  a: {from: b, steps: []}\n  b: {from: a, steps: []}\n  c: {from: c, steps: []}\n"
    )
    with pytest.raises(InvalidPipeline) as caught:
        ge.loads(text).plan()
    assert [p.message.partition(": ")[2] for p in caught.value.problems] == ["a → b → a", "c → c"]


def sums(count):
    return reduce(lambda total, i: total + i, range(count), col("x"))


def nots(count):
    return reduce(lambda value, _: ~value, range(count), col("x") > 1)


@pytest.mark.part(2)
@pytest.mark.parametrize("make", [sums, nots])
@pytest.mark.parametrize("count", [400, 100_000])
def test_python_refuses_chains_that_text_may_not_hold(source, problem, make, count):
    text = problem(source(table({"x": "int64"}, (1,))).with_columns(y=make(count)))
    assert f"step 1: more than {MAX_OPERATORS} operators build on each other" in text
    assert "Split the expression into columns, or use IN." in text


def test_a_chain_too_long_is_not_written_as_yaml_either(source, pipeline):
    source(table({"x": "int64"}, (1,))).with_columns(y=sums(400)).stage("s")
    with pytest.raises(InvalidExpression, match="operators build on each other"):
        pipeline.to_yaml()


def test_the_longest_chain_that_python_takes_is_computed_and_read_back(source, check):
    longest = MAX_OPERATORS - 2
    steps = source(table({"x": "int64"}, (1,))).select(y=sums(longest))
    check(steps, table({"y": "int64"}, (1 + sum(range(longest)),)))
    assert parse_expression(to_sql(sums(longest).syntax)) == sums(longest).syntax


def conditions(count):
    return [col("x") > number for number in range(count)]


def leaning_left(count):
    return reduce(lambda whole, part: whole & part, conditions(count))


def leaning_right(count):
    return reduce(lambda whole, part: part | whole, conditions(count))


def applied(count):
    return apply("and", *conditions(count))


@pytest.mark.parametrize("make", [leaning_left, leaning_right, applied])
@pytest.mark.parametrize("count", [2, 3, 33, MAX_OPERATORS - 3])
def test_chains_of_conditions_are_written_and_read_back(source, pipeline, make, count):
    """However Python nested them."""
    source(table({"x": "int64"}, (1,))).filter(make(count)).stage("s")
    again = ge.loads(pipeline.to_yaml(), root=pipeline.root)
    assert again.fingerprint == pipeline.fingerprint
    assert again.to_yaml() == pipeline.to_yaml()


@pytest.mark.parametrize("make", [leaning_left, leaning_right, applied])
def test_chains_of_conditions_that_are_too_long_are_refused(source, problem, make):
    assert "operators build on each other" in problem(source(table({"x": "int64"}, (1,))).filter(make(300)))


@pytest.mark.parametrize("count", [0, 1])
def test_and_takes_two_conditions_at_least(source, problem, count):
    assert f"AND got {count} argument" in problem(source(table({"x": "int64"}, (1,))).filter(applied(count)))


def test_brackets_that_could_not_be_read_back_are_not_written(source, pipeline):
    """`a + (b + (c + …))` is another sum than `a + b + c + …`: its brackets stay, and text may hold so many."""
    inside_out = reduce(lambda total, i: i + total, range(100), col("x"))
    steps = source(table({"x": "int64"}, (1,))).select(y=inside_out).stage("s")
    assert steps.pipeline.run()["s"].to_arrow().to_pydict() == {"y": [4951]}
    with pytest.raises(InvalidExpression, match="parentheses nest deeper than 32"):
        pipeline.to_yaml()


def test_an_expression_longer_than_text_may_be_is_not_written(source, pipeline):
    """A file that holds it could not be loaded."""
    source(table({"x": "int64"}, (1,))).filter(col("x").is_in(range(10_000))).stage("s")
    with pytest.raises(InvalidExpression, match="20,000 are allowed"):
        pipeline.to_yaml()


def test_parts_that_are_shared_are_looked_at_once(source, problem):
    doubled = reduce(lambda value, _: value + value, range(100_000), col("x"))
    assert "operators build on each other" in problem(source(table({"x": "int64"}, (1,))).filter(doubled > 0))


def test_a_thousand_steps_run_in_partitions(pipeline):
    """Where rows of equal keys are, and how many values a key has, is asked of no thousand steps in a row."""
    rows = write_source(pipeline, "t", table({"x": "int64"}, *((i,) for i in range(4))))
    for _ in range(500):
        rows = rows.with_columns(x=col("x") + 1).filter(col("x") > 0)
    rows.aggregate("x", n=ge.expr("count(*)")).stage("counts")
    options = ge.RunOptions(partition_rows=2, optimize=False)
    counts = pipeline.run(engine="pandas", keep=["counts"], options=options)["counts"].to_arrow()
    assert counts.sort_by("x").to_pydict() == {"x": [500, 501, 502, 503], "n": [1] * 4}


def test_a_list_of_fifty_thousand_names_is_checked_in_one_pass():
    """Names were compared with all before them, which took half a minute and no function call."""
    names = [f"c{i}" for i in range(50_000)]
    start = time.process_time()
    assert read_names(plain_node(names)) == tuple(names)
    assert time.process_time() - start < 5
    with pytest.raises(BadValue, match="'c7' is named twice"):
        read_names(plain_node([*names, "c7"]))

"""What objects show of themselves in a notebook."""

from html.parser import HTMLParser

import pyarrow as pa
import pytest

from gpuetl import ContractBroken, Pipeline, col, count, expr, lit, result_cache

ROWS = pa.table({"a": [1, 2, None], "s": ["<b>", None, "z"]})


class Text(HTMLParser):
    """The text of a page, without its style, and the tags that stand open at its end."""

    def __init__(self):
        super().__init__()
        self.parts, self.open = [], []

    def handle_starttag(self, tag, attrs):
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] not in ("style", "title"):
            self.parts.append(data)


def text_of(page):
    parser = Text()
    parser.feed(page)
    assert parser.open == []
    assert "<script" not in page
    return " ".join(" ".join(parser.parts).split())


@pytest.fixture(autouse=True)
def nothing_kept():
    result_cache.clear()
    yield
    result_cache.clear()


@pytest.fixture
def t(pipeline):
    return pipeline.from_frame("t", ROWS)


def test_a_table_shows_its_steps_and_columns_and_computes_nothing(t):
    text = text_of(t.filter(col("a") > 1)._repr_html_())
    assert "t filter a > 1 column type a int64 s string No rows are computed yet" in text
    assert len(result_cache) == 0


def test_a_table_shows_rows_that_are_kept(t):
    big = t.filter(col("a") > 0)
    big.head(1)
    assert "The first rows, which are kept: a int64 s string 1 <b> (1 row)" in text_of(big._repr_html_())
    big.collect()
    assert "1 <b> 2 null (2 rows)" in text_of(big._repr_html_())


def test_a_table_that_is_wrong_shows_the_error(t):
    assert "unknown column 'zz'" in text_of(t.filter(expr("zz > 1"))._repr_html_())


def test_a_table_that_needs_parameters_shows_its_columns(t):
    least = t.pipeline.param("least", "int64", required=True)
    assert "column type a int64" in text_of(t.filter(col("a") > least)._repr_html_())


def test_a_result_shows_rows_with_types(t):
    assert text_of(t.collect()._repr_html_()) == "a int64 s string 1 <b> 2 null null z (3 rows)"


def test_a_long_and_wide_result_is_cut(pipeline):
    wide = pa.table({f"c{number}": range(200) for number in range(50)})
    text = text_of(pipeline.from_frame("t", wide).collect()._repr_html_())
    assert text.endswith("(10 of 200 rows, 10 more columns)")


def test_a_pipeline_shows_its_graph(t, pipeline):
    t.filter(col("a") > 1).stage("big").write_parquet("out", "out.parquet")
    text = text_of(pipeline._repr_html_())
    for part in ("frame in memory, 3 rows", "1 filter a > 1", "out.parquet", "Kept rows: 0 B of 1.0 GB in 0 results."):
        assert part in text


def test_a_pipeline_that_is_wrong_shows_what_there_is_and_the_error(t, pipeline):
    t.filter(expr("zz > 1")).stage("wrong")
    text = text_of(pipeline._repr_html_())
    assert "1 filter zz > 1" in text
    assert "unknown column 'zz'" in text


def test_expressions_show_their_sql():
    assert repr((col("a") + 1) * 2 > lit("x")) == "<Expression (a + 1) * 2 > 'x'>"
    assert text_of(count()._repr_html_()) == "count(*)"
    assert text_of((col("a") < 1)._repr_html_()) == "a < 1"
    assert "object" in repr(lit(object()))


def test_a_run_shows_rows_on_its_graph(t, pipeline):
    t.filter(col("a") > 1).expect(not_null="s", on_fail="warn").stage("big").write_parquet("out", "out.parquet")
    run = pipeline.run(engine="pandas")
    text = text_of(run._repr_html_())
    for part in ("3 rows", "1 row ", "test: done on CPU in", "Warning:", "not_null(s)", "warned", "Results: big"):
        assert part in text
    assert "done on CPU" in text_of(run.report._repr_html_())


def test_a_run_that_failed_shows_its_error(t, pipeline):
    t.expect(not_null="s").stage("big")
    with pytest.raises(ContractBroken) as caught:
        pipeline.run()
    assert "failed its expectations" in text_of(caught.value.report._repr_html_())


def test_verdicts_of_verify_and_tests(t, pipeline):
    t.filter(col("a") > 1).stage("big")
    pipeline.add_test("one", given={"t": [{"a": 2, "s": "x"}]}, expect={"big": [{"a": 2, "s": "y"}]})
    verified = pipeline.verify(engine="pandas")
    assert "big 1 same" in text_of(verified._repr_html_())
    assert repr(verified) == "<VerifyReport test on pandas (CPU) against pandas: its stage has the oracle's rows>"
    assert "one failed" in text_of(pipeline.test(engine="pandas")._repr_html_())


def test_pages_of_pipelines_that_are_loaded(tmp_path):
    pipeline = Pipeline("p", root=tmp_path)
    pipeline.read_csv("t", "missing.csv", {"a": "int64"}).stage("s")
    assert "missing.csv" in text_of(pipeline._repr_html_())

"""Names that are declared again, removed, and stages that have no name of the user's."""

import warnings

import pyarrow as pa
import pytest

from gpuetl import InvalidPipeline, Pipeline, col, declarations
from gpuetl.declarations import NameReplaced

ROWS = pa.table({"a": [1, 2, 3]})


@pytest.fixture
def notebook(monkeypatch):
    """As if IPython ran the test."""
    monkeypatch.setattr(declarations, "in_notebook", lambda: True)


def test_a_name_that_is_declared_again_is_replaced_with_a_warning(pipeline):
    t = pipeline.from_frame("t", ROWS)
    t.filter(col("a") > 1).stage("big")
    with pytest.warns(NameReplaced, match="stage 'big' was declared before; this declaration replaces it") as found:
        t.filter(col("a") > 2).stage("big")
    assert found[0].filename == __file__
    assert pipeline.run().results["big"].to_arrow().to_pylist() == [{"a": 3}]


def test_what_reads_the_name_reads_the_later_declaration(pipeline, notebook):
    t = pipeline.from_frame("t", ROWS)
    big = t.filter(col("a") > 1).stage("big")
    top = big.sort("a desc").stage("top")
    t.filter(col("a") < 3).stage("big")
    assert top.collect().to_arrow().column("a").to_pylist() == [2, 1]


def test_the_same_declaration_again_is_no_change(pipeline):
    t = pipeline.from_frame("t", ROWS)
    for _ in range(2):
        t.filter(col("a") > 1).stage("big").write_parquet("out", "out.parquet", mode="overwrite")
        pipeline.param("least", "int64", 3)
    assert [list(pipeline.stages), list(pipeline.sinks)] == [["big"], ["out"]]


@pytest.mark.parametrize("value", [1.0, True])
def test_constants_of_another_type_are_a_change(pipeline, value):
    t = pipeline.from_frame("t", ROWS)
    t.select(x=col("a") == 1).stage("s")
    with pytest.warns(NameReplaced):
        t.select(x=col("a") == value).stage("s")


def test_every_kind_is_replaced(pipeline, notebook):
    for rows in ([1], [1, 2]):
        t = pipeline.from_frame("t", pa.table({"a": rows}))
        t.write_parquet("out", f"{len(rows)}.parquet")
        pipeline.param("least", "int64", len(rows))
        pipeline.storage("lake", region=f"eu-{len(rows)}")
        pipeline.add_test("one", given={"t": [{"a": 1}]}, expect={"t": [{"a": len(rows)}]})
    assert t.count() == 2
    assert str(pipeline.sinks["out"].path) == "2.parquet"
    assert pipeline.spec.parameters["least"].default == 2
    assert len(pipeline.spec.tests) == 1


def test_a_source_does_not_become_a_stage(pipeline, notebook):
    t = pipeline.from_frame("t", ROWS)
    with pytest.raises(InvalidPipeline) as caught:
        t.limit(1).stage("t")
    assert str(caught.value) == (
        "'t' is declared already, in sources\nChoose another name, or remove it: del pipeline.sources[\"t\"]."
    )


def test_del_removes_a_stage(pipeline):
    t = pipeline.from_frame("t", ROWS)
    big = t.filter(col("a") > 1).stage("big")
    top = big.limit(1).stage("top")
    del pipeline.stages["big"]
    assert list(pipeline.stages) == ["top"]
    with pytest.raises(InvalidPipeline, match="unknown source or stage 'big'"):
        top.collect()
    del pipeline.stages["top"]
    t.filter(col("a") > 2).stage("big")
    assert big.count() == 1


def test_an_unknown_name_is_an_error_of_both_kinds(pipeline):
    pipeline.from_frame("t", ROWS).stage("big")
    with pytest.raises(KeyError):
        del pipeline.stages["bigg"]
    with pytest.raises(InvalidPipeline, match=r"unknown stage 'bigg'\nStages: big\. Did you mean 'big'\?"):
        _ = pipeline.stages["bigg"]
    assert "bigg" not in pipeline.stages
    assert pipeline.stages["big"].count() == 3
    assert repr(pipeline.sources) == "<sources: t>"


def cell(pipeline, least):
    """A cell whose steps have no name: the table that is joined."""
    t = pipeline.from_frame("t", ROWS)
    return t.join(t.filter(col("a") > least), "a", "semi").stage("joined")


def test_stages_without_a_name_do_not_pile_up(pipeline, notebook):
    for least in (0, 1, 1, 2):
        joined = cell(pipeline, least)
    assert joined.count() == 1
    assert len(pipeline.stages) == 2
    assert list(pipeline.run(write=False).results) == ["joined"]


def test_a_run_leaves_out_stages_without_a_name_that_nothing_reads(pipeline):
    t = pipeline.from_frame("t", ROWS)
    t.join(t.filter(col("a") > 1), "a")
    t.limit(2).stage("first")
    assert list(pipeline.run().results) == ["first"]


def test_a_table_over_a_stage_without_a_name_still_has_its_rows(pipeline, notebook):
    t = pipeline.from_frame("t", ROWS)
    later = t.expect(not_null="a").filter(col("a") > 1)
    t.limit(1).stage("s")
    t.limit(2).stage("s")
    assert later.count() == 2
    assert list(later.stage("later").pipeline.run().results) == ["s", "later"]


def test_no_warning_in_a_notebook(pipeline, notebook):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (1, 2):
            pipeline.from_frame("t", ROWS).limit(rows).stage("s")


def test_reprs_count_what_there_is():
    pipeline = Pipeline("shop")
    t = pipeline.from_frame("t", ROWS)
    assert repr(pipeline).startswith("<Pipeline shop: 1 source, 0 stages, 0 sinks; kept rows: ")
    assert repr(t) == "<Table t of pipeline shop>"
    assert repr(t.filter(col("a") > 1).limit(2)) == "<Table t of pipeline shop: filter a > 1 → limit 2>"

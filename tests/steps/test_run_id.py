"""`run_id()`: the run's id, the same in every row on every engine, and in no plan's fingerprint."""

import gpuetl as ge
from gpuetl import expr, run_id
from tables import table

ROWS = table({"k": "int64"}, (1,), (2,), (2,), (None,), (5,))


def test_every_row_has_the_id_that_the_report_and_the_paths_have(source, pipeline, engine, layout, tmp_path):
    marked = source(ROWS).with_columns(by_sql=expr("run_id()"), text=expr("'run ' || run_id()"), by_python=run_id())
    marked.stage("s")
    grouped = pipeline.table("s").aggregate(by="k", n=ge.count(), first=expr("min(by_sql)"), own=run_id())
    grouped.stage("groups").write_parquet("out", "${run.id}/x.parquet")
    run = pipeline.run(engine=engine, keep=["s", "groups"], options=layout)
    own = run.report.run_id
    rows = run["s"].to_arrow().to_pydict()
    assert {*rows["by_sql"]} == {*rows["by_python"]} == {own}
    assert {*rows["text"]} == {f"run {own}"}
    groups = run["groups"].to_arrow().to_pydict()
    assert {*groups["first"]} == {*groups["own"]} == {own}
    assert (tmp_path / own / "x.parquet").exists()


def test_two_runs_have_two_ids_and_one_fingerprint(source, pipeline):
    source(ROWS).with_columns(r=run_id()).stage("s")
    first, second = (pipeline.run(engine="pandas", keep="s") for _ in range(2))
    assert first["s"].to_arrow()["r"][0].as_py() == first.report.run_id
    assert second["s"].to_arrow()["r"][0].as_py() == second.report.run_id != first.report.run_id
    assert first.report.fingerprint == second.report.fingerprint == pipeline.fingerprint


def test_a_plan_and_yaml_have_it_as_it_is_written(source, pipeline):
    source(ROWS).with_columns(r=run_id()).stage("s")
    assert "r: run_id()" in pipeline.to_yaml()
    assert "run_id()" in pipeline.explain(engine="pandas")


def test_engines_that_are_verified_have_one_id(source, pipeline):
    source(ROWS).with_columns(r=run_id()).stage("s")
    assert pipeline.verify(engine="pandas").same


def test_it_takes_no_arguments(source, problem):
    assert "run_id takes no arguments\nWrite run_id()." in problem(source(ROWS).with_columns(r=expr("run_id(k)")))


def test_a_reference_of_paths_is_refused_in_strings(source, problem):
    message = problem(source(ROWS).with_columns(r=ge.lit("${run.id}"), s=expr("'of ${params.day}'")))
    assert "'${run.id}' stands in paths only\nWrite run_id()." in message
    assert "'${params.day}' stands in paths only\nWrite $day; to join it with a string, 'text' || $day." in message

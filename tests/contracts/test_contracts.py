"""Expectations as files have them: what is wrong with them, the plan that they make, and what a user is told."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpuetl import ContractBroken, InvalidPipeline, Pipeline, RunOptions, expr, load, loads
from gpuetl.physical.passes import passes_of, separate_nodes
from gpuetl.plan.plan import explain_plan
from gpuetl.spec.write import pipeline_data
from plans import described, lowered
from tables import table

HEAD = """\
gpuetl: 1
name: daily
params:
  most: {type: int64, default: 3}
sources:
  txns: {parquet: txns.parquet}
  shops: {parquet: shops.parquet}
"""
CLEAN = """\
stages:
  clean:
    from: txns
    steps:
      - filter: id IS NOT NULL OR id IS NULL
    expect:
"""
RULES = """\
      - not_null: [id, shop]
      - unique: id
      - in: {kind: [A, "1", B]}
      - range: {price: [0.05, 12345678901234567890.12], id: [null, 100]}
      - matches: {kind: '[A-Z\\d]'}
      - references: {shop: shops.shop}
      - rows: {min: 1, max: 10}
      - {that: id <= $most, name: plausible, on_fail: quarantine}
      - {that: price > 0.0, on_fail: warn, max_fraction: 0.25}
      - {not_null: kind, on_fail: drop}
sinks:
  out: {from: clean, parquet: out.parquet, mode: overwrite}
  rejects: {from: clean.rejected, parquet: rejects, partition_by: [_rule], mode: append}
"""


@pytest.fixture
def folder(tmp_path):
    rows = pa.table(
        {
            "id": pa.array([1, 2, 3, 4], pa.int64()),
            "shop": pa.array([7, 7, 8, 7], pa.int32()),
            "kind": ["A", "B", None, "1"],
            "price": pa.array([1, 2, 3, None], pa.decimal128(38, 2)),
        }
    )
    pq.write_table(rows, tmp_path / "txns.parquet", row_group_size=2)
    pq.write_table(pa.table({"shop": pa.array([7, 8], pa.int64())}), tmp_path / "shops.parquet")
    return tmp_path


def write(folder, rules):
    """Write a pipeline with these rules; return its file."""
    path = folder / "daily.yaml"
    path.write_text(HEAD + CLEAN + rules)
    return path


def test_a_file_with_every_rule_runs_and_is_the_same_when_written(folder):
    pipeline = load(write(folder, RULES))
    again = loads(pipeline.to_yaml(), folder)
    assert pipeline_data(again.spec) == pipeline_data(pipeline.spec)
    assert again.spec.stages == pipeline.spec.stages
    assert again.fingerprint == pipeline.fingerprint
    run = pipeline.run(engine="pandas")
    assert pq.read_table(folder / "out.parquet").column("id").to_pylist() == [1, 2]
    (file,) = (folder / "rejects").rglob("*.parquet")
    assert file.parent.name == "_rule=plausible"
    assert pq.ParquetFile(file).read().select(["id", "_run"]).to_pylist() == [{"id": 4, "_run": run.report.run_id}]
    assert run.report.fingerprint == pipeline.fingerprint
    assert [check.verdict for check in run.report.checks if check.broken] == ["quarantined", "dropped"]
    places = [check.place.removeprefix(f"{folder}/") for check in run.report.checks]
    assert places[:4] == ["daily.yaml:14:20", "daily.yaml:14:24", "daily.yaml:15:17", "daily.yaml:16:14"]


def test_python_writes_what_a_file_has(folder):
    pipeline = Pipeline("daily", root=folder)
    most = pipeline.param("most", "int64", 3)
    txns, shops = (pipeline.read_parquet(name, f"{name}.parquet") for name in ("txns", "shops"))
    clean = (
        txns.filter(expr("id IS NOT NULL OR id IS NULL"))
        .expect(not_null=["id", "shop"], unique="id")
        .expect(in_={"kind": ["A", "1", "B"]})
        .expect(range={"price": (0.05, "12345678901234567890.12"), "id": (None, 100)})
        .expect(matches={"kind": r"[A-Z\d]"}, references={"shop": "shops.shop"}, rows=(1, 10))
        .expect(that=expr("id") <= most, name="plausible", on_fail="quarantine")
        .expect(that=expr("price > 0.0"), on_fail="warn", max_fraction=0.25)
        .expect(not_null="kind", on_fail="drop")
        .stage("clean")
    )
    clean.write_parquet("out", "out.parquet", mode="overwrite")
    clean.rejected.write_parquet("rejects", "rejects", partition_by="_rule", mode="append")
    assert pipeline_data(pipeline.spec) == pipeline_data(load(write(folder, RULES)).spec)
    assert shops.origin == "shops"


def test_what_stands_after_expect_begins_another_stage(folder):
    pipeline = Pipeline("p", root=folder)
    txns = pipeline.read_parquet("txns", "txns.parquet")
    txns.expect(not_null="id").filter(expr("id = 1")).stage("one")
    run = pipeline.run(engine="pandas", keep="one")
    assert [(check.stage, check.rows) for check in run.report.checks] == [("txns_1", 4)]
    with pytest.raises(InvalidPipeline, match="only a stage has rejected rows"):
        _ = txns.filter(expr("id = 1")).rejected
    with pytest.raises(InvalidPipeline, match="expect takes a rule"):
        txns.expect()


WRONG = """\
      - not_null: [idd, id]
      - in: {id: [A, 1.5], kind: [1]}
      - in: {kind: [A, null]}
      - range: {price: [1]}
      - range: {id: [5, 1], shop: [0.5, null]}
      - matches: {kind: "[A-"}
      - matches: {id: "a"}
      - references: {shop: shops}
      - references: {shop: shops.shp, id: nowhere.id}
      - references: {kind: shops.shop}
      - rows: {min: 3, max: 1}
      - {rows: {min: 1}, on_fail: drop}
      - {not_null: id, on_fail: ignore}
      - {not_null: id, on_fail: drop, max_fraction: 0.1}
      - {not_null: id, unique: id}
      - {notnull: id}
      - not_null
      - that: id + 1
      - {name: x, that: id > 0}
      - {name: x, that: id > 1}
sinks:
  out: {from: clean, parquet: out.parquet}
"""


TOLD = """
14:20: …: unknown column 'idd'
15:19: …: 'A' is not a valid int64
15:22: …: '1.5' is not a valid int64
15:35: …: '1' is not a string
16:24: …, expect: in: takes values, and null is none
17:24: …, expect: range: takes [least, greatest], either of which may be null
18:22: …: the least value is greater than the greatest
18:36: …: '0.5' is not a valid int32
19:25: …, expect: matches: cannot read the regular expression '[A-': this '[' is not closed, at character 1
20:19: …: matches takes a string column, and 'id' is int64
21:28: …, expect: references: takes stage.column or source.column, got 'shops'
22:28: …: unknown column 'shp'
22:43: …: unknown source or stage 'nowhere'
23:28: …: 'kind' is string, and shops.shop is int64
24:15: …, expect: rows: takes min, max or both, and min is not greater than max
25:26: …, expect: on_fail: drop removes single rows, and this rule is for all of them
26:33: …, expect: on_fail: takes one of fail, warn, drop, quarantine, got 'ignore'
27:39: …, expect: on_fail: drop takes no max_fraction
28:9: …, expect: a rule is one of not_null, unique, in, range, matches, references, rows, that; here are not_null and unique
29:10: …, expect: unknown rule 'notnull'
30:9: …, expect: a rule is a map, got text
31:15: …: that takes a condition, and id + 1 is int64
33:25: …: two rules are called 'x'
"""


def test_everything_that_is_wrong_is_reported_at_once(folder):
    with pytest.raises(InvalidPipeline) as caught:
        load(write(folder, WRONG)).plan()
    heads = [str(problem).split("\n")[0].split("daily.yaml:")[1] for problem in caught.value.problems]
    assert [head.replace("stage 'clean'", "…") for head in heads] == TOLD.strip().split("\n")


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("      - {not_null: id, on_fail: quarantine}\n", "nothing reads 'clean.rejected'"),
        (
            "      - not_null: id\nsinks:\n  r: {from: clean.rejected, parquet: r}\n",
            "'clean' puts no rows in quarantine, so there is no 'clean.rejected'",
        ),
        ("      - references: {id: clean.id}\n", "the stages go in a circle: clean → clean"),
        (
            "      - {not_null: id, on_fail: quarantine}\nsinks:\n  r: {from: clean.rejectd, parquet: r}\n",
            "unknown source or stage 'clean.rejectd'\nSources and stages: clean, clean.rejected, shops, txns. "
            "Did you mean 'clean.rejected'?",
        ),
    ],
)
def test_quarantine_has_a_reader_and_readers_have_a_quarantine(folder, rules, message):
    with pytest.raises(InvalidPipeline) as caught:
        load(write(folder, rules)).plan()
    (problem,) = caught.value.problems
    assert message in f"{problem.message}\n{problem.hint}"


def test_columns_of_a_quarantine_are_not_taken(folder):
    text = HEAD + CLEAN.replace("filter: id IS NOT NULL OR id IS NULL", "with_columns: {_run: 1}")
    text += "      - {not_null: id, on_fail: quarantine}\nsinks: {r: {from: clean.rejected, parquet: r}}\n"
    with pytest.raises(InvalidPipeline, match="the stage has a column '_run'"):
        loads(text, folder).plan()


BREAKS = """\
      - not_null: [kind]
      - {name: one, that: id = 1, on_fail: warn}
sinks:
  out: {from: clean, parquet: out.parquet, mode: overwrite}
"""


def test_the_command_tells_of_broken_rules_and_ends_with_4(folder):
    file, report, page = write(folder, BREAKS), folder / "report.json", folder / "report.html"
    done = gpuetl("run", file, "--engine", "pandas", "--report", report)
    assert done.exit_code == 4
    assert done.stderr.endswith(f"""\
1 expectation failed; no sink has changed

{file}:14:20: stage 'clean': rule 'not_null(kind)': 1 of 4 rows (25 %) breaks it
    kind  id  shop  price
    null  3   8     3.00
""")
    assert not (folder / "out.parquet").exists()
    assert "not_null(kind)" in done.stdout
    checks = json.loads(report.read_text())["checks"]
    assert [(check["rule"], check["broken"], check["share"], check["verdict"]) for check in checks] == [
        ("not_null(kind)", 1, 0.25, "failed"),
        ("one", 3, 0.75, "warned"),
    ]
    assert checks[0]["sample"] == [{"kind": "null", "id": "3", "shop": "8", "price": "3.00"}]
    assert gpuetl("run", file, "--engine", "pandas", "--quiet", "--report", page).exit_code == 4
    assert "Rows that break not_null(kind) of clean" in page.read_text()
    assert gpuetl("verify", file, "--engine", "pandas").exit_code == 0
    assert "Check clean" in gpuetl("plan", file, "--engine", "pandas").stdout


def test_counts_are_of_the_stage_whatever_its_readers_want(folder):
    """No filter of a reader goes below what is counted, and no column is kept for a sample that nobody needs."""
    pipeline = Pipeline("p", root=folder)
    txns = pipeline.read_parquet("txns", "txns.parquet")
    checked = txns.with_columns(twice=expr("id * 2")).expect(not_null="kind", on_fail="warn").stage("checked")
    checked.filter(expr("id > 3")).limit(1).select("id").stage("few")
    for optimize in (True, False):
        run = pipeline.run(engine="pandas", keep="few", options=RunOptions(optimize=optimize))
        assert [(check.rows, check.broken) for check in run.report.checks] == [(4, 1)]
    reads = [line for line in described(pipeline.optimized().plan) if line.startswith("Read")]
    assert reads == ["Read txns: 2 of 4 columns"]


def test_what_is_expected_is_part_of_what_a_pipeline_does(folder):
    plain = loads(HEAD + CLEAN.removesuffix("    expect:\n"), folder)
    rules = ["- not_null: id", "- {not_null: id, on_fail: warn}", "- not_null: kind", "- rows: {min: 1}"]
    pipelines = [plain, *(loads(f"{HEAD}{CLEAN}      {rule}\n", folder) for rule in rules)]
    assert len({pipeline.fingerprint for pipeline in pipelines}) == len(pipelines)
    assert explain_plan(pipelines[1].optimized().plan) != explain_plan(plain.optimized().plan)


def test_a_plan_that_is_kept_is_not_that_of_other_rules(folder):
    """Of two pipelines that differ in rules alone, and of one that is run again."""
    for _ in range(2):
        for rule, broken in (("not_null: kind", 1), ("not_null: id", 0), ("that: id = 1", 3)):
            pipeline = loads(f"{HEAD}{CLEAN}      - {{{rule}, on_fail: warn}}\n", folder)
            assert [check.broken for check in pipeline.run(engine="pandas").report.checks] == [broken]


def test_a_stage_that_is_checked_is_not_kept_as_a_whole(folder):
    """Its partitions go to the sink and to what counts side by side; one partition is counted before it goes on."""
    pipeline = Pipeline("p", root=folder)
    txns = pipeline.read_parquet("txns", "txns.parquet")
    checked = txns.filter(expr("id > 0")).expect(not_null="kind", on_fail="warn").stage("checked")
    checked.with_columns(y=expr("id + 1")).stage("last")
    physical = lowered(pipeline)
    passes = passes_of(physical.roots)
    shared = {node for one in passes for node, _ in one.shared}
    assert shared
    assert separate_nodes(passes).isdisjoint(map(id, shared))
    assert list(physical.along) == ["checked"]
    assert list(lowered(pipeline, RunOptions()).first) == ["checked"]


def test_verify_compares_quarantine_and_enforces_nothing(folder):
    report = load(write(folder, RULES + "\n")).verify(engine="pandas")
    assert [verdict.name for verdict in report.stages] == ["clean", "clean.rejected"]
    assert report.same


def test_the_first_five_rows_are_shown(folder):
    pipeline = Pipeline("p", root=folder)
    t = pipeline.from_frame("t", table({"x": "int64"}, *((i,) for i in range(9))))
    t.expect(that=expr("x < 2"), name="small").stage("s")
    with pytest.raises(ContractBroken) as caught:
        pipeline.run(engine="pandas")
    assert [row["x"] for row in caught.value.report.checks[0].sample] == ["2", "3", "4", "5", "6"]


def test_every_quarantine_without_a_reader_is_reported(pipeline, source):
    for name in ("a", "b"):
        source(table({"x": "int64"}, (1,)), f"t{name}").expect(not_null="x", on_fail="quarantine").stage(name)
    with pytest.raises(InvalidPipeline) as caught:
        pipeline.plan()
    assert [f"nothing reads '{name}.rejected'" in str(caught.value) for name in ("a", "b")] == [True, True]

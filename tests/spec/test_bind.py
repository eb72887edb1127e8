"""Binding: the model becomes a plan whose schemas are known before any row is read."""

import sys
from collections import Counter

import pytest

import gpuetl as ge
from gpuetl.errors import InvalidPipeline
from gpuetl.types.data_types import type_name
from spec.pipelines import HEAD, loaded, problems, problems_after_head, stage


def schema(*steps):
    plan = loaded(*steps).plan()
    return {name: type_name(dtype) for name, dtype in plan.stages["clean"].schema.items()}


WHOLE = {"user_id": "int64", "amount": "float64", "status": "string", "ts": "timestamp"}


@pytest.mark.parametrize(
    ("step", "columns"),
    [
        ("filter: amount > 1", WHOLE), ("limit: 3", WHOLE), ("sort: ts", WHOLE), ("distinct: status", WHOLE),
        ("select: [ts, status]", {"ts": "timestamp", "status": "string"}), ("select: {a: amount / 2}", {"a": "float64"}),
        ("drop: [ts, status]", {"user_id": "int64", "amount": "float64"}), ("with_columns: {ts: to_date(ts), n: 1}", {**WHOLE, "ts": "date", "n": "int64"}),
        ("rename: {amount: paid}", {"user_id": "int64", "paid": "float64", "status": "string", "ts": "timestamp"}), ("cast: {user_id: int32}", {**WHOLE, "user_id": "int32"}),
        ("aggregate: {by: status, columns: {n: count(*), x: max(ts)}}", {"status": "string", "n": "int64", "x": "timestamp"}),
        ("aggregate: {columns: {r: sum(amount) / count(*)}}", {"r": "float64"}),
        ("window: {by: user_id, order_by: ts, columns: {n: row_number() - 1, p: lag(status)}}", {**WHOLE, "n": "int64", "p": "string"}),
        ("join: {with: txns, on: [user_id, status], suffix: _r}", {**WHOLE, "amount_r": "float64", "ts_r": "timestamp"}),
        *(
            (f"join: {{with: txns, on: [user_id, status], how: {how}, suffix: _r}}", {**WHOLE, "amount_r": "float64", "ts_r": "timestamp"})
            for how in ("left", "right", "full")
        ),
        ("join: {with: txns, on: user_id, how: semi}", WHOLE), ("join: {with: txns, on: user_id, how: anti}", WHOLE),
        ("join: {with: txns, how: cross, suffix: _r}", {**WHOLE, **{f"{name}_r": dtype for name, dtype in WHOLE.items()}}),
    ],
)  # fmt: skip
def test_schemas_follow_the_steps(step, columns):
    assert schema(step) == columns
    assert list(schema(step)) == list(columns)


def test_parameters_are_bound_as_typed_constants():
    pipeline = loaded("filter: amount > $min_amount")
    assert (
        pipeline.plan({"min_amount": 2}).fingerprint
        == pipeline.plan({"min_amount": "2.0"}).fingerprint
        != pipeline.plan().fingerprint
    )


def test_a_required_parameter_may_stay_open_until_the_run():
    pipeline = loaded("filter: amount > $min_amount")
    text = pipeline.to_yaml().replace("default: 0.5", "required: true")
    import gpuetl as ge

    again = ge.loads(text)
    again.plan(unbound=True)
    with pytest.raises(InvalidPipeline, match=r"parameter 'min_amount' \(float64\) has no value"):
        again.plan()


@pytest.mark.parametrize(
    ("sink", "message"),
    [
        ("{from: txns, parquet: out, partition_by: [zip]}", "unknown column 'zip'"),
        ("{from: txns, parquet: out, sort_by: [zip]}", "unknown column 'zip'"),
        (
            "{from: txns, parquet: out, partition_by: [user_id, amount, status, ts]}",
            "partition_by takes every column, so that files would have none",
        ),
        ("{from: txns, parquet: out, mode: replace_partitions}", "mode replace_partitions needs partition_by"),
        ("{from: txns, parquet: out.parquet, mode: append}", "mode append needs a folder, and this path is one file"),
        ("{from: tnxs, parquet: out}", "unknown source or stage 'tnxs'"),
        (
            "{from: txns, parquet: 'out/${params.day}'}",
            "unknown reference '${params.day}': a path takes ${params.NAME}, ${env.NAME:-default} and ${run.id}",
        ),
    ],
)
def test_a_wrong_sink_is_reported(sink, message):
    (problem,) = problems_after_head(f"sinks:\n  out: {sink}\n")
    assert problem.split("\n")[0].split("sink 'out': ", 1)[1] == message


def test_a_sources_own_filter_and_columns_are_checked():
    body = HEAD.replace("    schema:", "    filter: amuont > 1\n    columns: [user_id, stauts]\n    schema:")
    assert [problem.split("\n")[0].split("source 'txns': ")[1] for problem in problems(body)] == [
        "unknown column 'amuont'",
        "unknown column 'stauts'",
    ]


def test_stages_are_shared_and_may_be_written_in_any_order():
    body = "stages:\n  late:\n    from: early\n    steps: [limit: 1]\n  early:\n    from: txns\n    steps: [limit: 2]\n"
    assert problems_after_head(body) == []
    assert problems_after_head(stage("limit: 1", name="other")) == []


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("oz", "./oz/", "writes the same path as sink 'one'"),
        ("a/../out", "out", "writes the same path as sink 'one'"),
        ("out/on/r.parquet", "out/on", "has a path that holds that of sink 'one'"),
        ("out", "out/on/r.parquet", "writes inside the path of sink 'one'"),
        ("out", "outer", None),
        ("out/a", "out/b", None),
    ],
)
def test_sinks_that_lie_in_each_other_are_refused(first, second, message):
    body = "".join(
        f"  {name}: {{from: txns, parquet: {path}, mode: overwrite}}\n"
        for name, path in (("one", first), ("two", second))
    )
    found = [problem.split("\n")[0].split("sink 'two': ")[1] for problem in problems_after_head("sinks:\n" + body)]
    assert found == ([message] if message else [])


@pytest.mark.parametrize(
    ("source", "sink", "message"),
    [
        ("in/*.parquet", ".", "writes over the pipeline's own folder"),
        ("in/*.parquet", "..", "writes over the pipeline's own folder"),
        ("in/*.parquet", "in", "writes over source 'rows'"),
        ("in/deep/a.parquet", "in", "writes over source 'rows'"),
        ("in/a.parquet", "./in/a.parquet", "writes over source 'rows'"),
        ("in", "in/out", "writes into its own source 'rows'"),
        ("in", "in/out/b.parquet", "writes into its own source 'rows'"),
        ("in/*.parquet", "in/b.parquet", "writes into its own source 'rows'"),
        ("in/**/*.parquet", "in/out", "writes into its own source 'rows'"),
        ("in/**/*.parquet", "in/b.parquet", "writes into its own source 'rows'"),
        ("in/*/a.parquet", "in/out", "writes into its own source 'rows'"),
        ("in/*.parquet", "in/out", None),
        ("in/a*.parquet", "in/b.parquet", None),
        ("in/a.parquet", "in/b.parquet", None),
        ("in/**/*.csv", "in/out", None),
        ("in", "in/_out", None),
        ("in", "into", None),
    ],
)
def test_a_sink_that_meets_a_source_or_the_pipeline_s_folder_is_refused(source, sink, message):
    text = HEAD.replace("  txns:\n    parquet: txns/*.parquet", f"  rows:\n    parquet: {source}")
    found = problems(text + f"sinks:\n  out: {{from: rows, parquet: {sink}, mode: overwrite}}\n")
    messages = [problem.split("\n")[0].split("sink 'out': ")[1] for problem in found]
    assert (message in messages) if message else not messages


LATER = stage(
    "filter: uper(status) = $nope",
    "with_columns: {d: 'date_trunc(''day'', ts) - interval ''1 day''', n: amount + 1}",
    "drop: [amount]",
    "window: {by: user_id, order_by: ts, columns: {s: 'rolling_sum(amount, interval ''1 hour'')'}}",
    "join: {with: usres, on: user_id}",
    "kernel: {cuda: no.cu, entry: k, inputs: [a], outputs: {b: float64}, reference: 'no.py:k'}",
    "filter: amount > $nope",
)
TOLD = [
    "unknown function 'uper'",
    "unknown source or stage 'usres'",
    "no.cu: No such file or directory.",
    "no.py does not exist",
    "unknown parameter '$nope'",
    "unknown parameter '$nope'",
]


@pytest.mark.parametrize(
    ("head", "first"),
    [
        (HEAD.replace("    schema:", "    filtre: amount > 1\n    schema:"), ["unknown key 'filtre'"]),
        (HEAD.replace("  txns:\n", "  other:\n"), ["unknown source or stage 'txns'"]),
        (
            HEAD.replace("txns/*", "${params.day}/*").replace("params:", "params:\n  day: {type: date, required: true}")
            .replace("    schema: {user_id: int64, amount: float64, status: string, ts: timestamp}\n", ""),
            [],
        ),
    ],
)  # fmt: skip
def test_a_mistake_in_a_source_hides_none_in_its_stages(head, first):
    found = [problem.split("\n")[0] for problem in problems(head + LATER)]
    expected = [*first, *TOLD]
    assert len(found) == len(expected), found
    assert all(any(problem.endswith(text) for problem in found) for text in expected), found


def test_validate_says_which_source_it_could_not_check(tmp_path, capsys):
    from gpuetl.cli.validate import validate

    file = tmp_path / "p.yaml"
    file.write_text(
        "gpuetl: 1\nname: p\nparams: {day: {type: date, required: true}}\n"
        "sources: {s: {parquet: 'in/${params.day}'}}\nstages: {a: {from: s, steps: [limit: 1]}}\n"
    )
    validate(file)
    assert capsys.readouterr().out.splitlines() == [
        "not checked: source 's' needs a value for a parameter",
        f"{file}: valid, 1 source, 1 stage, 0 sinks",
    ]


def calls_of_planning(columns):
    """Return how many Python functions are called to plan features of so many columns."""
    names = [f"x{number}" for number in range(columns)]
    rows = ", ".join(f"{name}: int32" for name in names)
    listed, sums = ", ".join(names), ", ".join(f"{name}: sum({name} * {name})" for name in names)
    pipeline = ge.loads(
        f"gpuetl: 1\nname: wide\nsources:\n  wide: {{parquet: wide.parquet, schema: {{{rows}}}}}\n"
        "stages:\n  features:\n    from: wide\n    steps:\n"
        f"      - fit: [normalise: [{listed}], categorify: [{listed}]]\n"
        f"      - aggregate: {{columns: {{{sums}}}}}\n"
    )
    counts: Counter[str] = Counter()
    pipeline.plan()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, argument: counts.update([event]))
    try:
        pipeline.plan()
    finally:
        sys.setprofile(before)
    return counts["call"]


def test_planning_takes_a_bounded_number_of_calls_for_each_column():
    few, many = calls_of_planning(20), calls_of_planning(40)
    assert (many - few) / 20 < 1500
    assert many < 2.2 * few

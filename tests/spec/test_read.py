"""Reading a pipeline: every mistake of its form, in the form in which problems are told."""

from decimal import Decimal

import pytest

from gpuetl import loads
from spec.pipelines import HEAD, problems, problems_after_head, stage


def test_a_misspelt_column_is_reported_with_its_place_and_what_there_is():
    body = stage("limit: 3", "filter: amuont >= $min_amount")
    assert problems_after_head(body) == [
        """\
daily.yaml:14:17: stage 'clean', step 2: unknown column 'amuont'
    - filter: amuont >= $min_amount
              ^^^^^^
Columns: amount, status, ts, user_id. Did you mean 'amount'?"""
    ]


def test_an_error_in_a_folded_expression_points_into_the_block():
    body = stage("filter: >\n          amount > 1\n          AND lenght(status)\n          < 2")
    assert problems_after_head(body) == [
        """\
daily.yaml:15:15: stage 'clean', step 1: unknown function 'lenght'
    AND lenght(status)
        ^^^^^^
Did you mean 'length'?"""
    ]


def test_all_problems_of_a_file_are_reported_at_once_in_its_order():
    body = """\
stages:
  clean:
    from: txns
    steps:
      - fliter: amount > 1
  late:
    from: claen
    steps:
      - limit: 3
  kept:
    from: txns
    steps:
      - filter: amount > > 3
      - join: {wiht: clean, on: user_id}
sinks:
  out: {from: kept, parquet: out, mode: overwritten}
"""
    assert [problem.split("\n")[0] for problem in problems_after_head(body)] == [
        "daily.yaml:13:9: stage 'clean', step 1: unknown step 'fliter'",
        "daily.yaml:15:11: stage 'late': unknown source or stage 'claen'",
        "daily.yaml:21:26: stage 'kept', step 1: unexpected '>'",
        "daily.yaml:22:16: stage 'kept', step 2: unknown key 'wiht'",
        "daily.yaml:24:41: sink 'out': mode: takes one of error, overwrite, append, replace_partitions, upsert, got 'overwritten'",
    ]


@pytest.mark.parametrize(
    "steps",
    [
        ["filter: amuont > 1", "filter: amuont > 2", "sort: [status]"],
        ["fliter: amount > 1", "filter: new_column > 1", "select: [other]", "sort: other"],
        ["with_columns: {new: amuont + 1}", "filter: new > 1", "select: [new]"],
        ["aggregate: {by: user_id, columns: {n: cuont(*)}}", "filter: n > 3", "sort: n"],
        ["with_columns: {new: amount +}", "filter: new > 1", "explode: new"],
        ["join: {wiht: txns, on: user_id}", "filter: amount_right > 1"],
        ["join: {with: txns}", "filter: amount_right > 1"],
        ["join: {with: txns, on: user_id, how: cross}", "filter: amount_right > 1"],
    ],
)
def test_one_mistake_is_reported_once_whatever_follows(steps):
    heads = {problem.split("\n")[0].split(": ", 1)[1] for problem in problems_after_head(stage(*steps))}
    assert len({head.split(": ")[-1] for head in heads}) == 1


@pytest.mark.parametrize(
    ("step", "message", "hint"),
    [
        ("fliter: amount > 1", "unknown step 'fliter'", "Did you mean 'filter'?"),
        ("{}", "a step is one verb and its arguments", "Steps: filter, select"),
        ("limit", "a step is one verb and its arguments", "Write limit: …"),
        ("distinct", "a step is one verb and its arguments", "Write distinct: {}"),
        ("[limit, 3]", "a step is one verb and its arguments", "Steps: filter, select"),
        ("distinct: []", "takes a name or a list of names, got none", ""),
        ("distinct: {keep: first, order_by: ts}", "rows that are equal in all columns have no first", "Add on: the columns that identify a row."),
        ("filter: [1]", "takes an SQL expression, got a list", ""),
        ("filter: {a: 1}", "takes an SQL expression, got a map", ""),
        ("limit: -1", "takes a whole number from 0, got -1", ""),
        ("limit: yes", "takes a whole number, got text 'yes'", ""),
        ("limit: true", "takes a whole number, got true or false", ""),
        ("drop: [ts, ts]", "'ts' is named twice", ""),
        ("drop: 3", "takes a name, got a number '3'", ""),
        ("rename: {}", "takes a map with at least one entry", ""),
        ("select: []", "keeps no column", "Keep at least one column."),
        ("join: {with: txns, on: []}", "on: takes a column, a list of columns, a map of left columns to right ones, or equalities such as `lower(name) = code`, got none", ""),
        ("join: {with: txns, on: {}}", "on: takes a column, a list of columns, a map of left columns to right ones, or equalities such as `lower(name) = code`, got none", ""),
        ("distinct: {on: [], keep: first}", "on: takes a name or a list of names, got none", ""),
        ("sort: [amount descending]", "takes a column, then asc or desc, got 'amount descending'", "Write desc, not descending."),
        ("rename: {amuont: x}", "unknown column 'amuont'", "Did you mean 'amount'?"),
        ("cast: {amount: int46}", "unknown type 'int46'", "Did you mean 'int64'?"),
        ("cast: {ts: bool}", "cannot cast 'ts' from timestamp to bool", ""),
        ("distinct: {on: ts, keep: last}", "keep: takes one of any, first, got 'last'", ""),
        ("join: {with: txns, on: user_id, hwo: left}", "unknown key 'hwo'", "Did you mean 'how'?"),
        ("join: {on: user_id}", "the key 'with' is missing", "It takes a name."),
        ("join: {with: txns, on: user_id, how: crss}", "how: takes one of inner, left, right, full, semi, anti, cross, got 'crss'", "Did you mean 'cross'?"),
        ("join: {with: txns, on: user_id, how: cross}", "how: cross pairs every row with every row, and takes no 'on'", "Leave it out, or choose how: inner."),
        ("join: {with: txns, how: semi}", "the key 'on' is missing", "It takes a column, a list of columns, a map of left columns to right ones, or equalities such as `lower(name) = code`.  Only how: cross, or a condition, goes without."),
        ("join: {with: txns, how: cross, suffix: _r, nulls_equal: true}", "how: cross pairs every row with every row: there are no keys for nulls_equal", "Leave it out."),
        ("join: {with: txns, how: cross, suffix: _r, validate: one_to_one}", "how: cross pairs every row with every row: there is nothing to validate", "Leave validate out."),
        ("join: {with: txns, on: user_id, how: anti, validate: many_to_one}", "how: anti gives a left row at most once, whatever repeats: there is nothing to validate", "Leave validate out."),
        ("join: {with: txns, on: {user_id: user_id, amount: user_id}, how: semi}", "on: the right column 'user_id' is named twice", ""),
        ("join: {with: txns, how: cross}", "both sides have user_id, amount, status, ts", "Set suffix: _txns"),
        ("join: {with: txns, on: user_id}", "both sides have amount, status, ts", "Set suffix: _txns"),
        ("aggregate: {columns: {n: count(*), a: amount}}", "column 'amount' has many values in a group", "Aggregate it, as in max(amount)"),
        ("aggregate: {by: user_id, columns: {user_id: count(*)}}", "'user_id' is a key and an output", "Give the output another name."),
        ("aggregate: {columns: {n: count()}}", "count got 0 arguments", "It is count(x).  count(*) counts rows."),
        ("select: {a: cast(amount as integr)}", "unknown type 'integr'", "Did you mean 'integer'?"),
        ("filter: amount", "a filter takes a condition, and amount is float64", "Compare it with something."),
        ("filter: sum(amount) > 1", "sum is an aggregate function and cannot stand here", "Use it directly in an aggregate step."),
        ("window: {by: user_id, columns: {n: row_number()}}", "row_number needs order_by", "Add order_by"),
        ("filter: ts > '2020-01-01'", "cannot compare timestamp and string", "Write TIMESTAMP '2020-01-01 00:00:00'."),
    ],
)  # fmt: skip
def test_a_wrong_step_is_reported_with_a_next_step(step, message, hint):
    (problem,) = problems_after_head(stage(step))
    assert problem.split("\n")[0].split("step 1: ", 1)[1] == message
    assert hint in problem.split("\n")[-1]


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("name: x", "p.yaml:1:1: the key 'gpuetl' is missing"),
        ("gpuetl: 1", "p.yaml:1:1: the key 'name' is missing"),
        ("gpuetl: 2\nname: x", "p.yaml:1:9: version 2 of the language is not supported"),
        ("gpuetl: 1\nname: 3", "p.yaml:2:7: takes a name, got a number '3'"),
        ("gpuetl: 1\nname: x\nsoruces: {}", "p.yaml:3:1: unknown key 'soruces'"),
        ("gpuetl: 1\nname: x\nsources: [a]", "p.yaml:3:10: sources takes a map of names, got a list"),
        ("gpuetl: 1\nname: x\ntests: {}", "p.yaml:3:8: tests takes a list of tests, got a map"),
        ("[1]", "p.yaml:1:1: a pipeline is a map of gpuetl, name, description, include, defaults, params, storage, profiles, state, on_failure, on_success, telemetry, sources, stages, sinks, tests, got a list"),
        ("gpuetl: 1\nname: x\nparams: {a: {type: int46, default: 1}}", "p.yaml:3:20: parameter 'a': unknown type 'int46'"),
        ("gpuetl: 1\nname: x\nparams: {a: {type: int8, default: 300}}", "p.yaml:3:35: parameter 'a': default: '300' is not a valid int8"),
        ("gpuetl: 1\nname: x\nparams: {a: {default: 3}}", "p.yaml:3:13: parameter 'a': the key 'type' is missing"),
        ("gpuetl: 1\nname: x\nparams: {a: {type: int8}}", "p.yaml:3:13: parameter 'a': has neither required: true nor a default"),
        ("gpuetl: 1\nname: x\nsources: {a: {schema: {b: int8}}}", "p.yaml:3:14: source 'a': needs exactly one of parquet, csv, json, orc, arrow, avro, excel: the path"),
        ("gpuetl: 1\nname: x\nsources: {a: {csv: x.csv}}", "p.yaml:3:20: source 'a': a CSV source needs a schema"),
        ("gpuetl: 1\nname: x\nsources: {a: {parquet: nowhere/x.parquet}}", "p.yaml:3:24: source 'a': nowhere/x.parquet does not exist"),
    ],
)  # fmt: skip
def test_a_wrong_section_is_reported(text, head):
    (problem,) = problems(text, "p.yaml")
    assert problem.split("\n")[0] == head


def test_a_checkpoint_is_true_or_false():
    (problem,) = problems_after_head("stages:\n  clean: {from: txns, steps: [], checkpoint: []}\n")
    assert problem.split("\n")[0] == "daily.yaml:10:46: stage 'clean', checkpoint: takes true or false, got a list"


def test_a_join_with_an_unknown_table_is_reported():
    (problem,) = problems_after_head(stage("join: {with: tnxs, on: user_id}"))
    assert "unknown source or stage 'tnxs'" in problem
    assert problem.endswith("Sources and stages: clean, txns. Did you mean 'txns'?")


def test_stages_in_a_circle_are_reported_once():
    body = "stages:\n  a: {from: b, steps: []}\n  b: {from: c, steps: []}\n  c: {from: a, steps: []}\n"
    (problem,) = problems_after_head(body)
    assert "the stages go in a circle: a → b → c → a" in problem


def test_a_stage_may_not_have_the_name_of_a_source():
    (problem,) = problems_after_head("stages:\n  txns: {from: txns, steps: []}\n")
    assert (
        problem
        == "daily.yaml:10:3: 'txns' is a source and a stage\n    txns: {from: txns, steps: []}\n    ^^^^\nRename one."
    )


def test_two_sinks_may_not_write_the_same_path():
    (problem,) = problems_after_head("sinks:\n  a: {from: txns, parquet: out}\n  b: {from: txns, parquet: out}\n")
    assert "sink 'b': writes the same path as sink 'a'" in problem


def test_a_valid_pipeline_has_no_problems():
    assert problems_after_head(stage("filter: amount > $min_amount AND status <> 'NO'", "limit: 3")) == []


def test_expressions_that_yaml_reads_as_numbers_and_booleans_are_constants():
    assert (
        problems_after_head(
            stage(
                "with_columns: {a: 1, b: true, c: null, d: 1.5, e: \"'12:30'\"}",
                "filter: a = 1 AND b AND d > 1 AND e = 'x'",
            )
        )
        == []
    )


def test_a_bare_word_is_a_column():
    (problem,) = problems(HEAD + stage("with_columns: {country: NO}"))
    assert "unknown column 'NO'" in problem


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("delimiter: ';;'", "delimiter: takes one character, got ';;'"),
        ("partitions: {p: duration}", "partitions: a partition cannot be a duration"),
        (r'delimiter: "\t"', ""),
    ],
)
def test_a_sources_delimiter_and_partitions_are_checked(key, message):
    text = HEAD.replace("parquet: txns/*.parquet", f"csv: txns/*.csv\n    {key}")
    assert [problem.split("source 'txns': ")[1].split("\n")[0] for problem in problems(text)] == [message] * bool(
        message
    )


@pytest.mark.parametrize(
    ("dtype", "default", "value"),
    [
        ("decimal(4,2)", "0.19", Decimal("0.19")),
        ("decimal(4,2)", "-1.5e-1", Decimal("-0.15")),
        ("decimal(38,20)", "0.10000000000000000001", Decimal("0.10000000000000000001")),
        ("string", "007", "007"),
        ("string", "1.10", "1.10"),
        ("string", "true", "true"),
        ("string", "null", None),
    ],
)
def test_a_default_of_exact_text_is_taken_as_it_is_written(dtype, default, value):
    text = HEAD.replace("{type: float64, default: 0.5}", f"{{type: '{dtype}', default: {default}}}")
    assert loads(text).spec.parameters["min_amount"].default == value


@pytest.mark.parametrize("dtype", ["binary", "list<uuid>", "struct<a: time>", "map<string, timestamp_ns>"])
def test_a_parameter_is_no_value_that_yaml_has_no_text_for(dtype):
    (problem,) = problems(HEAD.replace("{type: float64, default: 0.5}", f"{{type: '{dtype}', required: true}}"))
    assert "parameter 'min_amount': a parameter cannot be " in problem.splitlines()[0]
    assert problem.splitlines()[-1] == "Give a string, and convert it in the expression."


def test_an_aggregate_without_its_order_is_reported_at_its_column():
    (problem,) = problems_after_head(stage("aggregate: {columns: {n: count(*), f: first(ts)}}"))
    assert problem.splitlines()[1:3] == [
        "    - aggregate: {columns: {n: count(*), f: first(ts)}}",
        "                                         ^",
    ]


def test_a_name_that_is_taken_is_reported_where_it_is_given():
    (problem,) = problems_after_head(stage("rename: {user_id: amount}"))
    assert problem.splitlines()[1:3] == ["    - rename: {user_id: amount}", "                        ^^^^^^"]


def test_a_default_is_one_value():
    (problem,) = problems(HEAD.replace("default: 0.5", "default: {a: 1}"))
    assert "parameter 'min_amount': default: takes one value, got a map" in problem

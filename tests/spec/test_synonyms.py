"""Words of SQL, pandas, Polars and Spark in the place of ours: the hint says what the language calls it."""

import pytest

from gpuetl.formats.csv_options import CsvOptions
from gpuetl.spec.fields import keys_of
from gpuetl.spec.model import SinkSpec, SourceSpec
from gpuetl.spec.steps import STEPS
from gpuetl.spec.steps.asof import AsofKeys
from gpuetl.spec.steps.join import KINDS
from gpuetl.spec.synonyms import SYNONYMS
from gpuetl.types.data_types import NAMED
from spec.pipelines import problems_after_head, stage


@pytest.mark.parametrize(
    ("step", "meant"),
    [
        ("where: amount > 1", "filter"), ("group_by: user_id", "aggregate"), ("groupby: user_id", "aggregate"), ("order_by: ts", "sort"), ("orderBy: ts", "sort"),
        ("sort_values: ts", "sort"), ("with_column: {x: 1}", "with_columns"), ("withColumn: {x: 1}", "with_columns"), ("mutate: {x: 1}", "with_columns"),
        ("assign: {x: 1}", "with_columns"), ("head: 3", "limit"), ("fillna: {amount: 0}", "fill_null"), ("concat: txns", "union"), ("UNION ALL: txns", "union"),
        ("flatten: tags", "explode"), ("upsample: {on: ts}", "fill_gaps"), ("merge: {with: txns}", "join"), ("over: {by: user_id}", "window"), ("dedupe: ts", "distinct"),
        ("drop_duplicates: ts", "distinct"), ("dropDuplicates: ts", "distinct"), ("unique: ts", "distinct"), ("astype: {ts: date}", "cast"), ("udf: x", "kernel"),
        ("selct: [ts]", "select"), ("sampel: 0.1", "sample"),
    ],
)  # fmt: skip
def test_a_step_of_another_name_is_reported_with_ours(step, meant):
    (problem,) = problems_after_head(stage(step))
    assert f"unknown step '{step.partition(':')[0]}'" in problem
    assert problem.endswith(f"Did you mean '{meant}'?")


@pytest.mark.parametrize(
    ("step", "meant"),
    [
        ("join: {with: txns, on: user_id, how: outer}", "full"), ("join: {with: txns, on: user_id, how: full_outer}", "full"), ("join: {with: txns, on: user_id, how: LEFT OUTER}", "left"),
        ("join: {with: txns, on: user_id, how: left_anti}", "anti"), ("join: {with: txns, on: user_id, how: leftsemi}", "semi"), ("join: {with: txns, on: user_id, validate: 'm:1'}", "many_to_one"),
        ("join: {with: txns, using: user_id}", "on"), ("aggregate: {group_by: user_id, columns: {n: count(*)}}", "by"), ("aggregate: {by: user_id, aggs: {n: count(*)}}", "columns"),
        ("window: {partition_by: user_id, order_by: ts, columns: {n: row_number()}}", "by"), ("window: {by: user_id, sort: ts, columns: {n: row_number()}}", "order_by"),
        ("distinct: {subset: ts}", "on"), ("sample: {frac: 0.1}", "fraction"), ("sample: {n: 3}", "rows"), ("cast: {status: utf8}", "string"),
        ("cast: {status: int46}", "int64"),
    ],
)  # fmt: skip
def test_a_value_or_key_of_another_name_is_reported_with_ours(step, meant):
    problem = problems_after_head(stage(step))[0]
    assert problem.endswith(f"Did you mean '{meant}'?")


@pytest.mark.parametrize(("mode", "meant"), [("replace", "overwrite"), ("fail", "error"), ("apend", "append")])
def test_a_mode_of_another_name_is_reported_with_ours(mode, meant):
    (problem,) = problems_after_head(f"sinks:\n  out: {{from: txns, parquet: out, mode: {mode}}}\n")
    assert problem.endswith(f"Did you mean '{meant}'?")


def test_a_synonym_that_is_also_a_misspelling_of_another_word_is_read_as_the_synonym():
    """`flatten` is nearer to `filter` than to `explode`, and `unique` to `union`."""
    assert problems_after_head(stage("flatten: tags"))[0].endswith("Did you mean 'explode'?")


def test_every_word_of_the_table_is_one_of_the_language():
    keys = {key for owner in (*STEPS.values(), SourceSpec, SinkSpec, CsvOptions) for key in keys_of(owner)}
    modes = [
        "error",
        "overwrite",
        "append",
        "replace_partitions",
        "upsert",
        "one_to_one",
        "many_to_one",
        "one_to_many",
        "many_to_many",
    ]
    assert SYNONYMS.keys() <= {*STEPS, *NAMED, *keys, *KINDS, *AsofKeys.__annotations__, *modes, "from", "steps"}


def test_no_synonym_stands_for_two_steps():
    listed = [word for step in STEPS for word in SYNONYMS.get(step, "").split()]
    assert len(listed) == len(set(listed))
    assert not {word.replace("_", "") for word in STEPS} & set(listed)

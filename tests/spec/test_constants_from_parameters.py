"""Parameters in the places of constants: in keys of steps, rules, sources and sinks, checked as written values are."""

from datetime import date
from decimal import Decimal

import pytest

import gpuetl as ge
from gpuetl import InvalidPipeline, Pipeline, param
from tables import table, write_source

HEAD = """\
gpuetl: 1
name: shop
params:
  n: {type: int64, default: 2}
  share: {type: float64, default: 0.5}
  least: {type: int64, default: 0}
  regions: {type: list<string>, default: [EU, US]}
  mode: {type: string, default: overwrite}
  mark: {type: string, default: "-"}
  other: {type: string, default: AS}
sources:
  sales: {csv: sales.csv, nulls: ["", $mark], schema: {region: string, x: int64}}
stages:
  top:
    from: sales
    steps:
      - STEP
    expect:
      - RULE
sinks:
  out: {from: top, csv: out.csv, mode: $mode}
"""
LIMITED = HEAD.replace("STEP", "limit: $n").replace("RULE", "rows: {max: $n}")
ROWS = "region,x\nEU,1\nUS,-\nAS,3\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sales.csv").write_text(ROWS)
    return tmp_path


def run(text, folder, **params):
    return ge.loads(text, folder).run(params, engine="pandas", keep="top")["top"].to_arrow().to_pylist()


def problem(text, folder, **params):
    with pytest.raises(InvalidPipeline) as caught:
        ge.loads(text, folder).plan(params)
    return str(caught.value)


@pytest.mark.parametrize(
    ("params", "rows"),
    [
        ({}, [("EU", 1), ("US", None)]),
        ({"n": "1"}, [("EU", 1)]),
        ({"n": 0}, []),
        ({"n": 2, "mark": "1"}, [("EU", None), ("US", 7)]),
    ],
)
def test_a_key_has_the_value_of_its_parameter(folder, params, rows):
    if "mark" in params:
        (folder / "sales.csv").write_text(ROWS.replace("-", "7"))
    assert run(LIMITED, folder, **params) == [{"region": region, "x": x} for region, x in rows]


def test_a_wrong_value_is_reported_where_the_parameter_stands(folder):
    assert problem(LIMITED.replace("\n    expect:\n      - rows: {max: $n}", ""), folder, n=-1) == (
        "pipeline.yaml:17:16: stage 'top', step 1: takes a whole number from 0, got -1\n"
        "    - limit: $n\n"
        "             ^^\n"
        "It is the value of $n."
    )
    assert problem(LIMITED, folder, mode="overwrit") == (
        "pipeline.yaml:21:40: sink 'out': mode: takes one of error, overwrite, append, replace_partitions, upsert, got 'overwrit'\n"
        "    out: {from: top, csv: out.csv, mode: $mode}\n"
        "                                         ^^^^^\n"
        "Did you mean 'overwrite'? It is the value of $mode."
    )


def test_a_parameter_has_the_type_of_its_key(folder):
    assert "takes a whole number, got text 'overwrite'" in problem(LIMITED.replace("limit: $n", "limit: $mode"), folder)


def test_an_unknown_parameter_is_reported_with_the_near_one(folder):
    assert problem(LIMITED.replace("limit: $n", "sample: {fraction: $shar}"), folder) == (
        "pipeline.yaml:17:28: stage 'top', step 1: fraction: unknown parameter '$shar'\n"
        "    - sample: {fraction: $shar}\n"
        "                         ^^^^^\n"
        "Parameters: $least, $mark, $mode, $n, $other, $regions, $share. Did you mean '$share'?"
    )


@pytest.mark.parametrize(
    ("rule", "params", "broken"),
    [
        ("in: {region: $regions}", {}, "in(region)"),
        ("in: {region: $regions}", {"regions": ["EU", "US", "AS"]}, ""),
        ("in: {region: [EU, $other, US]}", {}, ""),
        ("range: {x: [$least, null]}", {}, ""),
        ("range: {x: [$least, null]}", {"least": 2}, "range(x)"),
        ("{matches: {region: $other}, max_fraction: $share}", {"other": "EU|US"}, ""),
        ("{matches: {region: $other}, max_fraction: $share}", {"other": "EU|US", "share": 0.1}, "matches(region)"),
    ],
)
def test_rules_take_parameters(folder, rule, params, broken):
    pipeline = ge.loads(HEAD.replace("STEP", "limit: 3").replace("RULE", rule), folder)
    if not broken:
        pipeline.run(params, engine="pandas")
        return
    with pytest.raises(ge.ContractBroken, match=broken.replace("(", r"\(").replace(")", r"\)")):
        pipeline.run(params, engine="pandas")


def test_a_required_parameter_may_be_open_when_a_pipeline_is_checked(folder):
    text = LIMITED.replace("n: {type: int64, default: 2}", "n: {type: int64, required: true}")
    ge.loads(text, folder).validate()
    assert "parameter 'n' (int64) has no value" in problem(text, folder)
    with pytest.raises(InvalidPipeline, match="unknown column 'y'"):
        ge.loads(text.replace("- limit: $n", "- limit: $n\n      - select: y"), folder).validate()


@pytest.mark.parametrize(
    "step", ["sample: {fraction: $f}", "sample: {rows: $n}", "join: {with: sales, on: x, how: $s}"]
)
def test_a_step_whose_parameter_is_open_is_no_mistake(folder, step):
    declared = (
        "n: {type: int64, required: true}\n  f: {type: float64, required: true}\n  s: {type: string, required: true}"
    )
    text = LIMITED.replace("n: {type: int64, default: 2}", declared).replace("limit: $n", step)
    ge.loads(text, folder).validate()


def test_a_parameter_that_only_a_key_uses_is_used(folder):
    unused = [str(one) for one in ge.loads(LIMITED, folder).plan().unused]
    assert [line.split("\n")[0] for line in unused] == [
        "pipeline.yaml:5:3: parameter 'share': nothing uses it",
        "pipeline.yaml:6:3: parameter 'least': nothing uses it",
        "pipeline.yaml:7:3: parameter 'regions': nothing uses it",
        "pipeline.yaml:10:3: parameter 'other': nothing uses it",
    ]


def test_two_dollars_stand_for_one(folder):
    (folder / "sales.csv").write_text("region,x\nEU,$mark\n")
    text = LIMITED.replace("$mark]", "$$mark]")
    assert run(text, folder) == [{"region": "EU", "x": None}]
    pipeline = ge.loads(text, folder)
    assert pipeline.spec.sources["sales"].options.nulls.default == ("", "$mark")
    assert "$$mark" in pipeline.to_yaml()


def test_yaml_keeps_parameters(folder):
    pipeline = ge.loads(LIMITED, folder)
    again = ge.loads(pipeline.to_yaml(), folder)
    assert again.spec == pipeline.spec
    assert again.run({"n": 1}, engine="pandas", keep="top")["top"].to_arrow().num_rows == 1


def test_python_takes_parameters(tmp_path):
    pipeline = Pipeline("p", root=tmp_path)
    n, mode = pipeline.param("n", "int64", 2), pipeline.param("mode", "string", "overwrite")
    regions = pipeline.param("regions", "list<string>", ["EU"])
    t = write_source(pipeline, "t", table({"region": "string", "x": "int64"}, ("EU", 1), ("EU", 2), ("US", 3)))
    top = t.limit(n).expect(in_={"region": regions}, rows=(None, param("n"))).stage("top")
    top.write_csv("out", "out.csv", mode=mode)
    assert pipeline.run({"n": 1}, engine="pandas", keep="top")["top"].to_arrow().num_rows == 1
    with pytest.raises(ge.ContractBroken):
        pipeline.run({"n": 3}, engine="pandas")
    assert ge.loads(pipeline.to_yaml(), tmp_path).spec == pipeline.spec
    assert "limit: $n" in pipeline.to_yaml()


def test_a_test_uses_the_parameters_of_its_own(folder):
    text = (
        LIMITED
        + """\
tests:
  - name: one
    params: {n: 1, regions: [EU]}
    given: {sales: [{region: EU, x: 1}, {region: EU, x: 2}]}
    expect: {top: [{x: 1}]}
"""
    )
    report = ge.loads(text, folder).test(engine="pandas")
    assert report.passed


# Lists, structs and maps.

NESTED = """\
gpuetl: 1
name: shop
params:
  regions: {type: list<string>, default: [EU, US]}
  limits:  {type: "struct<least: int64, most: decimal(4,2), days: list<date>>", default: {least: 1, most: 0.10, days: [2026-11-01]}}
  rates:   {type: "map<string, float64>", default: {EU: 1.5, US: 2.5}}
sources:
  sales: {csv: sales.csv, nulls: [""], schema: {region: string, x: int64}}
stages:
  top:
    from: sales
    steps:
      - STEP
"""


def test_values_have_their_types():
    spec = ge.loads(NESTED.replace("STEP", "limit: 1")).spec
    assert spec.parameters["regions"].default == ("EU", "US")
    assert spec.parameters["limits"].default == {"least": 1, "most": Decimal("0.10"), "days": (date(2026, 11, 1),)}
    assert spec.parameters["rates"].default == {"EU": 1.5, "US": 2.5}


SALES = {"region": "string", "x": "int64"}
SOLD = [("EU", 1), ("US", None), ("AS", 3), (None, 0)]


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("expression", "params", "values"),
    [
        ("region IN $regions", {}, [True, True, False, None]),
        ("region NOT IN $regions", {}, [False, False, True, None]),
        ("region IN $regions", {"regions": []}, [False, False, False, None]),
        ("list_contains($regions, region)", {"regions": "[AS]"}, [False, False, True, None]),
        ("$rates[region]", {}, [1.5, 2.5, None, None]),
        ("$rates['US']", {}, [2.5] * 4),
        ("$regions[1]", {}, ["EU"] * 4),
        ("$regions[-1]", {}, ["US"] * 4),
        ("$regions[3]", {}, [None] * 4),
        ("list_length($regions)", {"regions": ["x"]}, [1] * 4),
        ("x >= $limits.least", {}, [True, None, True, False]),
        ("$limits['least'] + x", {}, [2, None, 4, 1]),
        ("$limits.most", {}, [Decimal("0.10")] * 4),
        ("DATE '2026-11-01' IN $limits.days", {}, [True] * 4),
        ("$limits.days[1]", {}, [date(2026, 11, 1)] * 4),
    ],
)
def test_parts_of_nested_parameters_are_constants(source, answer, pipeline, expression, params, values):
    pipeline.param("regions", "list<string>", ["EU", "US"])
    default = {"least": 1, "most": "0.10", "days": [date(2026, 11, 1)]}
    pipeline.param("limits", "struct<least: int64, most: decimal(4,2), days: list<date>>", default)
    pipeline.param("rates", "map<string, float64>", {"EU": 1.5, "US": 2.5})
    rows = answer(source(table(SALES, *SOLD)).select(y=ge.expr(expression)), params=params)
    assert rows["y"].to_pylist() == values


def test_a_struct_is_a_value_as_a_whole(source, answer, pipeline):
    pipeline.param("point", "struct<x: int64, y: float64>", {"x": 1, "y": 2.5})
    rows = answer(source(table(SALES, ("EU", 1))).select(p=ge.param("point")))
    assert rows["p"].to_pylist() == [{"x": 1, "y": 2.5}]


@pytest.mark.parametrize(
    ("step", "params", "message"),
    [
        ("select: {y: $rates}", {}, "a constant of map<string, float64> cannot stand here as a whole"),
        (
            "filter: region IN $regions",
            {"regions": ["EU", None]},
            "the list has a null, which IN and list_contains never find",
        ),
        ("filter: x IN $regions", {}, "list_contains cannot compare string and int64"),
        ("filter: x > $limits.lest", {}, "no field 'lest'"),
        ("filter: x > $limit.least", {}, "unknown parameter '$limit'"),
        ("limit: 1", {"regions": "EU"}, "'EU' is not a valid list<string>: write it as in YAML, [a, b]"),
        ("limit: 1", {"limits": {"least": 1}}, "the field 'most' of struct<"),
        ("limit: 1", {"limits": "{least: x, most: 1, days: []}"}, "field 'least': 'x' is not a valid int64"),
        ("limit: 1", {"rates": {"EU": "much"}}, "'much' is not a valid float64"),
    ],
)
def test_what_nested_parameters_do_not_take_is_an_error(folder, step, params, message):
    assert message in problem(NESTED.replace("STEP", step), folder, **params)


def test_a_wrong_default_is_reported_at_its_element(folder):
    text = NESTED.replace("[EU, US]", "[EU, {a: 1}]").replace("STEP", "limit: 1")
    assert "default: element 2: takes a string, got a map" in problem(text, folder)


def test_a_path_takes_single_values(folder):
    text = NESTED.replace("csv: sales.csv", 'csv: "${params.regions}.csv"').replace("STEP", "limit: 1")
    assert "a path takes single values, and the parameter is list<string>" in problem(text, folder)


def test_nested_values_are_written_and_read_again():
    pipeline = ge.loads(NESTED.replace("STEP", "filter: region IN $regions"))
    assert ge.loads(pipeline.to_yaml()).spec == pipeline.spec


def test_an_option_of_a_store_takes_single_values(folder):
    text = NESTED.replace("csv: sales.csv", 'csv: "s3://shop/sales.csv", storage_options: {region: $regions}')
    found = problem(text.replace("STEP", "limit: 1"), folder)
    assert "region takes a single value, and parameter 'regions' is list<string>" in found

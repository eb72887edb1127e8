"""Column lineage: literal expectations for every kind of node, and for how transformations combine."""

from __future__ import annotations

import inspect

import pytest

from command import gpuetl
from gpuetl import loads
from gpuetl.plan import nodes
from gpuetl.plan.column_lineage import Transformation, column_lineage, lineage_lines, lineage_of
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node

TEXT = """\
gpuetl: 1
name: small
sources:
  s: {{csv: s.csv, schema: {{id: int64, shop: string, amount: float64, day: date, tags: string}}}}
  t: {{csv: t.csv, schema: {{shop: string, city: string}}}}
  j: {{json: j.jsonl, schema: {{id: int64, words: 'list<string>'}}}}
stages:
  top:
    from: t
    steps: [distinct: {{on: [shop]}}]
  out:
    from: {source}
    steps:
{steps}
"""


def lineage(steps, source="s", stage="out"):
    text = TEXT.format(source=source, steps="".join(f"      - {step}\n" for step in steps))
    plan = loads(text).plan(files=False)
    (found,) = column_lineage(plan.stages[stage])
    return [line.strip() for line in lineage_lines("", found)[1:]], plan


CASES = {
    "select": (["select: {id: id, place: shop}"], ["id      identity: s.id", "place   identity: s.shop", "(rows)"]),
    "drop": (["drop: [amount, day, tags]"], ["id      identity: s.id", "shop    identity: s.shop", "(rows)"]),
    "rename": (
        ["select: [id, shop]", "rename: {shop: place}"],
        ["id      identity: s.id", "place   identity: s.shop", "(rows)"],
    ),
    "cast": (["select: {n: CAST(id AS int8)}"], ["n       transformation: s.id", "(rows)"]),
    "constant": (["select: {n: '1'}"], ["n", "(rows)"]),
    "arithmetic": (["select: {n: amount * id}"], ["n       transformation: s.amount, s.id", "(rows)"]),
    "case": (
        ["select: {n: CASE WHEN day > DATE '2026-01-01' THEN amount ELSE id END}"],
        ["n       transformation: s.amount, s.id; conditional: s.day", "(rows)"],
    ),
    "coalesce": (["select: {n: 'coalesce(shop, tags)'}"], ["n       transformation: s.shop, s.tags", "(rows)"]),
    "hash": (["select: {n: md5(shop)}"], ["n       transformation (masked): s.shop", "(rows)"]),
    "with_columns on one of the same name": (
        ["select: [id, amount]", "with_columns: {amount: amount + id}"],
        ["id      identity: s.id", "amount  transformation: s.amount, s.id", "(rows)"],
    ),
    "filter": (
        ["select: [id, amount]", "filter: amount > 1 AND id < 9"],
        ["id      identity: s.id", "amount  identity: s.amount", "(rows)  filter: s.amount, s.id"],
    ),
    "filter on a condition": (
        ["select: {id: id, big: CASE WHEN amount > 1 THEN shop END}", "filter: big IS NULL"],
        [
            "id      identity: s.id",
            "big     transformation: s.shop; conditional: s.amount",
            "(rows)  filter: s.amount, s.shop",
        ],
    ),
    "aggregate": (
        ["aggregate: {by: [shop], columns: {total: sum(amount * 2), n: count(*), ids: count_distinct(id)}}"],
        [
            "shop    identity: s.shop",
            "total   aggregation: s.amount",
            "n",
            "ids     aggregation (masked): s.id",
            "(rows)  group by: s.shop",
        ],
    ),
    "aggregate in an order": (
        ["aggregate: {by: [shop], columns: {last: 'last(amount)'}, order_by: [day]}"],
        ["shop    identity: s.shop", "last    aggregation: s.amount; sort: s.day", "(rows)  group by: s.shop"],
    ),
    "after an aggregate": (
        ["aggregate: {by: [shop], columns: {total: sum(amount)}}", "select: {share: total / 2}", "filter: share > 1"],
        ["share   aggregation: s.amount", "(rows)  filter: s.amount; group by: s.shop"],
    ),
    "distinct": (
        ["select: [shop, amount, day]", "distinct: {on: [shop], keep: first, order_by: [day]}"],
        [
            "shop    identity: s.shop",
            "amount  identity: s.amount",
            "day     identity: s.day",
            "(rows)  group by: s.shop; sort: s.day",
        ],
    ),
    "sort and limit": (
        ["select: [shop, amount]", "sort: [amount desc]", "limit: 3"],
        ["shop    identity: s.shop", "amount  identity: s.amount", "(rows)  sort: s.amount"],
    ),
    "join": (
        ["select: [shop, amount]", "join: {with: t, on: [shop], how: left}"],
        [
            "shop    identity: s.shop",
            "amount  identity: s.amount",
            "city    identity: t.city",
            "(rows)  join: s.shop, t.shop",
        ],
    ),
    "join with a stage": (
        ["select: [shop, amount]", "join: {with: top, on: [shop]}"],
        [
            "shop    identity: s.shop",
            "amount  identity: s.amount",
            "city    identity: t.city",
            "(rows)  join: s.shop, t.shop; group by: t.shop",
        ],
    ),
    "right join": (
        ["select: [shop, amount]", "join: {with: t, on: [shop], how: right}"],
        [
            "shop    identity: t.shop",
            "amount  identity: s.amount",
            "city    identity: t.city",
            "(rows)  join: s.shop, t.shop",
        ],
    ),
    "full join": (
        ["select: [shop, amount]", "join: {with: t, on: [shop], how: full}"],
        [
            "shop    identity: s.shop, t.shop",
            "amount  identity: s.amount",
            "city    identity: t.city",
            "(rows)  join: s.shop, t.shop",
        ],
    ),
    "semi join": (
        ["select: [shop]", "join: {with: t, on: [shop], how: semi}"],
        ["shop    identity: s.shop", "(rows)  join: s.shop, t.shop"],
    ),
    "cross join": (
        ["select: [id]", "join: {with: t, how: cross}"],
        ["id      identity: s.id", "shop    identity: t.shop", "city    identity: t.city", "(rows)"],
    ),
    "union": (
        ["select: {shop: shop, city: tags}", "union: {with: t}"],
        ["shop    identity: s.shop, t.shop", "city    identity: s.tags, t.city", "(rows)"],
    ),
    "window": (
        ["select: [id, shop, amount, day]", "window: {by: [shop], order_by: [day], columns: {n: lag(amount), c: cum_sum(id)}}"],
        [
            "id      identity: s.id",
            "shop    identity: s.shop",
            "amount  identity: s.amount",
            "day     identity: s.day",
            "n       transformation: s.amount; window: s.day, s.shop",
            "c       aggregation: s.id; window: s.day, s.shop",
            "(rows)",
        ],
    ),
    "explode": (
        ["explode: {column: words, index: place}"],
        ["id      identity: j.id", "words   transformation: j.words", "place   transformation: j.words", "(rows)"],
    ),
    "fill_gaps": (
        ["fill_gaps: {by: shop, on: day, every: 1 day}"],
        [
            "id      identity: s.id",
            "shop    identity: s.shop",
            "amount  identity: s.amount",
            "day     transformation: s.day; window: s.day, s.shop; conditional: s.day, s.shop",
            "tags    identity: s.tags",
            "(rows)  conditional: s.day, s.shop",
        ],
    ),
    "explode without empty lists": (
        ["explode: {column: words, keep_empty: false}"],
        ["id      identity: j.id", "words   transformation: j.words", "(rows)  filter: j.words"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_lineage(case):
    steps, expected = CASES[case]
    found, _ = lineage(steps, "j" if "explode" in case else "s")
    assert found == expected


KERNELS = {
    "of rows": (
        "kernel: {body: y = amount * 2;, inputs: [amount], outputs: {y: float64}, reference: 'twin.py:f'}",
        ["y       transformation: s.amount", "(rows)"],
    ),
    "scan": (
        "kernel: {combine: y = a.y + b.y;, identity: y = 0;, inputs: amount, outputs: {y: float64}, by: shop, "
        "order_by: day, reference: 'twin.py:f'}",
        ["y       transformation: s.amount; window: s.day, s.shop", "(rows)"],
    ),
    "reduction": (
        "kernel: {map: amount * amount, reduce: a + b, identity: 0, inputs: amount, outputs: {y: float64}, by: shop, "
        "reference: 'twin.py:f'}",
        ["shop    identity: s.shop", "y       aggregation: s.amount", "(rows)  group by: s.shop"],
    ),
}


@pytest.mark.parametrize("case", KERNELS)
def test_kernels(case, tmp_path, monkeypatch):
    (tmp_path / "twin.py").write_text("def f(**inputs):\n    return {}\n")
    monkeypatch.chdir(tmp_path)
    step, expected = KERNELS[case]
    found, _ = lineage([step])
    assert found[-len(expected) :] == expected


def test_rules_that_drop_rows():
    text = TEXT.format(source="s", steps="      - select: [id, amount]\n") + (
        "    expect: [{not_null: [id], on_fail: drop}]\n"
    )
    plan = loads(text).plan(files=False)
    (found,) = column_lineage(plan.stages["out"])
    assert lineage_lines("", found)[-1].strip() == "(rows)  filter: s.id"


def test_the_quarantine_of_a_source():
    text = TEXT.format(source="s.rejected", steps="      - select: [line, text]\n").replace(
        "tags: string}", "tags: string}, on_bad_row: quarantine"
    )
    plan = loads(text).plan(files=False)
    (found,) = column_lineage(plan.stages["out"])
    assert [line.strip() for line in lineage_lines("", found)[1:]] == [
        "line",
        "text    transformation: s.amount, s.day, s.id, s.shop, s.tags",
        "(rows)",
    ]


def test_each_kind_of_node_has_a_rule():
    kinds = {one for one in vars(nodes).values() if inspect.isclass(one) and issubclass(one, Node)}
    without = {one.__name__ for one in kinds if lineage_of.dispatch(one) is lineage_of.dispatch(Node)}
    physical = {"Vocabularies", "VocabularyPart", "VocabularyLookups"}  # which lowering makes of logical ones
    assert without - {"Grouped"} - physical == set()  # Grouped is the base of windows and kernels


def test_a_kind_without_a_rule_depends_on_all():
    _, plan = lineage(["filter: id > 1"])
    node = plan.stages["out"]

    class Other(Node):
        def output_schema(self, *schemas):
            return node.schema.select(["id"])

    (source,) = column_lineage(node)
    found = lineage_of(Other(), source)
    assert lineage_lines("", found)[1:] == [
        "  id      transformation: s.amount, s.day, s.id, s.shop, s.tags",
        "  (rows)  filter: s.id",
    ]


def test_it_is_the_same_on_the_optimized_plan():
    from gpuetl.optimize import optimize

    _, plan = lineage(CASES["after an aggregate"][0])
    plan = plan.keeping(["out"])
    before, after = column_lineage(*plan.roots), column_lineage(*optimize(plan).plan.roots)
    assert {name: dict(one) for name, one in before[0].columns.items()} == {
        name: dict(one) for name, one in after[0].columns.items()
    }
    assert any(node.describe().startswith("Filter") for node in walk_graph(*plan.roots))


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ("IDENTITY", "IDENTITY", "IDENTITY"), ("IDENTITY", "TRANSFORMATION", "TRANSFORMATION"),
        ("AGGREGATION", "TRANSFORMATION", "AGGREGATION"), ("TRANSFORMATION", "AGGREGATION", "AGGREGATION"),
        ("CONDITIONAL", "AGGREGATION", "CONDITIONAL"), ("AGGREGATION", "FILTER", "FILTER"), ("WINDOW", "SORT", "SORT"),
    ],
)  # fmt: skip
def test_transformations_combine(first, second, both):
    assert Transformation(first).then(Transformation(second)) == Transformation(both)
    assert Transformation(first, masking=True).then(Transformation(second)) == Transformation(both, masking=True)


def test_the_command_prints_it(tmp_path):
    (tmp_path / "p.yaml").write_text(
        TEXT.format(source="s", steps="      - aggregate: {by: [shop], columns: {total: sum(amount)}}\n")
        + "sinks: {o: {from: out, csv: o.csv}}\n"
    )
    done = gpuetl("graph", tmp_path / "p.yaml", "--columns", "--no-files")
    assert done.stdout == (
        "sink o\n  shop    identity: s.shop\n  total   aggregation: s.amount\n  (rows)  group by: s.shop\n"
    )
    (tmp_path / "p.yaml").write_text(TEXT.format(source="s", steps="      - filter: id > 1\n"))
    assert (
        "stage out\n  id      identity: s.id\n"
        in gpuetl("graph", tmp_path / "p.yaml", "--columns", "--no-files").stdout
    )

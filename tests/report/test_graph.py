"""Graphs drawn as SVG and Mermaid: what stands in them, that nothing overlaps, and any text in them."""

from itertools import combinations, pairwise
from xml.etree import ElementTree as ET

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl.options import RunOptions
from gpuetl.pipeline import Pipeline, loads
from gpuetl.report.graph import Graph, GraphEdge, GraphNode, draw_svg, mermaid
from gpuetl.report.graph_layout import (
    Box,
    Layout,
    crossings,
    layered,
    layers_of,
    levels_of,
    neighbours_of,
    ordered,
    paths_of,
)
from gpuetl.report.pipeline_graph import graph_of, pipeline_graph
from gpuetl.run.planning import lowered

SVG = "{http://www.w3.org/2000/svg}"
DIAMOND = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("a", "d")]


def boxes(names: str) -> dict[str, Box]:
    return {name: Box(100, 30 + 20 * number) for number, name in enumerate(names)}


def overlapping(layout: Layout, sizes: dict[str, Box]) -> list[tuple[str, str]]:
    def overlap(one: str, other: str) -> bool:
        (x, y), (to_x, to_y) = layout.places[one], layout.places[other]
        return (
            x < to_x + sizes[other].along
            and to_x < x + sizes[one].along
            and y < to_y + sizes[other].across
            and to_y < y + sizes[one].across
        )

    return [pair for pair in combinations(layout.places, 2) if overlap(*pair)]


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def test_layers_follow_the_longest_path() -> None:
    assert levels_of("abcd", [("a", "b"), ("b", "c"), ("a", "c"), ("d", "c")]) == {"a": 0, "b": 1, "c": 2, "d": 1}


def test_edges_lead_ahead_and_boxes_do_not_overlap() -> None:
    sizes = boxes("abcd")
    layout = layered(sizes, DIAMOND)
    assert overlapping(layout, sizes) == []
    for (source, target), route in zip(DIAMOND, layout.routes, strict=True):
        assert route[0].along == layout.places[source].along + 100
        assert route[-1].along == layout.places[target].along
        assert [point.along for point in route] == sorted(point.along for point in route)


def test_a_long_edge_passes_between_boxes() -> None:
    sizes = boxes("abcd")
    layout = layered(sizes, DIAMOND)
    for along, across in layout.routes[4][1:-1]:
        for name in "bc":
            place = layout.places[name]
            inside = place.along < along < place.along + 100
            assert not (inside and place.across < across < place.across + sizes[name].across)


def test_crossings_that_can_be_undone_are() -> None:
    edges = [("a", "y"), ("b", "x"), ("x", "q"), ("y", "p")]
    levels = levels_of("abxypq", edges)
    paths = paths_of(edges, levels)
    layers, neighbours = layers_of("abxypq", levels, paths), neighbours_of(paths)
    assert crossings(layers, neighbours) == 2
    assert crossings(ordered(layers, neighbours), neighbours) == 0


def test_a_cycle_is_laid_out_with_one_edge_that_runs_back() -> None:
    sizes = boxes("abc")
    layout = layered(sizes, [("a", "b"), ("b", "c"), ("c", "a"), ("b", "b")])
    back = [route[0].along > route[-1].along for route in layout.routes[:3]]
    assert back == [False, False, True]
    assert layout.routes[3] == []
    assert overlapping(layout, sizes) == []


def test_a_deep_graph_and_a_graph_of_many_long_edges_are_laid_out() -> None:
    names = [str(number) for number in range(3_000)]
    chain = [*pairwise(names)]
    sizes = dict.fromkeys(names, Box(10, 10))
    assert layered(sizes, chain).places["2999"].along == 2_999 * 66
    assert len(layered(sizes, [*chain, *((names[0], name) for name in names[2:])]).routes) == 5_997


def test_no_nodes_are_a_picture_too() -> None:
    assert ET.fromstring(draw_svg([], [])).tag == f"{SVG}svg"
    assert mermaid([], []) == "flowchart LR\n"


@pytest.mark.parametrize("drawn", [draw_svg, mermaid])
def test_an_edge_to_nowhere_is_an_error(drawn) -> None:
    with pytest.raises(ValueError, match="'b', which is not a node"):
        drawn([GraphNode("a", "a")], [GraphEdge("a", "b")])


def test_svg_has_titles_lines_columns_labels_and_marks() -> None:
    nodes = [
        GraphNode("s", "flights", "source", "parquet", columns=(("origin", "string"), ("delay", "int32"))),
        GraphNode("t", "routes", lines=("1 filter delay > 0",), status="failed", tooltip="why", link="#routes"),
    ]
    svg = draw_svg(nodes, [GraphEdge("s", "t", "336,776 rows · 0.12 s")], title="hello")
    assert texts(svg) == [
        "parquet", "flights", "origin", "string", "delay", "int32", "routes", "✗", "1 filter delay > 0",
        "336,776 rows · 0.12 s",
    ]  # fmt: skip
    root = ET.fromstring(svg)
    assert root.attrib["aria-label"] == "hello"
    assert [link.attrib["href"] for link in root.iter(f"{SVG}a")] == ["#routes"]
    assert [title.text for title in root.iter(f"{SVG}title")][2:] == ["why", "failed"]


def test_columns_beyond_the_limit_are_counted() -> None:
    columns = tuple((f"c{number}", "int64") for number in range(7))
    assert texts(draw_svg([GraphNode("a", "a", columns=columns)], [], most_columns=2)) == [
        "a", "c0", "int64", "c1", "int64", "… 5 more columns",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "a\"b'c & d", "\x00\x1b[31m", "日本語", "\ud800", "]]>"])
def test_any_text_is_drawn_as_text(text: str) -> None:
    node = GraphNode(text, text, text, text, (text,), ((text, text),), "ok", text, f"#{text}")
    svg = draw_svg([node], [GraphEdge(text, text, text)], title=text)
    root = ET.fromstring(svg.encode())
    assert root.find(f".//{SVG}script") is None
    assert "<script" not in mermaid([node], [GraphEdge(text, text, text)])


def test_boxes_are_wide_enough_for_their_text() -> None:
    svg = draw_svg([GraphNode("a", "a", lines=("日" * 20,))], [])
    assert float(ET.fromstring(svg).attrib["width"]) > 40 * 7


def test_direction_down_swaps_the_extent() -> None:
    graph = [GraphNode(name, name) for name in "abcde"], [GraphEdge(*pair) for pair in ("ab", "bc", "cd", "de")]
    size = ET.fromstring(draw_svg(*graph)).attrib
    down = ET.fromstring(draw_svg(*graph, direction="down")).attrib
    assert float(size["width"]) > float(size["height"])
    assert float(down["width"]) < float(down["height"])


def test_the_style_applies_inside_the_picture_only_and_knows_both_schemes() -> None:
    style = ET.fromstring(draw_svg([GraphNode("a", "a")], [])).find(f"{SVG}style")
    assert style is not None
    rules = (style.text or "").replace("@media (prefers-color-scheme:dark){", "").split("}")
    assert all(".gpuetl-graph" in rule for rule in rules if rule)
    assert "prefers-color-scheme:dark" in (style.text or "")


PIPELINE = """
gpuetl: 1
name: shop
sources:
  orders: {csv: orders.csv, schema: {id: int64, status: string, total: float64}}
  states: {csv: states.csv, schema: {status: string}}
stages:
  paid:
    from: orders
    steps:
      - filter: status = 'paid'
      - join: {with: states, on: status}
    expect:
      - references: {status: states.status}
      - {that: total > 0, on_fail: quarantine}
  wrong: {from: paid.rejected, steps: [{limit: 3}]}
sinks:
  out: {parquet: out.parquet, from: paid}
"""


def test_graph_of_a_pipeline(tmp_path) -> None:
    (tmp_path / "orders.csv").write_text("id,status,total\n1,paid,2\n")
    (tmp_path / "states.csv").write_text("status\npaid\n")
    pipeline = loads(PIPELINE, tmp_path)
    graph = pipeline_graph(pipeline.spec, pipeline.plan())
    assert graph.edges == [
        GraphEdge("source orders", "stage paid"),
        GraphEdge("source states", "stage paid", "join"),
        GraphEdge("source states", "stage paid", "references", dashed=True),
        GraphEdge("stage paid", "stage wrong", "rejected"),
        GraphEdge("stage paid", "sink out"),
    ]
    paid = graph.nodes[2]
    assert (paid.key, paid.title, paid.kind) == ("stage paid", "paid", "stage")
    assert paid.lines[:2] == ("1 filter status = 'paid'", "2 join with: states, on: status")
    assert paid.columns == (("id", "int64"), ("status", "string"), ("total", "float64"))
    assert mermaid(*graph).startswith('flowchart LR\n    n0[("<b>orders</b><br/>csv<br/>orders.csv")]\n')


def test_a_name_that_is_not_declared_is_a_node_that_failed() -> None:
    graph = pipeline_graph(loads(PIPELINE.replace("from: orders", "from: order")).spec)
    assert [(node.key, node.status) for node in graph.nodes if node.status] == [("source order", "failed")]


def test_graph_of_a_plan_has_a_node_for_each_operation(tmp_path) -> None:
    (tmp_path / "orders.csv").write_text("id,status,total\n1,paid,2\n")
    (tmp_path / "states.csv").write_text("status\npaid\n")
    plan = loads(PIPELINE, tmp_path).plan()
    graph = graph_of(plan)
    assert isinstance(graph, Graph)
    assert len(graph.nodes) == len(plan.nodes)
    assert {node.title for node in graph.nodes} >= {"Read", "Filter", "Join", "Write"}


def test_graph_of_a_physical_plan_has_exchanges_and_expected_rows(tmp_path) -> None:
    pq.write_table(pa.table({"id": range(10)}), tmp_path / "t.parquet", row_group_size=5)
    pipeline = Pipeline("p", root=tmp_path)
    pipeline.read_parquet("t", "t.parquet").sort("id").stage("s").write_csv("out", "out.csv")
    plan, _ = lowered(pipeline.plan(), RunOptions(partition_rows=5), "pandas")
    graph = graph_of(plan)
    assert {node.title for node in graph.nodes} >= {"Read", "Sort", "Exchange", "Write"}
    assert graph.edges[-1] == GraphEdge(graph.edges[-1].source, "sink out", "~10 rows")
    assert texts(draw_svg(*graph))

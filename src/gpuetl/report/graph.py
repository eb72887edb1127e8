"""Draw a graph of boxes and edges as SVG or Mermaid: a pipeline's sources, stages and sinks, or a plan's nodes.

    nodes = [GraphNode("flights", "flights", "source", "parquet"), GraphNode("routes", "routes", status="ok")]
    edges = [GraphEdge("flights", "routes", "336,776 rows · 0.12 s")]
    svg = draw_svg(nodes, edges)

The SVG stands alone: no scripts, no files, no fonts of its own.  Its rules apply inside it only, so that a page may
have several.  It follows the reader's light or dark scheme, and that of JupyterLab.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Literal, NamedTuple, TypeAlias
from unicodedata import east_asian_width

from gpuetl.messages import cut, one_line
from gpuetl.records import dataclass
from gpuetl.report.graph_layout import Box, Layout, Point, Spacing, layered, spread

Status: TypeAlias = Literal["", "ok", "warning", "failed", "running", "skipped"]
Direction: TypeAlias = Literal["right", "down"]


@dataclass(frozen=True)
class GraphNode:
    """A box: a title with a caption above it, then lines, then columns with their types.

    `key` is what edges name.  `kind` gives the color: `source`, `stage`, `sink`, or another name, which is drawn as a
    stage.  A `tooltip` shows when the pointer rests on the box; `link` is where a click leads.
    """

    key: str
    title: str
    kind: str = "stage"
    caption: str = ""
    lines: tuple[str, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    status: Status = ""
    tooltip: str = ""
    link: str = ""


@dataclass(frozen=True)
class GraphEdge:
    """An arrow from one node to another by their keys, with a label such as `336,776 rows · 0.12 s`.

    A dashed one stands for a relation that is not the main input, such as the rows that a check refers to.
    """

    source: str
    target: str
    label: str = ""
    dashed: bool = False


class Graph(NamedTuple):
    """Nodes and edges, the arguments of `draw_svg` and `mermaid`: `draw_svg(*graph)`."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]


# Sizes in pixels, at a font of 12.


CHARACTER = 7.3
"""Width of a character of the monospaced font, with room for fonts that are wider than most."""
TITLE_CHARACTER, SMALL_CHARACTER = 8.4, 6.7
LINE, PADDING, HEAD, CAPTION = 17, 12, 26, 15
MARGIN = 12
LEAST_WIDTH = 110
MOST_CHARACTERS = 44
"""Of a line in a box; the rest is in its tooltip."""
MOST_LINES, MOST_COLUMNS = 12, 12
RULE = 8
"""Room for the line between a box's lines and its columns."""
LABEL_HEIGHT = 16
MARKS: dict[str, str] = {"ok": "✓", "warning": "!", "failed": "✗", "running": "…", "skipped": "–"}
"""A sign beside the title: a status is not shown by color alone."""
FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"

LIGHT = {
    "back": "#ffffff", "ink": "#1f2328", "faint": "#59636e", "line": "#8c959f", "box": "#f6f8fa",
    "source": "#0969da", "stage": "#6e7781", "sink": "#8250df",
    "ok": "#1a7f37", "warning": "#9a6700", "failed": "#cf222e", "running": "#0969da", "skipped": "#6e7781",
}  # fmt: skip
DARK = {
    "back": "#0d1117", "ink": "#e6edf3", "faint": "#9198a1", "line": "#6e7681", "box": "#161b22",
    "source": "#4493f8", "stage": "#9198a1", "sink": "#ab7df8",
    "ok": "#3fb950", "warning": "#d29922", "failed": "#f85149", "running": "#4493f8", "skipped": "#9198a1",
}  # fmt: skip
KINDS = ("source", "stage", "sink")
SHADES = (*KINDS, *MARKS)


def rules(palette: dict[str, str], scope: str) -> str:
    """Return the rules of a palette for the parts of a graph."""
    lines = [
        f".g-back{{fill:{palette['back']}}}",
        f"text{{fill:{palette['ink']}}}",
        f".g-faint{{fill:{palette['faint']}}}",
        f".g-box{{fill:{palette['box']};stroke:{palette['line']}}}",
        f".g-edge{{stroke:{palette['line']}}}",
        f".g-tip{{fill:{palette['line']}}}",
        *(f".g-{name}{{fill:{palette[name]}}}.g-box.g-{name}{{fill:{palette['box']};stroke:{palette[name]}}}"
          for name in SHADES),
    ]  # fmt: skip
    return "".join(f"{scope} {rule}" for line in lines for rule in line.replace("}.", "}\0.").split("\0"))


STYLE = (
    f".gpuetl-graph text{{font:12px {FONT};white-space:pre}}"
    ".gpuetl-graph .g-title{font-weight:600;font-size:13.5px}"
    ".gpuetl-graph .g-small{font-size:11px}"
    ".gpuetl-graph .g-edge{fill:none;stroke-width:1.5}"
    ".gpuetl-graph .g-dashed{stroke-dasharray:5 4}"
    ".gpuetl-graph .g-rule{stroke-width:.5}"
    + rules(LIGHT, ".gpuetl-graph")
    + f"@media (prefers-color-scheme:dark){{{rules(DARK, '.gpuetl-graph')}}}"
    + rules(LIGHT, '[data-jp-theme-light="true"] .gpuetl-graph')
    + rules(DARK, '[data-jp-theme-light="false"] .gpuetl-graph')
)
"""Light, dark, and JupyterLab's theme, which the reader chooses apart from the system's."""


class Drawn(NamedTuple):
    """A node with the text that its box shows."""

    node: GraphNode
    lines: list[str]
    columns: list[tuple[str, str]]
    more: str

    @property
    def box(self) -> tuple[float, float]:
        """The width and height of the box."""
        name_width = self.name_width
        widths = [
            width_of(cut(self.node.title, MOST_CHARACTERS)) * TITLE_CHARACTER + (16 if self.node.status else 0),
            width_of(cut(self.node.caption, MOST_CHARACTERS)) * CHARACTER,
            *(width_of(line) * CHARACTER for line in self.lines),
            *((name_width + 2 + width_of(dtype)) * CHARACTER for _, dtype in self.columns),
            width_of(self.more) * CHARACTER,
        ]
        rows = len(self.lines) + len(self.columns) + bool(self.more)
        height = HEAD + (CAPTION if self.node.caption else 0) + (rows * LINE + PADDING if rows else 0) + PADDING / 2
        return max(LEAST_WIDTH, max(widths) + 2 * PADDING), height + self.rule

    @property
    def rule(self) -> int:
        """Room between lines and columns, where there are both."""
        return RULE if self.lines and self.columns else 0

    @property
    def name_width(self) -> int:
        """The characters of the longest column name."""
        return max((width_of(name) for name, _ in self.columns), default=0)


def draw_svg(
    nodes: Iterable[GraphNode],
    edges: Iterable[GraphEdge],
    *,
    direction: Direction = "right",
    title: str = "",
    most_columns: int = MOST_COLUMNS,
) -> str:
    """Return a graph as the text of an SVG element, which is also a file.

    Parameters
    ----------
    nodes, edges
        The boxes, and the arrows between them.
    direction
        Where edges lead: `right`, or `down`.
    title
        What a screen reader says of the picture.
    most_columns
        The columns that a box shows; it counts the others.

    Raises
    ------
    ValueError
        For an edge whose end is not a node.
    """
    drawn = {node.key: shown(node, most_columns) for node in nodes}
    arrows = list(edges)
    down = direction == "down"
    boxes = {key: Box(*(one.box[::-1] if down else one.box)) for key, one in drawn.items()}
    lengths = [
        (LABEL_HEIGHT if down else width_of(edge.label) * CHARACTER) if edge.label else 0 for edge in arrows
    ]  # fmt: skip
    spacing = Spacing(across=28, along=48) if down else Spacing()
    layout = layered(boxes, [(edge.source, edge.target) for edge in arrows], lengths, spacing)
    width, height = xy(Point(*layout.extent), down)
    parts = [
        *edge_parts(arrows, layout, down),
        *(part for key, one in drawn.items() for part in node_parts(one, xy(layout.places[key], down))),
        *label_parts(arrows, layout, down),
    ]
    name = escape(one_line(title or f"Graph of {len(drawn)} nodes"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gpuetl-graph" role="img" aria-label="{name}"'
        f' width="{width + 2 * MARGIN:.0f}" height="{height + 2 * MARGIN:.0f}"'
        f' viewBox="{-MARGIN} {-MARGIN} {width + 2 * MARGIN:.0f} {height + 2 * MARGIN:.0f}">'
        f"<title>{name}</title><style>{STYLE}</style>"
        f'<rect class="g-back" x="{-MARGIN}" y="{-MARGIN}" width="100%" height="100%" rx="6"/>'
        f"{''.join(parts)}</svg>"
    )


def shown(node: GraphNode, most_columns: int) -> Drawn:
    """Cut what a box cannot show."""
    lines = [cut(one_line(line), MOST_CHARACTERS) for line in node.lines[:MOST_LINES]]
    if len(node.lines) > MOST_LINES:
        lines.append(f"… {len(node.lines) - MOST_LINES} more")
    columns = [
        (cut(one_line(name), MOST_CHARACTERS // 2), cut(one_line(dtype), MOST_CHARACTERS // 2))
        for name, dtype in node.columns[:most_columns]
    ]
    rest = len(node.columns) - len(columns)
    return Drawn(node, lines, columns, f"… {rest} more columns" if rest else "")


def width_of(text: str) -> int:
    """Return how many characters of the monospaced font a text takes: those of East Asia take two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def xy(point: Point, down: bool) -> tuple[float, float]:
    """Return the place in the picture."""
    return (point.across, point.along) if down else (point.along, point.across)


def node_parts(drawn: Drawn, corner: tuple[float, float]) -> list[str]:
    """Return the parts of a box, in a link if it has one."""
    node, (x, y), (width, height) = drawn.node, corner, drawn.box
    kind = node.kind if node.kind in KINDS else "stage"
    tooltip = one_line(node.tooltip) or tooltip_of(node)
    parts = [
        f'<g transform="translate({x:.1f} {y:.1f})"><title>{escape(tooltip)}</title>',
        f'<rect class="g-box{f" g-{node.status}" if node.status else ""}" width="{width:.1f}" height="{height:.1f}"'
        f' rx="5" stroke-width="{2 if node.status else 1}"/>',
        f'<rect class="g-{kind}" width="5" height="{height - 2:.1f}" x="1" y="1" rx="2.5"/>',
    ]
    line = 0.0
    if node.caption:
        line += CAPTION
        parts.append(text_part(PADDING, line, cut(one_line(node.caption), MOST_CHARACTERS), "g-faint g-small"))
    line += HEAD - 8
    parts.append(text_part(PADDING, line, cut(one_line(node.title), MOST_CHARACTERS), "g-title"))
    if node.status:
        mark = f'<text x="{width - PADDING:.1f}" y="{line:.1f}" text-anchor="end" class="g-title g-{node.status}">'
        parts.append(f"{mark}{MARKS[node.status]}<title>{node.status}</title></text>")
    line += PADDING - 4
    for text in drawn.lines:
        line += LINE
        parts.append(text_part(PADDING, line, text))
    if drawn.rule:
        parts.append(f'<path class="g-edge g-rule" d="M{PADDING} {line + 8:.1f}H{width - PADDING:.1f}"/>')
        line += drawn.rule
    for name, dtype in drawn.columns:
        line += LINE
        parts += [
            text_part(PADDING, line, name),
            text_part(PADDING + (drawn.name_width + 2) * CHARACTER, line, dtype, "g-faint"),
        ]
    if drawn.more:
        parts.append(text_part(PADDING, line + LINE, drawn.more, "g-faint"))
    parts.append("</g>")
    return [f'<a href="{escape(one_line(node.link))}">', *parts, "</a>"] if node.link else parts


def tooltip_of(node: GraphNode) -> str:
    """Return what the box may have cut: its title, lines, and columns."""
    columns = ", ".join(f"{name} {dtype}" for name, dtype in node.columns)
    return cut(one_line("; ".join(part for part in (f"{node.kind} {node.title}", *node.lines, columns) if part)), 2000)


def text_part(x: float, y: float, text: str, kind: str = "") -> str:
    """Return a line of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}"{f" class={kind!r}" if kind else ""}>{escape(text)}</text>'


TIP = 7
"""Length of an arrow's tip."""


def edge_parts(edges: Sequence[GraphEdge], layout: Layout, down: bool) -> list[str]:
    """Return the arrows."""
    parts = []
    for edge, route in zip(edges, layout.routes, strict=True):
        dashed = " g-dashed" if edge.dashed else ""
        if route:
            ahead = 1.0 if route[-1].along >= route[0].along else -1.0
            points = [xy(point, down) for point in route]
            path, end = curve(points, down, ahead), tip(points[-1], down, ahead)
        else:
            x, y = xy(layout.places[edge.source], down)
            path, end = around(x, y), tip((x, y + 12), False, 1.0)
        parts.append(f'<path class="g-edge{dashed}" d="{path}"/><path class="g-tip" d="{end}"/>')
    return parts


def around(x: float, y: float) -> str:
    """Return the path from a box to itself, at its corner."""
    return f"M{x + 24:.1f} {y:.1f}C{x + 24:.1f} {y - 14:.1f} {x - 26:.1f} {y - 14:.1f} {x - TIP:.1f} {y + 12:.1f}"


def curve(points: Sequence[tuple[float, float]], down: bool, ahead: float) -> str:
    """Return a smooth path through points, which leaves and reaches each along the edges."""
    (x, y), *rest = points
    path = [f"M{x:.1f} {y:.1f}"]
    end_x, end_y = rest.pop()  # the line ends inside the tip
    rest.append((end_x, end_y - TIP * ahead) if down else (end_x - TIP * ahead, end_y))
    for to_x, to_y in rest:
        if down:
            middle = (y + to_y) / 2
            path.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
        else:
            middle = (x + to_x) / 2
            path.append(f"C{middle:.1f} {y:.1f} {middle:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
    return "".join(path)


def tip(end: tuple[float, float], down: bool, ahead: float) -> str:
    """Return the path of an arrow's tip at a place."""
    x, y = end
    if down:
        return f"M{x:.1f} {y:.1f}l-4 {-TIP * ahead}h8z"
    return f"M{x:.1f} {y:.1f}l{-TIP * ahead} -4v8z"


def label_parts(edges: Sequence[GraphEdge], layout: Layout, down: bool) -> list[str]:
    """Return the labels of edges, which do not cover each other."""
    places = (
        (number, Point(*layout.labels[number]))
        for number, edge in enumerate(edges)
        if edge.label and layout.routes[number]
    )
    parts = []
    for number, point in places if down else spread(places, LABEL_HEIGHT):
        x, y = xy(point, down)
        label = one_line(edges[number].label)
        wide = width_of(label) * SMALL_CHARACTER + 4
        parts.append(
            f'<rect class="g-back" x="{x - wide / 2:.1f}" y="{y - 7:.1f}" width="{wide:.1f}" height="14" rx="3"/>'
            f'<text class="g-faint g-small" text-anchor="middle" x="{x:.1f}" y="{y + 4:.1f}">{escape(label)}</text>'
        )
    return parts


# Mermaid, which GitHub and many wikis draw.


SHAPES = {"source": '[("{}")]', "sink": '[/"{}"/]'}
BOX = '["{}"]'


def mermaid(nodes: Iterable[GraphNode], edges: Iterable[GraphEdge], *, direction: Direction = "right") -> str:
    """Return a graph as the text of a Mermaid flowchart: titles, lines and labels, without columns.

    Raises
    ------
    ValueError
        For an edge whose end is not a node.
    """
    boxes = {node.key: (f"n{number}", node) for number, node in enumerate(nodes)}
    lines = [f"flowchart {'TD' if direction == 'down' else 'LR'}"]
    for name, node in boxes.values():
        texts = [f"<b>{quoted(node.title)}</b>", *map(quoted, (node.caption, *node.lines[:MOST_LINES]))]
        lines.append(f"    {name}{SHAPES.get(node.kind, BOX).format('<br/>'.join(filter(None, texts)))}")
    for edge in edges:
        for end in (edge.source, edge.target):
            if end not in boxes:
                raise ValueError(f"the edge {edge.source} → {edge.target} ends at '{end}', which is not a node")
        arrow = "-.->" if edge.dashed else "-->"
        label = f'|"{quoted(edge.label)}"|' if edge.label else ""
        lines.append(f"    {boxes[edge.source][0]} {arrow}{label} {boxes[edge.target][0]}")
    for status in MARKS:
        if marked := [name for name, node in boxes.values() if node.status == status]:
            lines += [
                f"    classDef {status} stroke:{LIGHT[status]},stroke-width:2px",
                f"    class {','.join(marked)} {status}",
            ]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """Return a text as Mermaid's quoted strings have it."""
    marks = {'"': "#quot;", "#": "#35;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;"}
    return "".join(marks.get(character, character) for character in cut(one_line(text), 2 * MOST_CHARACTERS))

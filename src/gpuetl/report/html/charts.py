"""Charts as inline SVG without text: they take the width that there is, and labels beside them keep their size."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from gpuetl.report.html.elements import joined, tag

WIDTH, HEIGHT = 1000.0, 100.0
LEAST_WIDTH = 1.5
"""Of an interval, so that a short one is seen."""
Interval = tuple[float, float]
Point = tuple[float, float]


def svg(*children: Markup, height: float = HEIGHT, class_: str = "", label: str = "") -> Markup:
    """Return a drawing that is stretched to its box."""
    return tag(
        "svg", tag("title", label) if label else None, *children,
        viewBox=f"0 0 {WIDTH:g} {height:g}", preserveAspectRatio="none", class_=class_ or None,
        role="img" if label else None, aria_hidden=None if label else "true",
    )  # fmt: skip


def rect(x: float, y: float, width: float, height: float, class_: str = "", title: str = "") -> Markup:
    """Return a rectangle, with a text that shows where the pointer is over it."""
    return tag(
        "rect", tag("title", title) if title else None,
        x=f"{x:.2f}", y=f"{y:.2f}", width=f"{width:.2f}", height=f"{height:.2f}", class_=class_ or None,
    )  # fmt: skip


def strip(intervals: Sequence[Interval], whole_s: float, kind: str, title: str) -> Markup:
    """Return the intervals of a track over the time of a run."""
    scale = WIDTH / whole_s if whole_s else 0.0
    bars = (
        rect(min(start * scale, WIDTH - LEAST_WIDTH), 0, max(LEAST_WIDTH, (end - start) * scale), 10, kind, title)
        for start, end in intervals
    )
    return svg(joined(bars), height=10, class_="strip", label=title)


def area(points: Sequence[Point], most_x: float, most_y: float, kind: str) -> Markup:
    """Return a line through points with the area below it, over 0 to `most_x` and 0 to `most_y`."""
    if not points or not most_x or not most_y:
        return Markup()
    places = [(x / most_x * WIDTH, HEIGHT - y / most_y * HEIGHT) for x, y in points]
    line = " ".join(f"{x:.2f},{y:.2f}" for x, y in places)
    below = f"{places[0][0]:.2f},{HEIGHT:g} {line} {places[-1][0]:.2f},{HEIGHT:g}"
    return joined((tag("polygon", points=below, class_=f"area {kind}"), tag("polyline", points=line, class_=kind)))


def level(y: float, most_y: float, kind: str) -> Markup:
    """Return a horizontal line at a height."""
    at = f"{HEIGHT - y / most_y * HEIGHT:.2f}"
    return tag("line", x1="0", x2=f"{WIDTH:g}", y1=at, y2=at, class_=kind)


def histogram(counts: Sequence[int], titles: Sequence[str], label: str) -> Markup:
    """Return bars side by side, the tallest one as high as the drawing."""
    most, width = max(counts, default=0) or 1, WIDTH / max(len(counts), 1)
    bars = (
        rect(place * width, HEIGHT - shown_height(count, most), width * 0.92, shown_height(count, most), title=title)
        for place, (count, title) in enumerate(zip(counts, titles, strict=True))
        if count
    )
    return svg(joined(bars), class_="histogram", label=label)


def shown_height(count: int, most: int) -> float:
    """Return the height of a bar: few rows are seen, too."""
    return max(2.0, count / most * HEIGHT)

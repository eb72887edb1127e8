"""Elements of the page.  All text passes `tag` or `text`, which escape it: a stage may be named `<script>`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from markupsafe import Markup, escape

from gpuetl.messages import one_line, printable

Child = str | Markup | None
"""What an element holds: text, which is escaped, other elements, or nothing."""
Side = Literal["left", "right"]
EMPTY = Markup()


def text(value: object) -> Markup:
    r"""Return a text on one line, with escapes such as `\n` for control characters."""
    return value if isinstance(value, Markup) else escape(one_line(str(value)))


def tag(name: str, *children: Child, **attributes: str | float | None) -> Markup:
    """Return an element; `class_` is its class, and attributes without a value are left out."""
    inner = Markup("").join(text(child) for child in children if child is not None)
    return Markup("<{}{}>{}</{}>").format(Markup(name), written(attributes), inner, Markup(name))


def written(attributes: dict[str, str | float | None]) -> Markup:
    """Return the attributes of an element."""
    pairs = ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items() if value is not None)
    return Markup("").join(Markup(' {}="{}"').format(Markup(name), text(value)) for name, value in pairs)


def joined(parts: Iterable[Child]) -> Markup:
    """Return elements next to each other."""
    return Markup("").join(text(part) for part in parts if part is not None)


def preformatted(lines: str) -> Markup:
    """Return lines as they are, such as a message with a caret below a column."""
    return Markup("<pre>{}</pre>").format(escape(printable(lines)))


def section(title: str, *children: Child, note: Child = "", class_: str | None = None) -> Markup:
    """Return a section with its heading, and a line below it that says how to read it."""
    key = "".join(sign if sign.isalnum() else "-" for sign in title.lower())
    lead = tag("p", note, class_="lead") if note else None
    return tag("section", tag("h2", title, id=key), lead, *children, aria_labelledby=key, class_=class_)


def details(title: Child, *children: Child, is_open: bool = False) -> Markup:
    """Return a part that the reader unfolds."""
    return tag("details", tag("summary", title), *children, open="open" if is_open else None)


class Column(NamedTuple):
    """A column of a table: its name, and the side at which its cells stand; numbers stand at the right."""

    name: str
    side: Side = "left"


def table(
    caption: str, columns: Sequence[Column], rows: Iterable[Sequence[Child]], classes: Sequence[str | None] = ()
) -> Markup:
    """Return a table in a frame that scrolls by itself; the first cell of a row is its heading.

    `classes` are those of the rows.  Columns without anything in any row are left out.
    """
    cells = [list(row) for row in rows]
    used = [place for place in range(len(columns)) if any(row[place] not in (None, "") for row in cells)]
    heads = (tag("th", columns[at].name, scope="col", class_=side_class(columns[at])) for at in used)
    body = (
        tag("tr", *(cell(row[at], columns[at], is_first=at == used[0]) for at in used), class_=kind)
        for row, kind in zip(cells, [*classes, *[None] * (len(cells) - len(classes))], strict=True)
    )
    whole = tag("table", tag("caption", caption), tag("thead", tag("tr", *heads)), tag("tbody", *body))
    return tag("div", whole, class_="table", tabindex="0", role="region", aria_label=caption)


def cell(content: Child, column: Column, is_first: bool) -> Markup:
    """Return a cell."""
    if is_first:
        return tag("th", content or "", scope="row", class_=side_class(column))
    return tag("td", content or "", class_=side_class(column))


def side_class(column: Column) -> str | None:
    """Return the class of cells at the right."""
    return "number" if column.side == "right" else None


def bar(share: float, label: Child = None, title: str = "", kind: str = "") -> Markup:
    """Return a horizontal bar that is filled up to a share of 1, with a label behind it."""
    width = f"{100 * min(max(share, 0.0), 1.0):.2f}%"
    fill = tag("span", class_=" ".join(filter(None, ("fill", kind))), style=f"width:{width}")
    track = tag("span", fill, class_="track", aria_hidden="true")
    return tag("span", track, tag("span", label or "", class_="label"), class_="bar", title=title or None)


def facts(pairs: Iterable[tuple[str, Child]]) -> Markup:
    """Return names and values as a list of definitions; those without a value are left out."""
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs if value), class_="facts")

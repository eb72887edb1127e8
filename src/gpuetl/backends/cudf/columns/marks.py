"""Where groups and values begin among rows in order: marks of rows that differ from the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuetl.backends.cudf.columns.arrays import fill, filled
from gpuetl.backends.cudf.columns.keys import Keys, index_type
from gpuetl.backends.cudf.columns.unpacked import Unpacked
from gpuetl.backends.cudf.columns.words import Layout
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.machine import Array, Machine


@dataclass(frozen=True, eq=False)
class Marks:
    """Rows (uint8) that differ from the one before: `groups` in the leading keys, `values` in any key; the first does.

    `ties` is the number (uint64) of those that differ in none.
    """

    groups: Array
    values: Array
    ties: Array


def mark_columns(keys: Keys, leading: int, machine: Machine) -> Marks:
    """Mark rows that stand in order, by their columns; the first `leading` keys make the group."""
    count = sum(key.digits for key in keys.keys[:leading])
    if not keys.keys:
        return single(keys.rows, machine)
    parts = [f"differ(digits, before, {digits})" for digits in dict.fromkeys([count, keys.digits]) if digits]
    read = "const auto digits = keys[row], before = keys[previous];"
    source = f"{keys.text}\n{mark_source(keys.parameters, f'const Keys keys = {keys.made()};', read, parts)}"
    return marked(source, keys.rows, count > 0, parts, keys.arguments, machine)


def mark_words(
    words: list[Array], keys: Keys, leading: int, layout: Layout, rows: Array, unpacked: Sequence[Unpacked],
    machine: Machine,
) -> Marks:  # fmt: skip
    """Mark rows in the order `rows`, by their words, and write the columns that are `unpacked` of them."""
    parts, grouped, shift = word_tests(keys, leading, layout)
    parameters = ["int64_t shift", f"const {index_type(rows)}* order"]
    parameters += [f"const uint{8 * word.dtype.itemsize}_t* w{place}" for place, word in enumerate(words)]
    parameters += [parameter for each in unpacked for parameter in each.parameters]
    read = "const int64_t at = order[row], last = order[previous];" + "".join(
        f" const uint64_t x{place} = w{place}[at], y{place} = w{place}[last];" for place in range(len(words))
    )
    stores = [each.store(layout) for each in unpacked]
    source = f"{headers_text(['rows.cuh', 'keys.cuh'])}\n{mark_source(parameters, '', read, parts, stores)}"
    arguments = [shift, rows, *words, *(argument for each in unpacked for argument in each.arguments(layout))]
    return marked(source, keys.rows, grouped, parts, arguments, machine)


def word_tests(keys: Keys, leading: int, layout: Layout) -> tuple[list[str], bool, int]:
    """Return the tests of whether rows differ in their words, for `mark_source`.

    And whether groups can differ, and how many bits stand below those of the group in its last word.
    """
    digits = sum(key.digits for key in keys.keys[:leading])
    group, shift = [], 0
    for place, word in enumerate(layout.words):
        own = [digit for digit in word if digit < digits]
        if own:
            group.append(place)
            shift = layout.shift(word, own[-1])
    count = len(layout.words)
    parts = [" || ".join(f"x{place} != y{place}" for place in range(count))]
    if group and (len(group) < count or shift):
        inner = [f"x{place} != y{place}" for place in group[:-1]]
        parts.insert(0, " || ".join([*inner, f"x{group[-1]} >> shift != y{group[-1]} >> shift"]))
    return parts, bool(group), shift


def mark_source(parameters: list[str], made: str, read: str, parts: list[str], stores: Sequence[str] = ()) -> str:
    """Return the kernel `mark`.

    `read` reads a row and the `previous` one, `parts` are the tests of whether they differ, in the leading keys and in
    all, and `stores` write what else is known of the row.
    """
    names = [f"m{place}" for place in range(len(parts))]
    declared = ", ".join(["int64_t rows", "uint64_t* ties", *(f"uint8_t* {name}" for name in names), *parameters])
    tests = " ".join(f"const bool d{place} = row == 0 || {test};" for place, test in enumerate(parts))
    marks = [f"{name}[row] = d{place};" for place, name in enumerate(names)]
    return f"""KERNEL mark({declared}) {{
    {made}
    Tally ties_met;
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const int64_t previous = row - (row > 0);
        {read}
        {tests}
        {" ".join([*marks, *stores])}
        ties_met.count += !d{len(parts) - 1};
    }}
    ties_met.store(ties);
}}
"""


def marked(source: str, rows: int, grouped: bool, parts: list[str], arguments: list[object], machine: Machine) -> Marks:
    """Run the kernel `mark`; without a test of its own, a group is a run of equal values, or all rows."""
    arrays = machine.arrays
    made = [arrays.empty(rows, "uint8") for _ in parts]
    ties = arrays.zeros(1, "uint64")
    machine.launch(machine.compiled(source), "mark", rows, [rows, ties, *made, *arguments])
    return Marks(made[0] if grouped else first_only(rows, machine), made[-1], ties)


def single(rows: int, machine: Machine) -> Marks:
    """Return the marks of rows that are all equal."""
    first = first_only(rows, machine)
    return Marks(first, first, filled(1, max(0, rows - 1), "uint64", machine))


def first_only(rows: int, machine: Machine) -> Array:
    """Mark the first row."""
    marks = machine.arrays.zeros(rows, "uint8")
    fill(marks[:1], 1, machine)
    return marks

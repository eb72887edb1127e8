"""Rows against rows, each column as far as it can be compared."""

import numpy as np
import pyarrow as pa

from fuzz.duckdb_oracle import stored
from fuzz.precision import Precision
from gpuetl.testing import Tolerance
from gpuetl.verify.tolerance import equal_values, in_canonical_order

EQUAL = Tolerance(0.0, 0.0)
CLOSE, COARSE = Tolerance(1e-9, 1e-9), Tolerance(1e-5, 1e-5)
"""Terms are tame where sums are compared, so their rounding is far below this."""


def assert_same_rows(
    got: pa.Table, expected: pa.Table, precision: dict[str, Precision], least: Precision, ordered: bool, what: str
) -> None:
    """Raise `AssertionError` with some rows unless all columns that are at least so precise are the same.

    Exact columns must be bit-equal, but for the sign of zero and the bits of NaN; rounded ones are close.  Without
    an order rows pair by their exact columns first.
    """
    assert got.column_names == expected.column_names, f"{what}: {got.column_names}, expected {expected.column_names}"
    assert got.num_rows == expected.num_rows, (
        f"{what}: {got.num_rows} rows, expected {expected.num_rows}\n{shown(got, expected)}"
    )
    names = sorted((n for n in got.column_names if precision[n] >= least), key=lambda n: precision[n] < Precision.EXACT)
    if not names:
        return
    got, expected = stored(got.select(names)), stored(expected.select(names))
    if not ordered:
        got, expected = in_order(got), in_order(expected)
    for name in names:
        tolerance = (
            EQUAL
            if precision[name] >= Precision.EXACT
            else CLOSE
            if precision[name] is not Precision.COARSE
            else COARSE
        )
        same = equal_values(got.column(name), expected.column(name), tolerance)
        rows = np.flatnonzero(~same)[:3]
        assert same.all(), (
            f"{what}: column '{name}' differs in row {rows[0]}\n{shown(got.take(rows), expected.take(rows))}"
        )


def in_order(rows: pa.Table) -> pa.Table:
    """Sort by all columns, those that are rounded last; -0.0 is 0.0."""
    return in_canonical_order(rows)


def shown(got: pa.Table, expected: pa.Table) -> str:
    """Return the first rows of both."""
    sides = (("got", got), ("expected", expected))
    return "\n".join(f"  {which:8} {row}" for which, table in sides for row in table.slice(0, 6).to_pylist())

"""Types as values: they are known before a run."""

from __future__ import annotations

from gpuetl.expressions.functions.function import Function, anything
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.types.data_types import STRING
from gpuetl.types.sql_names import sql_type_name


def name_of_type(call: Call) -> Expr:
    """Return the name of an expression's type, a constant."""
    return Literal(sql_type_name(call.args[0].dtype), STRING)


FUNCTIONS = (
    Function("typeof", "x", anything(STRING), "The type of x as DuckDB writes it, which CAST takes as well: `DOUBLE`, `VARCHAR[]`.  "
             "Whole numbers in a text are `BIGINT`.  Never null.", "typeof([1.5])", "DOUBLE[]", nulls="own", nested=True, expansion=name_of_type),
)  # fmt: skip

"""Names that do not exist, or exist twice."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE1003",
        title="unknown column",
        cause="A step or an expression names a column that its input does not have at this point.  The message lists "
        "the columns that it has.",
        fix="Correct the name.  If an earlier step drops, renames or aggregates the column, use its new name, or keep "
        "the column there.",
        example="- filter: amuont > 0",
        message="""\
example.yaml:9:17: stage 'result', step 1: unknown column 'amuont'  [GE1003]
          - filter: amuont > 0
                    ^^^^^^
Columns: amount, day, id. Did you mean 'amount'?""",
        fixed="- filter: amount > 0",
    ),
)

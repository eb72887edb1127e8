"""Pipelines in Python."""

from gpuetl.error_codes.page import ErrorPage

BEGIN = """\
import gpuetl.selectors as cs
from gpuetl import Pipeline, col, when

pipeline = Pipeline("example")
sales = pipeline.read_csv("sales", "sales.csv", schema={"id": "int64", "amount": "float64", "day": "date"})
"""
END = """
result.write_parquet("out", "out.parquet", mode="overwrite")
pipeline.run(engine="pandas")"""


def page(code: str, title: str, cause: str, fix: str, lines: tuple[str, str], message: str) -> ErrorPage:
    """Return the page of an error in a script: `lines` are the wrong line and the right one."""
    wrong, right = (f"{BEGIN}result = {line}{END}" for line in lines)
    return ErrorPage(code, title, cause, fix, wrong, f"gpuetl.errors.{message}", right, "python")


PAGES = (
    page(
        "GE1212",
        "an expression needs a name",
        "A step got an expression by place, and gpuetl does not know the name of the column.  A name inside an expression "
        "is the same error.",
        "Give the name as a keyword, or call alias last.",
        ('sales.with_columns(col("amount") * 2)', 'sales.with_columns((col("amount") * 2).alias("twice"))'),
        """\
InvalidPipeline: with_columns: the expression amount * 2 has no name  [GE1212]
Write name=amount * 2, or (amount * 2).alias('name').""",
    ),
    page(
        "GE1213",
        "over is not possible here",
        "`over` computes aggregates or window functions over groups, for the columns of `with_columns`, `select` and "
        "`filter`.  It takes one kind of them, and an aggregate takes no order.",
        "Give each function its own over, or use an aggregate or window step.",
        (
            'sales.with_columns(total=col("amount").sum().over("day", order_by="id"))',
            'sales.with_columns(total=col("amount").sum().over("day"))',
        ),
        """\
InvalidExpression: sum over a group takes no order_by  [GE1213]
Leave it out, or write cum_sum for the rows so far.""",
    ),
    page(
        "GE1214",
        "a table or an expression has no such method",
        "The method does not exist, or has another name in gpuetl.  Type checkers find it, too.",
        "Write the method that the message names.",
        ('sales.filtre(col("amount") > 0)', 'sales.filter(col("amount") > 0)'),
        """\
UnknownMethod: a table has no method 'filtre'  [GE1214]
Did you mean 'filter'?""",
    ),
    page(
        "GE1215",
        "a string may be a column or a constant",
        "In Polars a string in this place is the name of a column, and in gpuetl a string is a constant.",
        "Write col for the column, or lit for the constant.",
        (
            'sales.with_columns(size=when(col("amount") > 5).then("large").otherwise(None))',
            'sales.with_columns(size=when(col("amount") > 5, "large").end())',
        ),
        """\
InvalidExpression: then got the string 'large', which may be a column or a constant  [GE1215]
Write col('large') for the column, or lit('large') for the string.""",
    ),
    page(
        "GE1216",
        "a selector does not fit",
        "A selector selects no column, or stands where one expression is expected, such as in a filter.",
        "Use selectors in select, with_columns and drop, without a keyword.",
        ("sales.select(cs.string())", "sales.select(cs.numeric())"),
        """\
InvalidExpression: string() selects no column  [GE1216]
Columns: id, amount, day.""",
    ),
    page(
        "GE1217",
        "an expression is used as a Python value",
        "Python asks for a boolean in `and`, `or`, `not`, `if` and in chains such as 1 < x < 3, and an expression has no "
        "value before a run.",
        "Use & | ~, with each comparison in brackets.",
        ('sales.filter(0 < col("amount") < 9)', 'sales.filter((col("amount") > 0) & (col("amount") < 9))'),
        """\
MisusedExpression: an expression cannot be used as a Python boolean: use & | ~ instead of and, or, not  [GE1217]
Write (a > 1) & (a < 3) for 1 < a < 3.""",
    ),
)

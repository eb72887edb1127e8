"""Declarations of pipelines in Python: names that are declared again."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE1740",
        title="a script declares a name twice",
        cause=(
            "A script declares a source, a stage, a sink, a parameter, a storage or a test by a name that it has declared "
            "before, with other contents.  The later declaration replaces the earlier one.  In a notebook, where cells run "
            "again, there is no warning."
        ),
        fix=(
            'Choose another name, or remove the first declaration: `del pipeline.stages["result"]`.  If you mean to '
            "replace it, ignore the warning category `gpuetl.NameReplaced`."
        ),
        kind="python",
        example="""\
import warnings

from gpuetl import Pipeline, col

pipeline = Pipeline("example")
sales = pipeline.read_csv("sales", "sales.csv", {"id": "int64", "amount": "float64", "day": "date"})
with warnings.catch_warnings(record=True) as noted:
    warnings.simplefilter("always")
    sales.filter(col("amount") > 0).stage("result")
    sales.filter(col("amount") < 0).stage("result")
for note in noted:
    print(f"warning: {note.message}")
""",
        message="warning: stage 'result' was declared before; this declaration replaces it  [GE1740]",
        fixed="""\
import warnings

from gpuetl import Pipeline, col

pipeline = Pipeline("example")
sales = pipeline.read_csv("sales", "sales.csv", {"id": "int64", "amount": "float64", "day": "date"})
with warnings.catch_warnings(record=True) as noted:
    warnings.simplefilter("always")
    sales.filter(col("amount") > 0).stage("earned")
    sales.filter(col("amount") < 0).stage("returned")
for note in noted:
    print(f"warning: {note.message}")
""",
    ),
)

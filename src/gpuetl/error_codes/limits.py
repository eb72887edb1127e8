"""Limits: more rows and longer strings than gpuetl computes."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE2030",
        title="a step is certain to give too many rows",
        cause=(
            "The file metadata of the sources states how many rows there are, and a union or a cross join multiplies them.  "
            "A partition has 2,147,483,647 rows at most, and a step 1,099,511,627,776 in all partitions."
        ),
        fix="Filter, aggregate or limit the rows before, or join on keys.",
        example="""\
import pyarrow as pa
from gpuetl import Pipeline

pipeline = Pipeline("example")
numbers = pipeline.from_frame("numbers", pa.table({"n": range(50_000)}))
numbers.join(numbers.rename({"n": "m"}), how="cross").stage("pairs")
pipeline.run(engine="pandas")""",
        message="""\
gpuetl.errors.RunFailed: example.py:6: stage 'pairs', step 1: this gives 2,500,000,000 rows in one partition, and a partition has 2,147,483,647 at most  [GE2030]
    numbers.join(numbers.rename({"n": "m"}), how="cross").stage("pairs")
Filter, aggregate or limit the rows before.""",
        fixed="""\
import pyarrow as pa
from gpuetl import Pipeline

pipeline = Pipeline("example")
numbers = pipeline.from_frame("numbers", pa.table({"n": range(50_000)}))
numbers.join(numbers.limit(10).rename({"n": "m"}), how="cross").stage("pairs")
pipeline.run(engine="pandas")""",
        kind="python",
    ),
    ErrorPage(
        code="GE2031",
        title="a string is too long",
        cause=(
            "A function would make a string of more than 2,147,483,647 bytes.  Arrow and Parquet cannot hold a longer one.  "
            "gpuetl computes the size first, and makes no such string."
        ),
        fix="Repeat or fill to fewer characters, or filter the row out.",
        example="- select: {s: \"repeat(repeat('ab', 100000), 100000)\"}",
        message="""\
example.yaml:9:21: stage 'result', step 1: column 's': repeat(repeat('ab', 100000), 100000) has no result, for abababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababab…, 100000: the string would have 20,000,000,000 bytes, and a string has 2,147,483,647 at most  [GE2031]
    - select: {s: "repeat(repeat('ab', 100000), 100000)"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^""",
        fixed="- select: {s: \"repeat(repeat('ab', 100), 100)\"}",
    ),
)

"""Lists, structs, maps and JSON: values without a result."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE1870",
        title="two lists have different lengths",
        cause="A product or a distance of two lists takes their elements in pairs, and one of the lists is longer.",
        fix="Filter such rows out, or cut the lists: `list_slice(x, 1, 128)`.",
        example="- select: {near: 'list_distance([id, 1], [id])'}",
        message="""\
example.yaml:9:24: stage 'result', step 1: column 'near': list_distance([id, 1], [id]) has no result, for [1, 1], [1]: the lists have different lengths  [GE1870]
    - select: {near: 'list_distance([id, 1], [id])'}
                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Row 2 of sales.csv: id = 1""",
        fixed="- select: {near: 'list_distance([id, 1], [id, 2])'}",
    ),
    ErrorPage(
        code="GE1871",
        title="a list has a null where every element is needed",
        cause="A product or a distance of two lists needs all of their elements, and one is null.",
        fix="Filter such rows out, or write `coalesce(x, 0)` where the list is made.",
        example="- select: {near: 'list_distance([id, 1], [id, NULL])'}",
        message="""\
example.yaml:9:24: stage 'result', step 1: column 'near': list_distance([id, 1], [id, NULL]) has no result, for [1, 1], [1, None]: a list has a null element  [GE1871]
    - select: {near: 'list_distance([id, 1], [id, NULL])'}
                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Row 2 of sales.csv: id = 1""",
        fixed="- select: {near: 'list_distance([id, 1], [id, 0])'}",
    ),
    ErrorPage(
        code="GE1872",
        title="a range has too many numbers",
        cause="`range` or `generate_series` would make a list of more than 16,777,216 numbers in one row.",
        fix="Check start, stop and step, or make several rows of shorter lists.",
        example="- select: {numbers: 'range(id * 1000000000)'}",
        message="""\
example.yaml:9:27: stage 'result', step 1: column 'numbers': range(id * 1000000000) has no result, for 1000000000: more than 16,777,216 numbers  [GE1872]
    - select: {numbers: 'range(id * 1000000000)'}
                        ^^^^^^^^^^^^^^^^^^^^^^^^
Row 2 of sales.csv: id = 1""",
        fixed="- select: {numbers: 'range(id * 1000)'}",
    ),
)

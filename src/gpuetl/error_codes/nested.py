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
        title="a list would be too long",
        cause="`range`, `generate_series` or `list_resize` would make a list of more than 16,777,216 elements in one row, or of a "
        "negative number of them.",
        fix="Check start, stop and step, or the size.  Make several rows of shorter lists.",
        example="- select: {numbers: 'range(id * 1000000000)'}",
        message="""\
example.yaml:9:27: stage 'result', step 1: column 'numbers': range(id * 1000000000) has no result, for 1000000000: more than 16,777,216 numbers  [GE1872]
    - select: {numbers: 'range(id * 1000000000)'}
                        ^^^^^^^^^^^^^^^^^^^^^^^^
Row 2 of sales.csv: id = 1""",
        fixed="- select: {numbers: 'range(id * 1000)'}",
    ),
    ErrorPage(
        code="GE1873",
        title="a key of a map stands twice",
        cause="`map`, `MAP {…}` or `map_from_entries` gets the same key twice in one row.  NaN is one key, and -0.0 is 0.0.",
        fix="Make the keys distinct, or write `map_concat(a, b)`, in which the last value of a key counts.",
        example="- select: {m: \"MAP {1: 'a', id: 'b'}\"}",
        message="""\
example.yaml:9:21: stage 'result', step 1: column 'm': map([1, id], ['a', 'b']) has no result, for [1, 1], ['a', 'b']: a key of the map stands twice  [GE1873]
    - select: {m: "MAP {1: 'a', id: 'b'}"}
                  ^^^^^^^^^^^^^^^^^^^^^^^
Row 2 of sales.csv: id = 1""",
        fixed="- select: {m: \"map_concat(MAP {1: 'a'}, MAP {id: 'b'})\"}",
    ),
    ErrorPage(
        code="GE1874",
        title="a key of a map is null",
        cause="`map`, `MAP {…}` or `map_from_entries` gets a key, or an entry, that is null.  Values may be null.",
        fix="Write `coalesce(x, 'none')` for the key, or leave out such entries: `[e for e in entries if e.key IS NOT NULL]`.",
        example="- select: {m: 'MAP {amount: id}'}",
        message="""\
example.yaml:9:21: stage 'result', step 1: column 'm': map([amount], [id]) has no result, for [None], [3]: a key of the map is null  [GE1874]
    - select: {m: 'MAP {amount: id}'}
                  ^^^^^^^^^^^^^^^^^^
Row 4 of sales.csv: amount = null, id = 3""",
        fixed="- select: {m: 'MAP {coalesce(amount, 0): id}'}",
    ),
    ErrorPage(
        code="GE1875",
        title="an empty list has no first element",
        cause="`list_reduce` begins with the first element of a list, and the list has none.",
        fix="Give a value to begin with: `list_reduce(x, lambda total, e: total + e, 0)`.",
        example="- select: {total: 'list_reduce(range(id - 1), lambda total, e: total + e)'}",
        message="""\
example.yaml:9:25: stage 'result', step 1: column 'total': list_reduce(range(id - 1), lambda total, e: total + e) has no result, for []: an empty list has no first element  [GE1875]
    - select: {total: 'list_reduce(range(id - 1), lambda total, e: total + e)'}
                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Row 2 of sales.csv: id = 1""",
        fixed="- select: {total: 'list_reduce(range(id - 1), lambda total, e: total + e, 0)'}",
    ),
)

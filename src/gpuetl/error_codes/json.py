"""Pages of errors of JSON in strings."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE1860",
        title="a path into JSON is wrong",
        cause="The path of `json_extract` or another function of JSON has a form that is not known.  Or it finds several values: "
        "a path in a list, and one in a column, must find one.",
        fix="""Write `$.a.b[0]`, `$."a.b"` for a key with dots, `$[#-1]` for the last element, `/a/b/0`, or a key alone.""",
        example="""- select: {b: "json_extract_string('{}', '$.a[')"}""",
        message="""\
example.yaml:9:22: stage 'result', step 1: json_extract_string cannot take the path '$.a[', near '['  [GE1860]
    - select: {b: "json_extract_string('{}', '$.a[')"}
                   ^^^^^^^^^^^^^^^^^^^
Write '$.a.b[0]', '$."a.b"', '$[#-1]' for the last element, '/a/b/0', or a key alone.""",
        fixed="""- select: {b: "json_extract_string('{}', '$.a[0]')"}""",
    ),
    ErrorPage(
        code="GE1861",
        title="the structure of JSON is wrong",
        cause="The structure that `from_json` takes is JSON, but no structure, or names a field twice.",
        fix="""Write `STRUCT(a BIGINT, b VARCHAR[])`, or `{"a": "BIGINT", "b": ["VARCHAR"]}`.""",
        example="""- select: {b: "from_json('{}', '[]')"}""",
        message="""\
example.yaml:9:22: stage 'result', step 1: from_json cannot take the structure: [] is not the structure of a value  [GE1861]
    - select: {b: "from_json('{}', '[]')"}
                   ^^^^^^^^^
Write 'STRUCT(a BIGINT, b VARCHAR[])', or '{"a": "BIGINT", "b": ["VARCHAR"]}'.""",
        fixed="""- select: {b: "from_json('{}', '[\\"BIGINT\\"]')"}""",
    ),
    ErrorPage(
        code="GE1862",
        title="a type is not read from JSON",
        cause="`from_json` reads structs, lists, numbers, strings, booleans, dates, times and UUIDs, but no maps, bytes and durations.",
        fix="Read the field as `VARCHAR`, which gives JSON as a string, and take parts of it by `json_extract`.",
        example="""- select: {b: "from_json('{}', 'map<string, int64>')"}""",
        message="""\
example.yaml:9:22: stage 'result', step 1: from_json cannot read map<string, int64> from JSON  [GE1862]
    - select: {b: "from_json('{}', 'map<string, int64>')"}
                   ^^^^^^^^^
Read it as string.""",
        fixed="""- select: {b: "from_json('{}', 'STRUCT(a BIGINT)')"}""",
    ),
    ErrorPage(
        code="GE1863",
        title="a value is not written as JSON",
        cause="JSON has no form for bytes and durations, and no NaN and infinities.",
        fix="Write `to_base64(x)` of bytes, `epoch_us(x)` of a duration, and `CASE WHEN is_finite(x) THEN x END` of floats.",
        example="""- select: {b: "to_json(encode('x'))"}""",
        message="""\
example.yaml:9:22: stage 'result', step 1: to_json cannot write binary as JSON  [GE1863]
    - select: {b: "to_json(encode('x'))"}
                   ^^^^^^^
Write to_base64(x) or hex(x) of binary, and epoch_us(x) of a duration.""",
        fixed="""- select: {b: "to_json(to_base64('x'))"}""",
    ),
    ErrorPage(
        code="GE1864",
        title="a string is not JSON",
        cause="A function of JSON found a string that is not as RFC 8259 has it: a quote or a bracket is missing, there is text "
        "behind the value, or a trailing comma, or it nests in more than 256 levels.",
        fix="Filter such rows out by `json_valid(text)`, or write `CASE WHEN json_valid(text) THEN text ->> '$.a' END`.  "
        "`try_from_json` gives null.",
        example="""- select: {b: "(CAST(id AS string) || '}') ->> '$.a'"}""",
        message="""\
example.yaml:9:21: stage 'result', step 1: column 'b': json_extract_string(CAST(id AS string) || '}', '$.a') has no result, for 1}, $.a: not JSON, or nested in more than 256 levels  [GE1864]
    - select: {b: "(CAST(id AS string) || '}') ->> '$.a'"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Row 2 of sales.csv: id = 1
Leave such rows out by json_valid, or write CASE WHEN json_valid(x) THEN … END.""",
        fixed="""- select: {b: "json_array(id) ->> '$[0]'"}""",
    ),
)

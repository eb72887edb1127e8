"""Lists, structs and maps as text, `[1, NULL]`, `{'a': x}` and `{k=v}`: what casts of text are computed by.

No user calls these functions: `nested_casts.py` puts them together.
"""

from __future__ import annotations

import pyarrow as pa

from gpuetl.expressions.functions.function import Function, fixed
from gpuetl.types.data_types import STRING

STRINGS = pa.list_(STRING)
FORM = fixed(STRING, STRING, returns=STRING)
INTERNAL = {
    function.name: function
    for function in (
        Function("checked_text", "text type!", FORM, "The text, an error unless it has the form of a type.", "", None, can_fail=True),
        Function("try_checked_text", "text type!", FORM, "The same, null for other text.", "", None),
        Function("text_parts", "text what!", fixed(STRING, STRING, returns=STRINGS), "The elements of the text of a list, or the keys or values of that of a map, as they are written; null of NULL.", "", None),
        Function("text_field", "text name!", FORM, "The field of the text of a struct, as it is written; null of NULL, and where there is none.", "", None),
        Function("plain_text", "text", fixed(STRING, returns=STRING), "A part without its quotes and escapes.", "", None),
    )
}  # fmt: skip

"""Values written by a field of a format."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.cuda_types import c_text
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.expressions.format_text import BASES, parse_field
from gpuetl.expressions.ir import Call, Cast, Literal


def formatted(call: Call | Cast, args: Sequence[str]) -> str:
    """Return the code that writes a value by its field."""
    assert isinstance(call, Call)
    written = call.args[1]
    assert isinstance(written, Literal)
    field = parse_field(written.value)
    align = field.align or ("0" if field.zeros else ">")
    separator = {"": "'\\0'", "'": "'\\''"}.get(field.separator, f"'{field.separator}'")
    flags = f"{str(field.plus).lower()}, {separator}"
    fault = "at" if call.function.fails_for(call.args) else "NoFault{}"
    text = f"TextField{{{c_text(field.fill)}, '{align}', {flags}, {field.width}, {field.precision}}}"
    if base := BASES.get(field.kind):
        number = f"uint64_t({args[0]})" if field.bits else args[0]
        return f"put_in_base<{base}>(out, {number}, {text}, '{'A' if field.kind == 'X' else 'a'}')"
    return f"put_formatted(out, {fault}, {args[0]}, {text})"


HEADER = "text_formats.cuh"
FUNCTIONS: dict[str, Device | Library] = {"formatted": Device(formatted, result_form="text")}

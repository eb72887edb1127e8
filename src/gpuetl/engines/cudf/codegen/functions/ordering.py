"""Values as texts whose bytes compare as the values do."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.cuda_types import c_text
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.expressions.functions.ordering import TEXT, VALUE
from gpuetl.expressions.ir import Call, Cast, Literal


def joined(call: Call | Cast, args: Sequence[str]) -> str:
    """Return the statements that write text, and values in the places of its marks."""
    assert isinstance(call, Call)
    form, values = call.args[0], iter(args[1:])
    assert isinstance(form, Literal)
    pieces = []
    for piece in filter(None, re.split(f"([{VALUE}{TEXT}])", form.value)):
        if piece == VALUE:
            pieces.append(f"put_order_or_null(out, {next(values)})")
        elif piece == TEXT:
            pieces.append(f"out.put({next(values)}.value)")
        else:
            pieces.append(f"out.put({c_text(piece)})")
    return "; ".join(pieces)


HEADER = "ordering.cuh"
FUNCTIONS: dict[str, Device | Library] = {"order_join": Device(joined, result_form="text")}

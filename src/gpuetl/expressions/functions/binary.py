r"""Bytes: of a column of type `binary`, `binary(n)` or `uuid`, and those of a string's UTF-8.

A UUID is cast from and to its text, such as `CAST('6f9619ff-8b86-d011-b42d-00c04fc964ff' AS uuid)`, and from and to its 16
bytes.  The text of other bytes is ASCII with escapes: `CAST(unhex('C3A9') AS string)` is `\xC3\xA9`.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.expressions.functions.function import Function, Rule, TypeMismatch, Typing, fixed
from gpuetl.expressions.ir import Expr
from gpuetl.types.data_types import BINARY, INT64, NULL, STRING, DataType, is_binary, is_integer, type_name


def of_bytes(returns: DataType, *, also_text: bool = True) -> Rule:
    """Bytes of any type, or a string."""

    def rule(args: Sequence[Expr]) -> Typing:
        dtype = args[0].dtype
        if not (is_binary(dtype) or dtype == NULL or (also_text and dtype == STRING)):
            raise TypeMismatch(f"takes {'binary or string' if also_text else 'binary'}, got {type_name(dtype)}")
        return [dtype], returns

    return rule


def hex_type(args: Sequence[Expr]) -> Typing:
    """Bytes, a string, or an integer."""
    if is_integer(args[0].dtype):
        return [INT64], STRING
    return of_bytes(STRING)(args)


FUNCTIONS = (
    Function("hex", "x", hex_type, "The bytes of binary or of a string in hexadecimal digits, in upper case; the digits of an integer.",
             "hex('añ')", "61C3B1"),
    Function("bit_length", "x", of_bytes(INT64), "The bits of binary or of a string's UTF-8: 8 of each byte.", "bit_length('añ')", 24),
    Function("unhex", "text", fixed(STRING, returns=BINARY), "The bytes that hexadecimal digits stand for, in either case; an "
             "error for other text.", "unhex('61c3B1')", "añ".encode(), can_fail=True),
    Function("to_base64", "x", of_bytes(STRING), "The bytes of binary or of a string in base64, with padding.",
             "to_base64('añb')", "YcOxYg=="),
    Function("from_base64", "text", fixed(STRING, returns=BINARY), "The bytes of base64 with padding; an error for other text.",
             "from_base64('YcOxYg==')", "añb".encode(), can_fail=True),
    Function("encode", "text", fixed(STRING, returns=BINARY), "The UTF-8 bytes of a string.", "encode('ñ')", "ñ".encode()),
    Function("decode", "x", of_bytes(STRING, also_text=False), "The string of UTF-8 bytes; an error for others.",
             "decode(unhex('C3B1'))", "ñ", can_fail=True),
)  # fmt: skip

"""Hashes: the same on every engine, in every process, for every partition.  `hash` and `bucket` are for samples and shards,
md5 and sha256 for identifiers.

`hash` is XXH64, read as int64.  The first argument has seed 0.  Each further argument has the hash so far as its seed.  It
hashes these bytes:

- integers, booleans, dates (days), timestamps and durations (microseconds): 8 bytes of an int64, little-endian; a uint64 has its
  own 8 bytes.  So equal integers of any width have equal hashes.
- floats: 8 bytes of a float64, with one zero and one NaN (0x7FF8000000000000)
- decimals: 16 bytes of the unscaled int128
- texts: their UTF-8; binary: its bytes; null: the byte 0xFF
- lists, structs and maps: the text by which they are compared (ordering.py), in UTF-8
"""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.expressions.functions.aggregates import counted, of_texts
from gpuetl.expressions.functions.binary import of_bytes
from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.messages import coded
from gpuetl.types.data_types import INT64, STRING, is_integer, type_name

digest = of_bytes(STRING)


def hashed(args: Sequence[Expr]) -> Typing:
    """Values of any types that are compared, kept."""
    return counted(args)


def sharded(args: Sequence[Expr]) -> Typing:
    """A value that is compared, and a positive number of buckets."""
    count = args[1]
    if not is_integer(count.dtype) or (isinstance(count, Literal) and count.value < 1):
        got = repr(count.value) if isinstance(count, Literal) else type_name(count.dtype)
        raise TypeMismatch(coded("GE1106", f"takes a number of buckets from 1, got {got}"))
    return [*counted(args[:1])[0], INT64], INT64


FUNCTIONS = (
    Function("hash", "x more*", hashed, "XXH64 of the values, in order, as int64; never null.", "hash('a')",
             -3292477735350538661, nulls="own", nested=True, rewrite=of_texts),
    Function("bucket", "x n!", sharded, "`hash(x)`, its bits unsigned, modulo n: from 0 to n - 1, never null.  Several "
             "columns: bucket(hash(a, b), n).", "bucket('a', 16)", 11, nulls="own", nested=True, rewrite=of_texts),
    Function("md5", "text", digest, "MD5 of the bytes of binary or of a string, in lower-case hexadecimal.", "md5('a')",
             "0cc175b9c0f1b6a831c399e269772661"),
    Function("sha1", "text", digest, "SHA-1 of the bytes of binary or of a string, in lower-case hexadecimal.", "sha1('a')",
             "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"),
    Function("sha256", "text", digest, "SHA-256 of the bytes of binary or of a string, in lower-case hexadecimal.", "sha256('a')",
             "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"),
)  # fmt: skip

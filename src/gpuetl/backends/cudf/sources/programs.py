"""The programs by which sources are read, beside those of the closed set."""

from __future__ import annotations

from gpuetl.backends.cudf.columns.kind import Kind, Kinds
from gpuetl.backends.cudf.expressions.programs import evaluated
from gpuetl.backends.cudf.machine import Text
from gpuetl.backends.cudf.operation import Needed
from gpuetl.backends.cudf.sources.kinds import scan_kinds
from gpuetl.expressions.ir import Cast, Column, Literal
from gpuetl.expressions.types import STRING
from gpuetl.physical.nodes import Scan


def scan_programs(scan: Scan) -> Needed:
    """List the programs of columns that are in no file, and of casts to the planned types."""
    known, partitions = scan_kinds(scan), scan.read.dataset.partitions
    values, casts = dict[str, Literal](), list[Text]()
    for name, stored in known.stored.items():
        dtype = scan.schema[name]
        if stored is None:
            value = ("" if dtype == STRING else 0) if name in partitions else None
            values[name] = Literal(value, dtype, declared=True)
        else:
            casts += evaluated({"": Cast(Column(name, stored), dtype)}, Kinds({name: Kind.of(stored)})).texts
    return Needed([*evaluated(values, Kinds({})).texts, *casts], known.columns)

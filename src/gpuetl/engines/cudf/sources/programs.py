"""The programs by which sources are read, beside those of the closed set."""

from __future__ import annotations

from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.expressions.programs import evaluated
from gpuetl.engines.cudf.machine import Text
from gpuetl.engines.cudf.operation import Needed
from gpuetl.engines.cudf.sources.kinds import scan_kinds
from gpuetl.expressions.ir import Cast, Column, Literal
from gpuetl.physical.nodes import Scan
from gpuetl.types.data_types import STRING


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

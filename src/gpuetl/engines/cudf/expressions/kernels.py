"""The text of a kernel that computes columns row by row, and of one that writes a text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from gpuetl.engines.cudf.device.columns import ColumnKinds
from gpuetl.engines.cudf.device.headers import headers_text
from gpuetl.engines.cudf.device.types import stored_c_type
from gpuetl.engines.cudf.expressions.casts import cast_headers
from gpuetl.engines.cudf.expressions.constants import Constant, Constants
from gpuetl.engines.cudf.expressions.emit import CAN_BE, MOST_AHEAD, Emitter
from gpuetl.engines.cudf.expressions.functions import HEADERS, scales
from gpuetl.engines.cudf.expressions.zone_tables import zone_table, zones_read
from gpuetl.expressions.ir import Call, Cast, Expr, walk
from gpuetl.records import dataclass

MOST_KEPT = 1024
"""Texts of kernels, by what they compute and read: to write one anew takes longer than to launch it."""


@dataclass(frozen=True)
class RowKernel:
    """A kernel's text, and what a launch has to know of it.

    Parameters
    ----------
    source
        The text.
    sites
        The expressions that may report rows without a result, in their order.
    null_with
        Of each output the columns whose nulls make it null, as in `Value`; an output that names none is never null.
    constants
        Arguments.
    """

    source: str
    sites: Sequence[Expr]
    null_with: Sequence[frozenset[str]]
    constants: list[Constant]

    @property
    def reports(self) -> bool:
        """Whether the kernel takes `faults` and `nulls`."""
        return bool(self.sites) or any(self.null_with)


@lru_cache(MOST_KEPT)
def fixed_kernel(columns: ColumnKinds, outputs: tuple[Expr, ...]) -> RowKernel:
    """Return the kernel `compute` that computes columns of fixed width.

    Its parameters are the rows, `faults` and `nulls` (a count for each output that names columns in `null_with`) if
    there are any, the constants, the columns' buffers, and for each output the values, and validity words if it names
    columns.  The words are 0 where none of the columns has nulls: the output has none either, and nothing is counted.
    """
    constants = Constants()
    emitter = Emitter(columns.names, constants)
    rounds: list[str] = []
    stores: list[str] = []
    sums: list[str] = []
    declared, results, null_with = [], [], []
    for place, expr in enumerate(outputs):
        if len(emitter.loads) >= MOST_AHEAD:
            rounds.append(emitter.round())
        value, stored = emitter.value(expr), stored_c_type(expr.dtype)
        null_with.append(value.null_with)
        results.append(f"{stored}* r{place}")
        if not value.null_with:
            emitter.line(f"r{place}[row] = {stored}({value.text});")
            continue
        results.append(f"uint32_t* s{place}")
        declared.append(f"bool g{place} = false;")
        emitter.line(f"g{place} = {value.valid};")
        emitter.line(f"r{place}[row] = g{place} ? {stored}({value.text}) : {stored}{{}};")
        sums.append(f"add_nulls(nulls + {len(sums)}, missing[{len(sums)}]);")
        stores.append(f"if (s{place}) missing[{len(stores)}] += store_word(s{place}, row, row < rows, g{place});")
    rounds.append(emitter.round())
    reported = ["uint64_t* faults", "uint64_t* nulls"] if emitter.sites or stores else []
    parameters = ["int64_t rows", *reported, *constants.parameters, *columns.parameters, *results]
    body = "\n".join(["    " + text for text in declared] + ["        if (row < rows) {"] + rounds + ["        }"])
    source = f"""{headers(outputs, "words.cuh")}
KERNEL compute({", ".join(parameters)}) {{
{columns.accessors}
    uint32_t missing[{max(1, len(stores))}] = {{}};
    FOR_EACH_ROW(row, rows) {{
    {body}
        {" ".join(stores)}
    }}
    {" ".join(sums)}
}}
"""
    return RowKernel(source, emitter.sites, null_with, constants.values)


@lru_cache(MOST_KEPT)
def text_kernel(columns: ColumnKinds, output: Expr, offset: str = "int32") -> RowKernel:
    """Return the kernels `measure`, which gives each text's size and validity, and `write`, which gives its bytes.

    Their parameters are the rows, `faults`, `nulls` (a count, and the bytes of all texts), the constants, the columns'
    buffers, and sizes after a first 0 and validity words, or offsets of the type `offset` and bytes.
    """
    constants = Constants(strings=True)
    emitter = Emitter(columns.names, constants)
    emitter.text(output, "valid")
    told = ["uint64_t* faults", "uint64_t* nulls"]
    parameters = ", ".join(["int64_t rows", *told, *constants.parameters, *columns.parameters])
    names = ", ".join([*constants.names, *(f"c{place}" for place in range(len(columns.names)))])
    types = ", ".join(f"class C{place}" for place in range(len(columns.names)))
    read = [f"C{place} c{place}" for place in range(len(columns.names))]
    taken = "".join(f", {each}" for each in [*constants.parameters, *read])
    body = emitter.round()
    source = f"""{headers([output], "staging.cuh", "words.cuh", "reduce.cuh")}
template <class OUT{types and ", " + types}>
DEVICE bool write_row(OUT& out, int64_t row, uint64_t* faults{taken}) {{
    bool valid = false;
{body}
    return valid;
}}
KERNEL measure({parameters}, int64_t* sizes, uint32_t* bits) {{
{columns.accessors}
    uint32_t missing = 0;
    Tally bytes;
    FOR_EACH_ROW(row, rows) {{
        bool valid = false;
        if (row < rows) {{
            Measure out;
            valid = write_row(out, row, faults{names and ", " + names});
            sizes[row + 1] = valid ? out.size : 0;
            bytes.count += sizes[row + 1];
        }}
        if (row == 0) sizes[0] = 0;
        missing += store_word(bits, row, row < rows, valid);
    }}
    add_nulls(nulls, missing);
    bytes.store(nulls + 1);
}}
KERNEL write({parameters}, const {offset}_t* offsets, char* bytes) {{
{columns.accessors}
    write_texts(rows, offsets, bytes, [&](int64_t row, char* at) {{
        Bytes out{{at}};
        write_row(out, row, faults{names and ", " + names});
    }});
}}
"""
    return RowKernel(source, emitter.sites, [CAN_BE], constants.values)


def headers(exprs: Collection[Expr], *more: str) -> str:
    """Return the device code that the expressions need, each header once, more of it, and the tables of zones."""
    zones = sorted(zones_read(exprs))
    names = {"rows.cuh", *more, *["zones.cuh"] * bool(zones)}
    for expr in exprs:
        for node in walk(expr):
            if isinstance(node, Call):
                names.add(HEADERS.get(node.function.name, ""))
                names |= {scales.HEADER} if scales.has_scales(node) else set()
            elif isinstance(node, Cast):
                names.update(cast_headers(node))
    text = headers_text(["rows.cuh", *sorted(names - {"", "rows.cuh"})])
    return text + "".join(zone_table(name) for name in zones)

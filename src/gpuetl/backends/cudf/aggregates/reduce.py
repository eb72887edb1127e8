"""The kernels that reduce each group's rows: all states of an aggregate together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from gpuetl.backends.cudf.aggregates.chunks import reduce_groups, reduction_kernels
from gpuetl.backends.cudf.aggregates.groups import Groups
from gpuetl.backends.cudf.aggregates.records import RecordKind, likely_records, record_of
from gpuetl.backends.cudf.aggregates.states import STATES, State
from gpuetl.backends.cudf.columns.kind import Kinds, columns_of_kinds
from gpuetl.backends.cudf.columns.validity import with_nulls
from gpuetl.backends.cudf.columns.written import empty_column
from gpuetl.backends.cudf.device.columns import ColumnKinds, in_kernels
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.device.types import stored_c_type
from gpuetl.backends.cudf.expressions.emit import Emitter
from gpuetl.backends.cudf.expressions.evaluate import columns_read
from gpuetl.backends.cudf.expressions.kernels import MOST_KEPT
from gpuetl.backends.cudf.vector import Vector
from gpuetl.backends.no_result import sum_overflow
from gpuetl.errors import EvaluationError
from gpuetl.expressions.ir import Call, Expr, columns_of
from gpuetl.expressions.types import FLOAT64, NULL


def reduced(groups: Groups, calls: Mapping[str, Call]) -> dict[str, Vector]:
    """Compute calls that have states; raise `EvaluationError` where a sum leaves its type."""
    made: dict[str, Vector] = {}
    for names in in_kernels({name: columns_of(call) for name, call in calls.items()}, groups.frame.columns):
        made |= reduced_together(groups, {name: calls[name] for name in names})
    return made


def reduced_together(groups: Groups, calls: Mapping[str, Call]) -> dict[str, Vector]:
    """Compute as many calls as a kernel takes: see `reduced`."""
    columns = columns_read(calls.values(), groups.frame.columns)
    ordered = groups.rows is not None
    record = record_of(columns, groups.frame.rows, ordered)
    source = reduce_source(ColumnKinds.of(columns), tuple(calls.values()), ordered, record)
    module = groups.machine.compiled(source)
    return finished(groups, calls, module, reduce_groups(groups, module, columns, record=record))


def state_programs(calls: Sequence[Call], frame: Kinds, ordered: bool) -> list[str]:
    """List the programs of `reduced`: `ordered` where rows come by their numbers, as those of unsorted groups do.

    Where there may be many rows, it is not known if they are read by records: see `likely_records`.
    """
    columns, texts = columns_of_kinds(frame.columns), list[str]()
    for places in in_kernels({place: columns_of(call) for place, call in enumerate(calls)}, columns):
        some = tuple(calls[place] for place in places)
        read = columns_read(some, columns)
        records = likely_records(read, frame.rows, ordered)
        texts += [reduce_source(ColumnKinds.of(read), some, ordered, record) for record in records]
    return texts


def finished(groups: Groups, calls: Mapping[str, Call], module: Any, finals: Any) -> dict[str, Vector]:
    """Turn the groups' states into columns."""
    machine = groups.machine
    results = {name: empty_column(call.dtype, groups.count, machine) for name, call in calls.items()}
    state = machine.arrays.zeros(2 * len(calls), "uint64")
    buffers = [buffer for made in results.values() for buffer in (made.data, made.valid)]
    machine.launch(module, "finish", groups.count, [groups.count, finals, state, state[len(calls) :], *buffers])
    told = state.tolist() if groups.count else [0] * 2 * len(calls)
    for (name, call), fault in zip(calls.items(), told[: len(calls)], strict=True):
        if fault:
            raise EvaluationError.of_column(name, sum_overflow(call.dtype))
    pairs = zip(results.items(), told[len(calls) :], strict=True)
    return {name: with_nulls(made, int(count)) for (name, made), count in pairs}


@lru_cache(MOST_KEPT)
def reduce_source(
    columns: ColumnKinds, calls: tuple[Call, ...], ordered: bool, record: RecordKind | None = None
) -> str:
    """Return the kernels' text."""
    states = [STATES[call.function.name](call) for call in calls]
    emitter = Emitter(columns.names)
    for place, (call, state) in enumerate(zip(calls, states, strict=True)):
        emitter.line(f"state.a{place}.add({', '.join(argument(emitter, arg, state) for arg in call.args)});")
    body = emitter.round()
    members = "\n".join(f"    {state.type} a{place};" for place, state in enumerate(states))
    merges = " ".join(f"a{place}.merge(later.a{place});" for place in range(len(states)))
    outputs, stores, sums = [], [], []
    for place, (call, state) in enumerate(zip(calls, states, strict=True)):
        stored = stored_c_type(call.dtype)
        outputs.append(f"{stored}* r{place}, uint32_t* s{place}")
        stores.append(f"""
        bool g{place} = false;
        if (row < rows) {{
            const Fault at{{faults + {place}, row}};
            const auto m = states[row].a{place}.{state.result};
            g{place} = m.valid;
            r{place}[row] = {stored}(m.value);
        }}
        missing[{place}] += store_word(s{place}, row, row < rows, g{place});""")
        sums.append(f"add_nulls(nulls + {place}, missing[{place}]);")
    return f"""{headers_text(["rows.cuh", "aggregates.cuh", "reduce.cuh", "records.cuh", "words.cuh"])}
struct alignas(16) State {{
{members}
    DEVICE void merge(const State& later) {{ {merges} }}
}};
{reduction_kernels(columns, body, ordered, record)}
KERNEL finish(int64_t rows, const State* states, uint64_t* faults, uint64_t* nulls, {", ".join(outputs)}) {{
    uint32_t missing[{len(states)}] = {{}};
    FOR_EACH_ROW(row, rows) {{{"".join(stores)}
    }}
    {" ".join(sums)}
}}
"""


def argument(emitter: Emitter, arg: Expr, state: State) -> str:
    """Return the C++ text of an argument: a `Maybe`, or whether it counts."""
    if arg.dtype == NULL and state.counts:
        return "false"
    value = emitter.value(arg)
    if state.counts:
        return value.valid if state.counts == "valid" else f"{value.valid} && {value.text}"
    if state.type == "Moments" and arg.dtype != FLOAT64:  # how many pairs a part has
        return f"Maybe<double>{{double({value.text}), {value.valid}}}"
    return value.maybe(arg.dtype)

"""The programs of a plan: those of the closed set, and those that its operations ask for, listed by types alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from gpuetl.engines.cudf import handlers  # noqa: F401  operations register what lists their programs
from gpuetl.engines.cudf.codegen.device_headers import FOLDER, closed_programs, closed_source, common_programs
from gpuetl.engines.cudf.codegen.expression_programs import evaluated
from gpuetl.engines.cudf.codegen.machine_code import OPTIONS
from gpuetl.engines.cudf.codegen.nvrtc import UserKernel, is_c_function, named, user_options
from gpuetl.engines.cudf.columns.frame import MAX_ROWS
from gpuetl.engines.cudf.columns.kind import Kind, Kinds, columns_of_kinds
from gpuetl.engines.cudf.gpu_operation import Needed, programs
from gpuetl.engines.cudf.io.source_kinds import scan_programs
from gpuetl.engines.cudf.machine import KernelSource
from gpuetl.engines.cudf.relational.exchange import hash_programs
from gpuetl.engines.cudf.relational.kernel_scan import known_values
from gpuetl.engines.cudf.relational.window import output_programs
from gpuetl.engines.cudf.relational.window_frames import WindowRows
from gpuetl.engines.cudf.relational.window_functions import WINDOW_FUNCTIONS, WindowCall
from gpuetl.errors import first_line
from gpuetl.expressions.ir import Call
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import Scope
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan
from gpuetl.physical.size_estimates import estimated_rows
from gpuetl.physical.stateful_window import StatefulWindow
from gpuetl.physical.window_state_steps import WindowPass
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Kernel, KernelReduction, KernelTable
from gpuetl.types.data_types import FLOAT64, INT64, NAMED, STRING

# Programs that many pipelines ask for and that contain nothing of a pipeline: they are built with the closed set.
#
# Their sources are what a plan's list would have, so a run finds them in the wheel or in the cache as it finds its own.


INT32 = NAMED["int32"]
TEXT, CODED_TEXT = Kind(STRING), Kind.coded(0)
WIDE = [Kind(INT64), Kind(FLOAT64)]
NUMBERS = [Kind(INT32), *WIDE]
EXPRESSIONS = {
    "upper(x)": [TEXT],
    "lower(x)": [TEXT],
    "trim(x)": [TEXT],
    "x IS NOT NULL": [TEXT, CODED_TEXT, *NUMBERS],
    "true": [TEXT],
    "'a text'": [TEXT],
}
"""Expressions of a column `x`, and its kinds.  A text that is a constant is a number in programs."""
FRAMES = {
    "rolling_sum(x, 2)": WIDE,
    "rolling_mean(x, 2)": WIDE,
    "rolling_min(x, 2)": NUMBERS,
    "rolling_max(x, 2)": NUMBERS,
}
"""The length of a frame is an argument.  Narrow integers are widened before they are added."""


def usual_programs() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each program."""
    for sql, kinds in EXPRESSIONS.items():
        for kind in kinds:
            expr = resolve(parse_expression(sql), Scope({"x": kind.dtype}, {}))
            yield from (
                (usual_name(sql, kind), text.source) for text in evaluated({"": expr}, Kinds({"x": kind})).sources
            )
    for sql, kinds in FRAMES.items():
        for kind in kinds:
            yield from (
                (usual_name(sql, kind), text) for text in window_sources(sql, kind) if "KERNEL fold_frames" in text
            )
    for place, text in enumerate(window_sources("row_number()", TEXT)):
        yield f"row_number(), part {place + 1}", text


def usual_name(sql: str, kind: Kind) -> str:
    """Return a program's name."""
    return f"{sql} of {'coded ' if kind.dictionary else ''}{kind.dtype}"


def window_sources(sql: str, kind: Kind) -> list[str]:
    """Return the sources of a call of a window function."""
    call = resolve(parse_expression(sql), Scope({"x": kind.dtype}, {}, ("window",)))
    assert isinstance(call, Call)
    nothing = cast("Any", None)
    rows = WindowRows(columns_of_kinds({"x": kind}), MAX_ROWS, nothing, nothing, nothing)
    return output_programs([WINDOW_FUNCTIONS[call.function.name](WindowCall(call, None, rows.rows))], rows)


# The programs of a plan: those of the closed set, and those that its operations ask for, listed by types alone.
#
# A run compiles its programs beside its first reads; `gpuetl kernel build` does so before a run.  A program that is
# missing here is compiled when the run asks for it, and one that is here in vain costs the time of a core.


CLOSED_SET = "the closed set"
_ENTRY = re.compile(r'^(?:KERNEL|extern "C" __global__ void)\s*(?:__launch_bounds__\([^)]*\))?\s*(\w+)', re.MULTILINE)


class Program(NamedTuple):
    """A text for the compiler; `file` and `name` tell users which one it is."""

    file: str
    name: str
    text: str
    options: tuple[str, ...] = OPTIONS


class ProgramList(NamedTuple):
    """The programs of a plan, and a sentence for each part of it whose programs are not among them."""

    programs: list[Program]
    missing: list[str]


def closed_set() -> list[Program]:
    """Return the programs that contain nothing of a pipeline, with those of usual expressions and window functions."""
    usual = (Program(CLOSED_SET, name, text) for name, text in usual_programs())
    return [*map(of_closed_set, closed_programs()), *usual]


def common_set() -> list[Program]:
    """Return those of the closed set that most plans need."""
    return [of_closed_set(name) for name in common_programs()]


def of_closed_set(name: str) -> Program:
    """Return a program of the closed set."""
    return Program(CLOSED_SET, f"{FOLDER}/{name}.cu", closed_source(name))


def plan_programs(physical: PhysicalPlan, file: str) -> ProgramList:
    """Return the programs of a plan but for those of the closed set; `file` is its pipeline's."""
    walk, found = PlanWalk(physical), list[Program]()
    for text in walk.sources():
        if text.path is None:
            found.append(Program(file, name_of(text.source), text.source))
        elif is_c_function(text.source, text.kernel):
            source = named(text.source, text.path)
            found.append(Program(file, f"kernel '{text.kernel}' ({text.path})", source, user_options(source)))
        else:  # the compiler alone knows its name in machine code
            walk.missing.append(f"kernel '{text.kernel}' ({text.path}), which is not declared extern \"C\"")
    return ProgramList(found, walk.missing)


def user_kernels(operation: Kernel | KernelReduction | KernelTable) -> list[UserKernel]:
    """Return what a step would have compiled of its user's sources, by the schema of its input.

    Raises
    ------
    gpuetl.errors.EvaluationError
        Where an argument has no value.
    """
    known_values(operation)
    kinds = {name: Kind.of(dtype) for name, dtype in operation.source.schema.items()}
    return [UserKernel(text.source, text.path) for text in programs(operation, Kinds(kinds, 1)).sources if text.kernel]


def name_of(source: str) -> str:
    """Return what messages call a generated text: its kernels."""
    return f"kernel {', '.join(dict.fromkeys(_ENTRY.findall(source))) or 'without a name'}"


class PlanWalk:
    """Lists the programs of a physical plan, in the order in which a run first asks for them.

    `missing` gets a sentence for each node whose programs cannot be listed; those above it are.
    """

    def __init__(self, physical: PhysicalPlan) -> None:
        self.physical = physical
        self.rows = estimated_rows(*physical.roots)
        self.kinds: dict[int, Kinds] = {}
        self.missing: list[str] = []

    def sources(self) -> Iterator[KernelSource]:
        """Yield each program once."""
        seen = set[KernelSource]()
        for node in walk_graph(*self.physical.roots):
            try:
                needed = self.needed(node)
            except Exception as error:
                self.missing.append(f"{node.origin} ({first_line(error)})")
                needed = Needed([], {name: Kind.of(dtype) for name, dtype in node.schema.items()})
            self.kinds[id(node)] = Kinds(needed.columns, self.rows[id(node)])
            new = [text for text in dict.fromkeys(needed.sources) if text not in seen]
            seen.update(new)
            yield from new

    def needed(self, node: Physical) -> Needed:
        """List the programs of one node, and the kinds of its columns."""
        frames = [self.kinds[id(child)] for child in node.inputs]
        if isinstance(node, Scan):
            return scan_programs(node)
        if isinstance(node, StatefulWindow):
            return programs_of_window(node, *frames)
        if isinstance(node, Map):
            return programs(node.operation, *frames)
        if isinstance(node, Concat):
            return self.below(node, frames)
        assert isinstance(node, Exchange)
        return Needed(hash_programs(node.keys, frames[0]) if node.route == "hash" else [], frames[0].columns)

    def below(self, node: Concat, frames: list[Kinds]) -> Needed:
        """Put the kinds of several inputs together."""
        first, *others = frames
        for other in others:
            first = Kinds(programs(node.operation, first, other).columns)
        return Needed([], first.columns)


def programs_of_window(node: StatefulWindow, frame: Kinds) -> Needed:
    """List the programs of a window by carries: of its first partition, those between, and the last one."""
    steps = node.steps
    prepared = programs(steps.prepare, frame)
    rows = Kinds(prepared.columns, frame.rows)
    if node.combined:
        passes = [(steps.state_only, [steps.state_only.keep]), (steps.results_only, [steps.results_only.results])]
    else:
        passes = [(own, [own.results, own.keep]) for own in (steps.whole, steps.results_only)]
    sources, needed = prepared.sources, prepared
    for own, branches in passes:
        more, needed = through(own, branches, rows)
        sources = [*sources, *more]
    return Needed(sources, needed.columns)


def through(own: WindowPass, branches: list[tuple[Node, ...]], frame: Kinds) -> tuple[list[KernelSource], Needed]:
    """List the programs of a window and of what follows it in each branch; return what the last branch needs, too."""
    window = programs(own.window, frame)
    sources, last = list(window.sources), window
    for operations in branches:
        last = window
        for operation in operations:
            last = programs(operation, Kinds(last.columns, frame.rows))
            sources += last.sources
    return sources, last

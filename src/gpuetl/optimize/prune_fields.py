"""Read only the fields of structs that somebody wants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gpuetl.expressions.ir import Call, Cast, Column, Expr, Lambda, Literal
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import AsofJoin, ConditionJoin, Explode, Filter, Join, Limit, Project, Read, Sort
from gpuetl.plan.plan import Plan
from gpuetl.types.data_types import DataType
from gpuetl.types.nested_types import field_type, is_struct, struct_of

Path = tuple[str, ...]
"""Names of fields, from the outermost struct inwards; of no name for the whole column."""
Stored = tuple[int, str]
"""A column of a source: the place of its node, and its name."""
WHOLE: Path = ()


def prune_fields(plan: Plan) -> Plan:
    """Let sources read the fields of structs that expressions take, where the whole struct is not wanted.

    A struct is followed through nodes that pass it on with its name, or rename it.  Other nodes, and outputs of the
    plan, want all of it.
    """
    nodes = plan.nodes
    carried, wanted = dict[int, dict[str, Stored]](), dict[Stored, set[Path]]()
    for node in nodes:
        carried[id(node)] = passed_on(node, carried, wanted)
    for root in plan.roots:
        for stored in carried[id(root)].values():
            wanted.setdefault(stored, set()).add(WHOLE)
    types = {stored: paths for stored, paths in wanted.items() if WHOLE not in paths}
    if not types:
        return plan
    done = dict[int, Node]()
    for node in nodes:
        done[id(node)] = narrowed(node, [done[id(child)] for child in node.inputs], types)
    return plan.with_roots(done[id(root)] for root in plan.roots)


def passed_on(
    node: Node, carried: Mapping[int, Mapping[str, Stored]], wanted: dict[Stored, set[Path]]
) -> dict[str, Stored]:
    """Return the structs of sources that a node passes on, by their names there, and note what it wants of them."""
    if isinstance(node, Read):
        names = node.schema if node.dataset.file_format.reads_fields else ()
        return {name: (id(node), name) for name in names if has_plain_fields(name, node.schema[name])}
    inputs = [carried[id(child)] for child in node.inputs]
    if isinstance(node, Filter | Project):
        note_paths(node, inputs[0], wanted)
        renamed = node.passed if isinstance(node, Project) else {name: name for name in inputs[0]}
        return {name: inputs[0][own] for name, own in renamed.items() if own in inputs[0]}
    if isinstance(node, Limit | Sort | Explode):
        exploded = node.column if isinstance(node, Explode) else ""
        return {name: stored for name, stored in inputs[0].items() if name != exploded}
    if isinstance(node, ConditionJoin):
        for structs, read in zip(inputs, node.condition_columns, strict=True):
            for stored in (structs[name] for name in read if name in structs):
                wanted.setdefault(stored, set()).add(WHOLE)
    if isinstance(node, Join | AsofJoin):  # no name stands in both sides, and structs are no keys
        return {name: stored for each in inputs for name, stored in each.items() if name in node.schema}
    for stored in (stored for each in inputs for stored in each.values()):
        wanted.setdefault(stored, set()).add(WHOLE)
    return {}


def note_paths(node: Filter | Project, structs: Mapping[str, Stored], wanted: dict[Stored, set[Path]]) -> None:
    """Note which fields of structs the expressions of a node take; a column that is passed on takes none."""
    for expr in node.expressions:
        if isinstance(node, Project) and isinstance(expr, Column):
            continue
        for name, path in paths_of(expr):
            if name in structs:
                wanted.setdefault(structs[name], set()).add(path)


def has_plain_fields(name: str, dtype: DataType) -> bool:
    """Tell whether a column is a struct whose fields can be named by a path with dots."""
    return "." not in name and is_struct(dtype) and not any("." in field.name for field in dtype)


def paths_of(expr: Expr) -> Iterator[tuple[str, Path]]:
    """Yield the columns that an expression reads, each with the path of the field that it takes."""
    path, inner = list[str](), expr
    while isinstance(inner, Call) and inner.function.name == "struct_extract" and isinstance(inner.args[1], Literal):
        path.append(str(inner.args[1].value))
        inner = inner.args[0]
    if isinstance(inner, Column):
        yield inner.name, tuple(reversed(path))
    elif isinstance(inner, Call):
        for arg in inner.args:
            yield from paths_of(arg)
    elif isinstance(inner, Cast):
        yield from paths_of(inner.operand)
    elif isinstance(inner, Lambda):
        yield from paths_of(inner.body)


def narrowed(node: Node, inputs: list[Node], wanted: Mapping[Stored, set[Path]]) -> Node:
    """Return a node on inputs whose structs may have fewer fields."""
    if isinstance(node, Read):
        own = {name: paths for (place, name), paths in wanted.items() if place == id(node)}
        types = {name: with_fields(node.schema[name], paths) for name, paths in own.items()}
        fields = {name: dtype for name, dtype in types.items() if dtype != node.schema[name]}
        return replace(node, fields=fields) if fields else node
    node = node.with_inputs(inputs)
    if isinstance(node, Filter):
        predicate = retyped(node.predicate, inputs[0])
        return node if predicate is node.predicate else replace(node, predicate=predicate)
    if isinstance(node, Project):
        columns = {name: retyped(expr, inputs[0]) for name, expr in node.columns.items()}
        same = all(columns[name] is expr for name, expr in node.columns.items())
        return node if same else replace(node, columns=columns)
    return node


def with_fields(dtype: DataType, paths: set[Path]) -> DataType:
    """Return a struct with only the fields to which paths lead, in its order; all of one to which a path ends."""
    if WHOLE in paths or not has_plain_fields("", dtype):
        return dtype
    inner = {name: {path[1:] for path in paths if path[0] == name} for name in {path[0] for path in paths}}
    return struct_of({f.name: with_fields(f.type, inner[f.name]) for f in dtype if f.name in inner})


def retyped(expr: Expr, source: Node) -> Expr:
    """Return an expression on columns in the types that the source has; itself where these are the same."""
    if isinstance(expr, Column):
        dtype = source.schema[expr.name]
        return expr if dtype == expr.dtype else Column(expr.name, dtype)
    if isinstance(expr, Cast):
        operand = retyped(expr.operand, source)
        return expr if operand is expr.operand else replace(expr, operand=operand)
    if isinstance(expr, Lambda):
        body = retyped(expr.body, source)
        return expr if body is expr.body else replace(expr, body=body)
    if not isinstance(expr, Call):
        return expr
    args = tuple(retyped(arg, source) for arg in expr.args)
    if all(new is old for new, old in zip(args, expr.args, strict=True)):
        return expr
    if expr.function.name != "struct_extract" or not isinstance(args[1], Literal):
        return replace(expr, args=args)
    return replace(expr, args=args, dtype=field_type(args[0].dtype, str(args[1].value)))

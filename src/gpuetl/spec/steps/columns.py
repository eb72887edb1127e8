"""Steps that choose and compute columns row by row: select, with_columns, drop, rename, cast.  Each is a projection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from gpuetl.expressions.ir import Cast, Column, Expr
from gpuetl.expressions.nested_casts import castable
from gpuetl.expressions.scope import WRONG
from gpuetl.expressions.syntax import Name
from gpuetl.messages import coded
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Project, passing
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import EXPRESSIONS, RENAMES, SELECTION, SOME_NAMES, TYPES
from gpuetl.spec.steps.step import Context, SiblingColumns, Step, Unknown
from gpuetl.spec.steps.struct_fields import ALL_FIELDS, fields_of, inner_struct, report_twice
from gpuetl.spec.values import Formula, Text, node_of
from gpuetl.types.data_types import UNKNOWN, DataType, type_name
from gpuetl.types.nested_types import is_struct
from gpuetl.types.schema import Schema


@dataclass(frozen=True)
class Select(Step):
    """Keep exactly these columns, in this order: `select: [a, b]`, or `select: {a: a, c: a + b}`.

    A list names columns. A map gives each output column an expression. In a list, `s.*` stands for all fields of the
    struct `s`, and `s.b.*` for the fields of a struct inside it.
    """

    verb: ClassVar[str] = "select"
    main: ClassVar[str] = "columns"
    bare: ClassVar[bool] = True
    columns: Mapping[str, Formula] = key(
        SELECTION, doc="the columns to keep, or names of new columns with their expressions"
    )

    def build(self, context: Context, source: Node) -> Node:
        """Project to the columns."""
        schema = source.schema
        columns, kept = dict[str, Expr](), list[str]()
        for name, formula in self.columns.items():
            if formula.syntax == Name(str(name)):
                starred = name.endswith(ALL_FIELDS) and name not in schema
                kept.append(struct_path(name, schema)[0] if starred else name)
                if starred:
                    new = self.fields(name, schema, context)
                    hint = "Compute one of them under another name: select takes a map of names to expressions, too."
                    report_twice("select", new, columns, hint, name, context)
                    columns |= new
                    continue
            expr = context.expression(formula, schema, outputs=SiblingColumns(self.columns, name))
            report_twice("select", (str(name),), columns, "Leave one of them out.", name, context)
            columns[str(name)] = expr
        selected = Project(source=source, columns=columns, origin=context.origin)
        return context.doubtful(selected, kept, schema)

    def fields(self, name: str, schema: Schema, context: Context) -> dict[str, Expr]:
        """Return the fields of the struct that stands before `.*`; none where it is wrong, which is reported."""
        column, path = struct_path(name, schema)
        if not context.known([Text(column, node_of(name))], schema):
            return {}
        struct = inner_struct(Column(column, schema[column]), path)
        if struct is not None and is_struct(struct.dtype):
            return fields_of(struct)
        if UNKNOWN not in (schema[column], struct and struct.dtype):
            of = name.removesuffix(ALL_FIELDS)
            found = f"there is no '{of}'" if struct is None else f"'{of}' is {type_name(struct.dtype)}"
            what = f"'{name}' takes a struct, and {found}"
            context.problem(coded("GE1211", what), "", name)
        return {}


def struct_path(name: str, schema: Schema) -> tuple[str, list[str]]:
    """Return the column with which `s.*` or `s.b.*` begins, and the fields that lead from it to a struct."""
    parts = name.removesuffix(ALL_FIELDS).split(".")
    columns = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    column = next((one for one in columns if one in schema), parts[0])
    return column, parts[column.count(".") + 1 :]


@dataclass(frozen=True)
class WithColumns(Step):
    """Add columns, or replace columns of the same name: `with_columns: {c: a + b}`.

    Every expression reads the columns before the step. To use a new column, write a second `with_columns` step.
    """

    verb: ClassVar[str] = "with_columns"
    main: ClassVar[str] = "columns"
    bare: ClassVar[bool] = True
    columns: Mapping[str, Formula] = key(EXPRESSIONS, doc="names of columns to add or replace, with their expressions")

    def build(self, context: Context, source: Node) -> Node:
        """Project to the input's columns and the new ones."""
        columns = {
            str(name): context.expression(formula, source.schema, outputs=SiblingColumns(self.columns, name))
            for name, formula in self.columns.items()
        }
        return Project(source=source, columns={**passing(source.schema), **columns}, origin=context.origin)


@dataclass(frozen=True)
class Drop(Step):
    """Remove columns: `drop: [a, b]`.

    The other columns keep their order. At least one must remain.
    """

    verb: ClassVar[str] = "drop"
    main: ClassVar[str] = "columns"
    columns: tuple[str, ...] = key(SOME_NAMES, doc="the columns to leave out")

    def build(self, context: Context, source: Node) -> Node:
        """Project to the other columns."""
        dropped = frozenset(context.known(self.columns, source.schema))
        kept = {name: expr for name, expr in passing(source.schema).items() if name not in dropped}
        if not kept and not source.schema.open:
            context.problem(coded("GE1207", "drop leaves no column"), "Keep at least one.", self.columns[0])
        dropped_columns = Project(source=source, columns=kept, origin=context.origin)
        return context.doubtful(dropped_columns, self.columns, source.schema)


@dataclass(frozen=True)
class Rename(Step):
    """Rename columns: `rename: {old: new}`.

    Columns keep their position and their type. Two columns may exchange their names.
    """

    verb: ClassVar[str] = "rename"
    main: ClassVar[str] = "names"
    bare: ClassVar[bool] = True
    names: Mapping[str, str] = key(RENAMES, doc="old names of columns with their new names")

    def build(self, context: Context, source: Node) -> Node:
        """Project to the columns under their new names."""
        known = frozenset(context.known(self.names, source.schema))
        columns: dict[str, Expr] = {}
        for name, dtype in source.schema.items():
            new = str(self.names[name]) if name in known else name
            if new in columns:
                given = next(value for value in self.names.values() if str(value) == new)
                context.problem(
                    coded("GE1023", f"rename gives two columns the name '{new}'"), "Drop one of them first.", given
                )
            columns[new] = Column(name, dtype)
        renamed = Project(source=source, columns=columns, origin=context.origin)
        misspelt = {str(new): WRONG for old, new in self.names.items() if old not in source.schema}
        return Unknown(source=renamed, columns=misspelt, origin=context.origin) if misspelt else renamed


@dataclass(frozen=True)
class CastColumns(Step):
    """Change the types of columns: `cast: {a: int64}`.

    A value that the new type cannot hold exactly stops the run. To get null instead, write `TRY_CAST(a AS int64)` in
    a `with_columns` step.
    """

    verb: ClassVar[str] = "cast"
    main: ClassVar[str] = "types"
    bare: ClassVar[bool] = True
    types: Mapping[str, DataType] = key(TYPES, doc="columns with their new types")

    def build(self, context: Context, source: Node) -> Node:
        """Project with casts."""
        known = context.known(self.types, source.schema)
        casts = {name: Cast(Column(name, source.schema[name]), self.types[name]) for name in known}
        for name, target in self.types.items():
            if name in casts and not castable(source.schema[name], target):
                context.problem(
                    coded(
                        "GE1110", f"cannot cast '{name}' from {type_name(source.schema[name])} to {type_name(target)}"
                    ),
                    "",
                    name,
                )
        cast = Project(source=source, columns={**passing(source.schema), **casts}, origin=context.origin)
        return context.doubtful(cast, self.types, source.schema)

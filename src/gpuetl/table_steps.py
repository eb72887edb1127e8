"""The steps of a `Table`: every verb of the language is a method, with its keys as keywords."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Concatenate, Literal, Never, ParamSpec, TypeAlias, TypeVar, cast, overload

from gpuetl.column_arguments import (
    IntoColumn,
    IntoKeys,
    calls,
    flat,
    formula,
    formulas,
    group_keys_of,
    groups_of,
    named_formulas,
    names_of,
    order_of,
    selected,
)
from gpuetl.errors import InvalidPipeline, UnknownMethod
from gpuetl.expressions.expression import Expression, NamedExpression, apply
from gpuetl.expressions.operands import IntoExpression, Names, OrderBy, Scalar
from gpuetl.expressions.selector import Selector
from gpuetl.expressions.syntax import SCALAR, Apply, Constant, Name, StageName
from gpuetl.join_arguments import JoinKeys, asof_keys, join_pairs
from gpuetl.messages import coded
from gpuetl.over_columns import lift_overs
from gpuetl.records import dataclass
from gpuetl.spec import steps as verbs
from gpuetl.spec.expect.rules import RULES, Rule, rule_of
from gpuetl.spec.fields import read_plain
from gpuetl.spec.forms import NAME, RENAMES, SOME_NAMES, TYPES
from gpuetl.spec.group_forms import GROUP_SETS, PIVOT_VALUES, GroupKeys, GroupSets
from gpuetl.spec.steps.asof import ASOF, AsofKeys
from gpuetl.spec.steps.fill_gaps import EVERY
from gpuetl.spec.steps.fit import Transform
from gpuetl.spec.steps.time_grid import Every
from gpuetl.spec.steps.window import LATE_ROWS, STATES
from gpuetl.spec.values import Formula, Text
from gpuetl.types.schema import Schema

if TYPE_CHECKING:
    from gpuetl.table import Table

T = TypeVar("T")
P = ParamSpec("P")
Validate: TypeAlias = Literal["one_to_one", "many_to_one", "one_to_many", "many_to_many"]
KeyedJoin: TypeAlias = Literal["inner", "left", "right", "full", "semi", "anti"]
IntoGroupSets: TypeAlias = Literal["rollup", "cube"] | Sequence[Names] | Expression | None
OnFail: TypeAlias = Literal["fail", "warn", "drop", "quarantine"]


class TableSteps:
    """The part of a `Table` that adds steps."""

    if TYPE_CHECKING:
        expectations: tuple[Rule, ...]

        def step(self, step: verbs.Step) -> Table: ...  # noqa: D102

        def _beside(self, verb: str, other: object) -> Text: ...

    @property
    def _table(self) -> Table:
        return cast("Table", self)

    def _schema(self) -> Schema:
        return self._table.schema

    def pipe(self, function: Callable[Concatenate[Table, P], T], *args: P.args, **keywords: P.kwargs) -> T:
        """Return `function(table, *args, **keywords)`, so that a chain has functions of yours."""
        return function(self._table, *args, **keywords)

    def filter(self, predicate: Expression | bool, *more: Expression | bool) -> Table:
        """Keep the rows where `predicate` is true, and all `more` are; null is not."""
        whole = apply("and", predicate, *more) if more else predicate
        table, columns, added = lift_overs(self._table, {"": formula(whole)})
        filtered = table.step(verbs.Filter(columns[""]))
        return filtered.drop(*added) if added else filtered

    def select(self, *columns: Names | IntoColumn | Iterable[str | IntoColumn], **more: IntoExpression) -> Table:
        """Keep the named columns, and compute others: `select("a", (col("b") + 1).alias("c"), d=col("e") * 2)`."""
        given = flat(columns)
        if all(not isinstance(column, Expression | NamedExpression) for column in given):
            kept: dict[str, Formula] = {name: Formula(Name(str(name))) for name in names_of("select", *given)}
            found = {**kept, **formulas(more)}
        else:
            as_columns = [Expression(Name(str(c))) if isinstance(c, str) else c for c in given]
            found = named_formulas("select", self._schema, as_columns, more)
        table, found, _ = lift_overs(self._table, found)
        return table.step(verbs.Select(found))

    def with_columns(self, *columns: IntoColumn | Iterable[IntoColumn], **more: IntoExpression) -> Table:
        """Add or replace columns; all see the input, none each other.  A text is a constant; SQL is `expr("a + b")`.

        `with_columns((col("a") + 1).alias("b"))` is `with_columns(b=col("a") + 1)`.
        """
        found = named_formulas("with_columns", self._schema, columns, more)
        table, found, added = lift_overs(self._table, found, names_stay=True)
        changed = table.step(verbs.WithColumns(found)) if found or (not more and not columns) else table
        return changed.drop(*added) if added else changed

    def fill_null(self, **values: IntoExpression) -> Table:
        """Put values, constants or expressions, in place of nulls; columns keep their types.  NaN is not null."""
        return self.step(verbs.FillNull(formulas(values)))

    def drop(self, *names: Names | Selector) -> Table:
        """Leave columns out."""
        each = [one for name in names for one in selected(name, self._schema)]
        return self.step(verbs.Drop(names_of("drop", *(c.name if isinstance(c, NamedExpression) else c for c in each))))

    def rename(self, names: Mapping[str, str]) -> Table:
        """Give columns other names, old to new."""
        return self.step(verbs.Rename(read_plain(RENAMES, names, "rename")))

    def cast(self, **types: str) -> Table:
        """Change columns' types, exactly or with an error."""
        return self.step(verbs.CastColumns(read_plain(TYPES, types, "cast")))

    @overload
    def join(
        self, other: Table, on: JoinKeys | Mapping[str, str], how: KeyedJoin = "inner", *,
        validate: Validate = "many_to_many", suffix: str = "", nulls_equal: bool = False,
        condition: Expression | None = None,
    ) -> Table: ...  # fmt: skip

    @overload
    def join(
        self, other: Table, *, left_on: JoinKeys, right_on: JoinKeys, how: KeyedJoin = "inner",
        validate: Validate = "many_to_many", suffix: str = "", nulls_equal: bool = False,
        condition: Expression | None = None,
    ) -> Table: ...  # fmt: skip

    @overload
    def join(
        self, other: Table, *, condition: Expression, how: KeyedJoin = "inner", suffix: str = "",
    ) -> Table: ...  # fmt: skip

    @overload
    def join(
        self, other: Table, on: JoinKeys | Mapping[str, str] | None = None, how: Literal["inner", "left"] = "inner", *,
        asof: str | Expression | AsofKeys, left_on: JoinKeys | None = None, right_on: JoinKeys | None = None,
        validate: Literal["many_to_one", "many_to_many"] = "many_to_many", suffix: str = "", nulls_equal: bool = False,
    ) -> Table: ...  # fmt: skip

    @overload
    def join(self, other: Table, *, how: Literal["cross"], suffix: str = "") -> Table: ...

    def join(
        self, other: Table, on: JoinKeys | Mapping[str, str] | None = None, how: KeyedJoin | Literal["cross"] = "inner",
        *, left_on: JoinKeys | None = None, right_on: JoinKeys | None = None, validate: Validate = "many_to_many",
        suffix: str = "", nulls_equal: bool = False, condition: Expression | None = None,
        asof: str | Expression | AsofKeys | None = None,
    ) -> Table:  # fmt: skip
        """Join with another table; `on` names columns, or maps left names to right ones, except for `how="cross"`.

        An expression is a key, too: `on=expr("lower(name) = code")`, or `left_on=col("name").lower(), right_on="code"`.

        `how` is inner, left, right, full, semi (rows that have a match), anti (those that have none) or cross.
        `left_on` and `right_on` are the keys of each side, in place of `on`.  `condition` says what else must hold of a
        pair, with or without keys: `expr("l.day >= r.begins")`.  `asof="ts"` joins each row with the last right row
        that is not after it: `asof={"left": "ts", "right": "at", "tolerance": "5 seconds"}` has options.
        """
        pairs = join_pairs(on, left_on, right_on)
        nearest = None if asof is None else read_plain(ASOF, asof_keys(asof), "join: asof")
        more = None if condition is None else formula(condition)
        other_name = self._beside("join", other)
        return self.step(verbs.Join(other_name, pairs, how, validate, suffix, nulls_equal, nearest, more))

    def scalar(self, column: str) -> Expression:
        """Return the value of a column of this table, which must have one row; null where it has none.

        `t.filter(col("total") > threshold.scalar("value"))` is `filter: total > scalar(threshold.value)`.
        """
        stage = StageName(str(self._table.named()), pipeline=self._table.pipeline)
        name = read_plain(NAME, column, "scalar: column")
        return Expression(Apply(SCALAR, (Apply("struct_extract", (stage, Constant(str(name)))),)))

    def union(self, *others: Table | Iterable[Table], missing: Literal["error", "null"] = "error") -> Table:
        """Add the rows of other tables, by column name, repeats included; `missing="null"` fills columns they lack."""
        return self.step(verbs.Union(tuple(self._beside("union", other) for other in flat(others)), missing))

    def intersect(self, *others: Table | Iterable[Table], all: bool = False) -> Table:  # noqa: A002  as in SQL
        """Keep the rows that other tables have, too, each once; with `all` as often as all tables have it."""
        return self.step(verbs.Intersect(tuple(self._beside("intersect", other) for other in flat(others)), all))

    def except_(self, *others: Table | Iterable[Table], all: bool = False) -> Table:  # noqa: A002  as in SQL
        """Keep the rows that other tables do not have, each once; with `all` each of their rows removes one."""
        return self.step(verbs.Except(tuple(self._beside("except", other) for other in flat(others)), all))

    def explode(self, column: str, *, keep_empty: bool = True, index: str = "", prefix: str = "") -> Table:
        """One row for each element of a list or map; null or empty ones give a null, unless not `keep_empty`.

        A map gives the columns `key` and `value`, with `prefix` before these names.
        """
        return self.step(verbs.Explode(read_plain(NAME, column, "explode: column"), keep_empty, index, prefix))

    def unnest(self, column: str, *, prefix: str = "") -> Table:
        """The fields of a struct in columns of their own, in its place, their names after `prefix`."""
        return self.step(verbs.Unnest(read_plain(NAME, column, "unnest: column"), prefix))

    def aggregate(
        self, by: IntoKeys = (), order_by: OrderBy = (), *, having: Expression | None = None,
        group_sets: IntoGroupSets = None, **columns: Expression,
    ) -> Table:  # fmt: skip
        """One row a group; without keys, one row.  `order_by` is the order of the rows for `first` and `last`.

        `by` takes columns, and expressions that have a name: `["region", col("ts").date_trunc("month").alias("m")]`.
        `having` keeps groups, by a condition over keys, new columns and aggregates.  `group_sets` is "rollup", "cube"
        or a list of lists of keys.
        """
        keys, order = group_keys_of("aggregate: by", by), order_of("aggregate", order_by)
        more, condition, sets = group_options("aggregate", having, group_sets)
        return self.step(verbs.Aggregate(calls("aggregate", {**columns, **more}), keys, order, condition, sets))

    def group_by(self, *by: IntoKeys) -> GroupBy:
        """Group rows by columns: `group_by("k").agg(col("x").sum().alias("total"))` is an `aggregate`."""
        return GroupBy(self._table, group_keys_of("group_by", *by))

    def window(
        self, by: OrderBy = (), order_by: OrderBy = (), *, state: Literal["none", "keep"] | Expression = "none",
        late_rows: Literal["error", "drop"] | Expression = "error", forget: timedelta | Expression | None = None,
        **columns: Expression,
    ) -> Table:  # fmt: skip
        """Add columns computed from the rows of a group in order: see docs/functions.md, window functions.

        With `state="keep"` groups go on from the last run; `late_rows` and `forget` are for that: see
        docs/window-state.md.  An expression for one of the three is a column of that name.
        """
        options: dict[str, Any] = {}
        for name, form, given in (("state", STATES, state), ("late_rows", LATE_ROWS, late_rows)):
            if isinstance(given, Expression):
                columns[name] = given
            else:
                options[name] = read_plain(form, given, f"window: {name}")
        if isinstance(forget, Expression):
            columns["forget"] = forget
        elif forget is not None:
            options["forget"] = formula(forget)
        found = calls("window", columns)
        return self.step(verbs.Window(found, groups_of("window: by", by), order_of("window", order_by), **options))

    def fill_gaps(
        self, on: str, every: Every | float | str, *, by: Names = (), start: IntoExpression = None,
        before: IntoExpression = None, origin: IntoExpression = None, mark: str = "",
    ) -> Table:  # fmt: skip
        """Add the rows that are missing on an even grid of the column `on`; columns outside of `by` are null there.

        `every` is an interval such as "15 minutes" or "1 month", or a number.  `start` and `before` bound the grid in
        every group, `origin` is a point of it, and `mark` names a column that is true for made rows.
        """
        bounds = {name: None if given is None else formula(given)
                  for name, given in (("start", start), ("before", before), ("origin", origin))}  # fmt: skip
        return self.step(verbs.FillGaps(
            read_plain(NAME, on, "fill_gaps: on"), read_plain(EVERY, every, "fill_gaps: every"),
            names_of("fill_gaps: by", by), **bounds, mark=read_plain(NAME, mark, "fill_gaps: mark") if mark else "",
        ))  # fmt: skip

    def pivot(
        self, names: str, values: Expression | Mapping[str, Expression], columns: Sequence[Scalar] | Expression, *,
        by: IntoKeys = (), order_by: OrderBy = (), others: Literal["error", "ignore"] = "error",
    ) -> Table:  # fmt: skip
        """Make a column of each of the values `columns` of the column `names`: the aggregate `values` of its rows.

        `columns` is a list, or a parameter that is one.  With several `values` a column is called VALUE_NAME.  A value
        that is not listed is an error, unless `others` is "ignore".
        """
        found = calls("pivot", values if isinstance(values, Mapping) else {"": values})
        listed = columns if isinstance(columns, Expression) else list(columns)
        return self.step(verbs.Pivot(
            read_plain(NAME, names, "pivot: names"), found, read_plain(PIVOT_VALUES, listed, "pivot: columns"),
            group_keys_of("pivot: by", by), order_of("pivot", order_by), others,
        ))  # fmt: skip

    def unpivot(
        self, *columns: Names | Selector, names_to: str = "name", values_to: str = "value",
        nulls: Literal["keep", "drop"] = "keep",
    ) -> Table:  # fmt: skip
        """Make a row of each of the columns, with its name and its value; the other columns repeat."""
        each = [one for name in columns for one in selected(name, self._schema)]
        names = names_of("unpivot", *(c.name if isinstance(c, NamedExpression) else c for c in each))
        names_column = read_plain(NAME, names_to, "unpivot: names_to")
        values_column = read_plain(NAME, values_to, "unpivot: values_to")
        return self.step(verbs.Unpivot(names, names_column, values_column, nulls))

    def sort(self, *by: OrderBy, **unknown: Never) -> Table:
        """Sort rows by columns or expressions, each with `desc` or `nulls first` after its text where wanted.

        `sort("region", "abs(amount) desc")` and `sort(col("x").abs())` are examples.
        """
        if unknown:
            message = coded("GE1006", f"unknown key '{next(iter(unknown))}'")
            raise InvalidPipeline.because(message, "Write sort('a desc'), or sort('a desc nulls first').", "sort")
        return self.step(verbs.Sort(order_of("sort", *by)))

    def distinct(self, *on: Names, keep: Literal["any", "first"] = "any", order_by: OrderBy = ()) -> Table:
        """Keep one row for each value of the columns, of all where none is given."""
        names = read_plain(SOME_NAMES, flat(on), "distinct: on") if on else None
        return self.step(verbs.Distinct(names, keep, order_of("distinct", order_by)))

    def limit(self, count: int | Expression | None = None, *, offset: int | Expression = 0) -> Table:
        """Keep the first rows after `offset` rows: a number of them, or `param("n")`; by default all."""
        return self.step(verbs.Limit(count, offset))  # type: ignore[arg-type]

    @overload
    def sample(
        self, fraction: float | Expression, *, by: Names = (), stratify: Names = (), seed: int = 0
    ) -> Table: ...  # fmt: skip

    @overload
    def sample(self, *, rows: int | Expression, by: Names = (), stratify: Names = (), seed: int = 0) -> Table: ...

    def sample(
        self, fraction: float | Expression | None = None, *, rows: int | Expression | None = None, by: Names = (),
        stratify: Names = (), seed: int = 0,
    ) -> Table:  # fmt: skip
        """Keep a fraction or a number of rows, by a seeded hash of the columns `by`: the same ones everywhere.

        With `stratify` it is a fraction or a number of the rows of each group of these columns.
        """
        names = names_of("sample: by", by)
        groups = names_of("sample: stratify", stratify)
        return self.step(verbs.Sample(fraction, rows, names, groups, seed))  # type: ignore[arg-type]

    def fit(self, transforms: Transform | Sequence[Transform], *, save: str | os.PathLike[str] | None = None) -> Table:
        """Learn from the rows and transform them, by functions of `gpuetl.transforms`.

        `save` is a folder to which a run writes what was learned.  `apply` transforms other rows in the same way.
        """
        given = (transforms,) if isinstance(transforms, Transform) else tuple(transforms)
        if wrong := next((one for one in given if not isinstance(one, Transform)), None) or (
            not given and "no transform"
        ):
            message = coded("GE1880", f"fit takes functions of gpuetl.transforms, got {wrong!r}")
            raise InvalidPipeline.because(message, 'Write fit([transforms.normalise("age")]).', "fit")
        return self.step(verbs.Fit(given, None if save is None else os.fspath(save)))

    @overload
    def apply(self, fit: Table) -> Table: ...

    @overload
    def apply(self, *, load: str | os.PathLike[str]) -> Table: ...

    def apply(self, fit: Table | None = None, *, load: str | os.PathLike[str] | None = None) -> Table:
        """Transform rows as `fit` did: that of a table whose last step is `fit`, or the one in a folder."""
        name = None if fit is None else self._beside("apply", fit)
        return self.step(verbs.Apply(name, None if load is None else os.fspath(load)))

    def expect(
        self, *, not_null: Names = (), unique: Names = (), in_: Mapping[str, Iterable[Scalar]] | None = None,
        range: Mapping[str, Sequence[Scalar | None]] | None = None, matches: Mapping[str, str] | None = None,  # noqa: A002
        references: Mapping[str, str] | None = None, rows: tuple[int | None, int | None] | None = None,
        that: Expression | None = None, name: str = "", on_fail: OnFail = "fail", max_fraction: float = 0.0,
    ) -> Table:  # fmt: skip
        """Expect something of the rows so far: rules as in YAML, all with this `name`, `on_fail` and `max_fraction`.

        The stage that is named next ends here, and checks them; a step after this begins another one.
        """
        bounds = None if rows is None else {"min": rows[0], "max": rows[1]}
        given: dict[str, Any] = {
            "not_null": flat([not_null]), "unique": flat([unique]), "in": in_, "range": range, "matches": matches,
            "references": references, "rows": bounds,
        }  # fmt: skip
        common = {"name": name, "on_fail": on_fail, "max_fraction": max_fraction}
        rules = [rule_of(verb, value, common) for verb, value in given.items() if value]
        if that is not None:
            rules.append(rule_of("that", formula(that), common))
        if not rules:
            message = coded("GE1604", "expect takes a rule")
            raise InvalidPipeline.because(message, f"rules: {', '.join(RULES)}.", "expect")
        return replace(self._table, expectations=(*self.expectations, *rules))


@dataclass(frozen=True, eq=False)
class GroupBy:
    """The rows of a table in groups: `agg` makes one row of each."""

    table: Table
    by: GroupKeys

    def agg(
        self, *columns: IntoColumn | Iterable[IntoColumn], order_by: OrderBy = (), having: Expression | None = None,
        group_sets: IntoGroupSets = None, **more: Expression,
    ) -> Table:  # fmt: skip
        """Return one row a group, the keys and `columns`; `order_by` is the order of the rows for `first` and `last`.

        `group_by("k").agg(col("x").sum().alias("total"), n=count())` is
        `aggregate("k", total=col("x").sum(), n=count())`.
        """
        found = named_formulas("agg", lambda: self.table.schema, columns, more)
        calls("agg", more)
        column, condition, sets = group_options("agg", having, group_sets)
        found |= formulas(column)
        return self.table.step(verbs.Aggregate(found, self.by, order_of("aggregate", order_by), condition, sets))

    if not TYPE_CHECKING:  # to a type checker, what is not here is an error

        def __getattr__(self, name: str) -> Never:
            raise UnknownMethod("a group", name, f"Write agg(col('x').{name}().alias('name')).")


def group_options(
    verb: str, having: Expression | None, group_sets: IntoGroupSets
) -> tuple[dict[str, Expression], Formula | None, GroupSets]:
    """Return `having` and `group_sets` of an aggregate step; an expression for the latter is a column of that name."""
    condition = None if having is None else calls(verb, {"having": having})["having"]
    if isinstance(group_sets, Expression):
        return {"group_sets": group_sets}, condition, None
    return {}, condition, None if group_sets is None else read_plain(GROUP_SETS, group_sets, f"{verb}: group_sets")

"""The rules of `expect` as written, in YAML or in Python.  A new rule is a class here, in RULES."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, ClassVar

from gpuetl.errors import Problems
from gpuetl.expressions.ir import Column, Literal, columns_of
from gpuetl.expressions.syntax import Constant
from gpuetl.expressions.unparse import constant_text, shown_sql, to_sql
from gpuetl.messages import coded
from gpuetl.plan.node import Node
from gpuetl.plugin_discovery import Plugin, PluginProblem, PluginTable
from gpuetl.records import dataclass
from gpuetl.spec.deferred import written as escaped
from gpuetl.spec.document import Node as TextNode
from gpuetl.spec.document import plain_node
from gpuetl.spec.expect.rule_values import BOUNDS, PATTERNS, REFERENCES, ROWS, VALUES, Rows
from gpuetl.spec.expect.terms import (
    Reference,
    Repeats,
    RowCount,
    RowTerm,
    Term,
    call,
    constant_in,
    is_broken,
    is_null,
    within_bounds,
)
from gpuetl.spec.fields import form_of, key, keys_of, read_keys, write_keys
from gpuetl.spec.forms import (
    EXPRESSION,
    FRACTION,
    NAME,
    SOME_NAMES,
    choice,
)
from gpuetl.spec.steps.step import Context
from gpuetl.spec.synonyms import keys_hint
from gpuetl.spec.values import Formula, Text, UntypedConstant
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import BOOL, NULL, STRING, UNKNOWN, type_name, value_kinds
from gpuetl.types.nested_types import is_list, is_nested

REMOVES = ("drop", "quarantine")
"""What is done with single rows."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One entry of `expect`: a verb, and the keys that all rules have."""

    verb: ClassVar[str]
    name: str = key(NAME, "", doc="the name of the rule in reports")
    on_fail: str = key(
        choice("fail", "warn", "drop", "quarantine"), "fail", doc="what happens with rows that break the rule"
    )
    max_fraction: float = key(FRACTION, 0.0, doc="the share of rows that may break the rule")

    @property
    def reads(self) -> tuple[str, ...]:
        """The sources and stages that it reads besides its own: they are built before it."""
        return ()

    @property
    def located(self) -> object:
        """What was read from a place in the file, if the rule was."""
        own = getattr(self, keys_of(type(self))[self.verb].name)
        return next(iter(own)) if isinstance(own, tuple | Mapping) else own

    def written(self) -> dict[str, Any]:
        """Return the entry as plain data, its verb first."""
        keys = write_keys(self)
        return {self.verb: keys.pop(self.verb), **keys}

    def named(self, of: str, alone: bool = True) -> str:
        """Return the name of the rule for a column, or several; a user's name of many rules says of which it is."""
        if not self.name:
            return f"{self.verb}({of})"
        return str(self.name) if alone else f"{self.name}({of})"

    def of_column(
        self, context: Context, source: Node, name: str, columns: Collection[str]
    ) -> tuple[str, tuple[str, ...], str, Node, Origin]:
        """Return what every term of a rule for a column each begins with."""
        return self.named(name, len(columns) == 1), (str(name),), name, source, counting(context)

    def terms(self, context: Context, source: Node) -> Iterator[Term]:
        """Yield what is counted of the rows of `source`, one a column; problems are told."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class NotNull(Rule):
    """No value of the columns is null: `not_null: [a, b]`."""

    verb: ClassVar[str] = "not_null"
    columns: tuple[str, ...] = key(SOME_NAMES, name="not_null", doc="columns that are never null")

    def terms(self, context: Context, source: Node) -> Iterator[Term]:
        """Break where it is null; lists may be."""
        for name in (each for each in self.columns if context.known([each], source.schema)):
            broken = is_null(Column(str(name), source.schema[name]))
            yield RowTerm(*self.of_column(context, source, name, self.columns), broken)


@dataclass(frozen=True, kw_only=True)
class Unique(Rule):
    """No two rows are equal in all of the columns: `unique: [a, b]`. Rows with a null in one of them do not count."""

    verb: ClassVar[str] = "unique"
    columns: tuple[str, ...] = key(SOME_NAMES, name="unique", doc="columns in which no two rows are equal")

    def terms(self, context: Context, source: Node) -> Iterator[Term]:
        """Break for every row whose values another row has too."""
        keys = context.keys(self.columns, source.schema, nested=True)
        if len(keys) == len(self.columns):
            yield Repeats(self.named(", ".join(keys)), keys, self.columns[0], source, counting(context))


@dataclass(frozen=True, kw_only=True)
class In(Rule):
    """Each column has one of its values: `in: {status: [OK, SETTLED]}`."""

    verb: ClassVar[str] = "in"
    values: Mapping[str, tuple[UntypedConstant, ...]] = key(VALUES, name="in", doc="the values that columns may have")

    def terms(self, context: Context, source: Node) -> Iterator[Term]:
        """Break where it has another one."""
        for name in constant_columns(context, self, self.values, source):
            broken = constant_in(context, Column(str(name), source.schema[name]), self.values[name])
            if broken is not None:
                yield RowTerm(*self.of_column(context, source, name, self.values), broken)


@dataclass(frozen=True, kw_only=True)
class Range(Rule):
    """Each column is between two bounds, or equal to one: `range: {amount: [0, null]}`. Null means no bound."""

    verb: ClassVar[str] = "range"
    bounds: Mapping[str, tuple[UntypedConstant, UntypedConstant]] = key(
        BOUNDS, name="range", doc="the least and the greatest value of columns"
    )

    def terms(self, context: Context, source: Node) -> Iterator[Term]:
        """Break beyond either bound; NaN is within none."""
        for name in constant_columns(context, self, self.bounds, source):
            broken = within_bounds(context, Column(str(name), source.schema[name]), self.bounds[name])
            if broken is not None:
                yield RowTerm(*self.of_column(context, source, name, self.bounds), broken)


@dataclass(frozen=True, kw_only=True)
class Matches(Rule):
    """A regular expression matches the whole string: `matches: {country: "[A-Z]{2}"}`."""

    verb: ClassVar[str] = "matches"
    patterns: Mapping[str, Text] = key(
        PATTERNS, name="matches", doc="regular expressions that match the whole text of columns"
    )

    def terms(self, context: Context, source: Node) -> Iterator[Term]:
        """Break where it does not."""
        for name in (each for each in self.patterns if context.known([each], source.schema)):
            if source.schema[name] != STRING:
                message = coded(
                    "GE1604", f"matches takes a string column, and '{name}' is {type_name(source.schema[name])}"
                )
                context.problem(message, "Take range, or that: with a CAST.", name)
                continue
            condition = call("regexp_full_match", Column(str(name), STRING), Literal(str(self.patterns[name]), STRING))
            yield RowTerm(*self.of_column(context, source, name, self.patterns), is_broken(condition))


@dataclass(frozen=True, kw_only=True)
class References(Rule):
    """Another stage or source has the value: `references: {merchant_id: merchants.merchant_id}`."""

    verb: ClassVar[str] = "references"
    columns: Mapping[str, Text] = key(
        REFERENCES, name="references", doc="columns of other stages or sources that have the values"
    )

    @property
    def reads(self) -> tuple[str, ...]:
        """The stages and sources of the columns."""
        return tuple(Text(target.rpartition(".")[0], target.node) for target in self.columns.values())

    def terms(self, context: Context, source: Node) -> Iterator[Term]:
        """Break where the value is not null, and stands nowhere there."""
        for (name, written), relation in zip(self.columns.items(), self.reads, strict=True):
            target = context.relation(relation)
            there = context.keys([Text(written.rpartition(".")[2], written.node)], target.schema, nested=True)
            if context.keys([name], source.schema, nested=True) and there:
                term = Reference(*self.of_column(context, source, name, self.columns), target, there[0])
                if term.meets(context, written):
                    yield term


@dataclass(frozen=True, kw_only=True)
class RowsRule(Rule):
    """The number of rows is between `min` and `max`: `rows: {min: 1, max: 1000000}`."""

    verb: ClassVar[str] = "rows"
    rows: Rows = key(ROWS, doc="the least and the greatest number of rows")

    def terms(self, context: Context, source: Node) -> Iterator[Term]:
        """Count them."""
        yield RowCount(
            str(self.name) or "rows", (), self.rows, source, counting(context), self.rows.least, self.rows.most
        )


@dataclass(frozen=True, kw_only=True)
class That(Rule):
    """A condition is true or null: `that: amount < 1e6`."""

    verb: ClassVar[str] = "that"
    that: Formula = key(EXPRESSION, doc="a condition that is not false for any row")

    def terms(self, context: Context, source: Node) -> Iterator[Term]:
        """Break where it is false."""
        condition = context.expression(self.that, source.schema)
        if condition.dtype not in (BOOL, NULL, UNKNOWN):
            message = coded(
                "GE1117", f"that takes a condition, and {shown_sql(condition)} is {type_name(condition.dtype)}"
            )
            text = isinstance(self.that.syntax, Constant) and isinstance(self.that.syntax.value, str)
            hint = 'In Python, write SQL as expr("…").' if text else "Compare it with something."
            context.problem(message, hint, self.that)
            return
        reads = columns_of(condition)
        columns = tuple(name for name in source.schema if name in reads)
        name = str(self.name) or f"that({to_sql(condition)})"
        yield RowTerm(name, columns, self.that, source, counting(context), is_broken(condition))


def made_check(plugin: Plugin, made: object) -> type[Rule]:
    """Return the rule of a plugin."""
    from gpuetl.spec.expect.checks import check_of

    return check_of(plugin, made)


RULES: PluginTable[type[Rule]] = PluginTable(
    "check",
    made_check,
    {rule.verb: rule for rule in (NotNull, Unique, In, Range, Matches, References, RowsRule, That)},
)


def constant_columns(context: Context, rule: Rule, names: Iterable[str], source: Node) -> Iterator[str]:
    """Yield the columns that a rule compares with constants; lists, structs and maps have none there."""
    for name in names:
        dtype = source.schema.get(name, UNKNOWN)
        if is_nested(dtype):
            message = f"{rule.verb} does not take {value_kinds(dtype)}, and '{name}' is {type_name(dtype)}"
            example = f", such as {name} <> []" if is_list(dtype) else ""
            context.problem(coded("GE1115", message), f"Write that: with a condition{example}.", name)
        elif context.keys([name], source.schema):
            yield name


def counting(context: Context) -> Origin:
    """Return where work comes from that is done for rules alone."""
    return Origin("expect", context.origin.name)


def read_rule(node: TextNode, problems: Problems, within: str) -> Rule | None:
    """Read one entry of `expect`; returns None, with its problems kept, where it is wrong."""
    keys = [*RULES, *keys_of(Rule)]
    if not isinstance(node.value, dict):
        problems.add(
            coded("GE1604", f"a rule is a map, got {node.kind}"), f"rules: {', '.join(RULES)}.", node.place(), within
        )
        return None
    try:
        verbs = [name for name in node.value if name not in keys_of(Rule) and RULES.find(name) is not None]
    except PluginProblem as error:
        problems.add(error.message, error.hint, node.place(), within)
        return None
    unknown = [name for name in node.value if name not in keys and name not in verbs]
    if unknown and not verbs:
        problems.add(
            coded("GE1604", f"unknown rule '{unknown[0]}'"), keys_hint(unknown[0], keys), node.keys[unknown[0]], within
        )
        return None
    if len(verbs) != 1:
        message = coded(
            "GE1604",
            f"a rule is one of {', '.join(RULES)}; here {'are ' + ' and '.join(verbs) if verbs else 'is none'}",
        )
        problems.add(message, "Write each as a separate entry." if verbs else "", node.place(), within)
        return None
    count = len(problems.found)
    rule = read_keys(RULES[verbs[0]], node, problems, within)
    if rule is not None:
        check_rule(rule, node, problems, within)
    return rule if len(problems.found) == count else None


def check_rule(rule: Rule, node: TextNode, problems: Problems, within: str) -> None:
    """Tell of keys that mean nothing together."""
    if rule.on_fail in REMOVES and isinstance(rule, RowsRule):
        hint = "Choose fail or warn."
        message = coded("GE1604", f"on_fail: {rule.on_fail} removes single rows, and this rule is for all of them")
        problems.add(message, hint, node.keys.get("on_fail"), within)
    if rule.max_fraction and (rule.on_fail in REMOVES or isinstance(rule, RowsRule)):
        what = "rows" if isinstance(rule, RowsRule) else f"on_fail: {rule.on_fail}"
        hint = (
            "Leave it out." if isinstance(rule, RowsRule) else "For a limit, add the rule once more with on_fail: fail."
        )
        problems.add(coded("GE1604", f"{what} takes no max_fraction"), hint, node.keys.get("max_fraction"), within)


def rule_of(verb: str, value: Any, common: Mapping[str, Any]) -> Rule:
    """Return a rule that Python gives; raise `InvalidPipeline` where a key does not take its value."""
    own = {verb: True if verb == "that" else plain_data(value)}  # an expression is parsed already
    keys = {name: item for name, item in common.items() if not (isinstance(item, str | float) and item in ("", 0.0))}
    declared = keys_of(RULES[verb])
    given = {
        name: escaped(item) if form_of(declared[name]).constant else item for name, item in {**own, **keys}.items()
    }
    problems = Problems()
    rule = read_rule(plain_node(given), problems, "expect")
    problems.check()
    assert rule is not None
    return replace(rule, that=value) if isinstance(rule, That) else rule


def plain_data(value: Any) -> Any:
    """Return constants of Python as YAML has them: dates, decimals and durations as text."""
    if isinstance(value, Mapping):
        return {name: plain_data(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_data(item) for item in value]
    if isinstance(value, timedelta):
        return constant_text(value).removeprefix("INTERVAL ").strip("'")
    if isinstance(value, Decimal):
        return f"{value:f}"
    return value.isoformat() if isinstance(value, date) else value

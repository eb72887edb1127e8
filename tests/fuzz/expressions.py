"""Random typed expressions: built from the function table, over the columns, and at times the calls, at hand."""

from collections.abc import Container, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC
from functools import cache
from typing import Any

import pyarrow as pa

from fuzz.data import TYPES, pool
from fuzz.draws import Draws
from fuzz.duckdb_casts import is_spelled
from fuzz.duckdb_functions import COMPARED_OTHERWISE, DUCKDB
from fuzz.precision import EXACT_FLOATS, VALUE_ONLY, Precision
from fuzz.scalar_constants import GROUPS
from fuzz.signatures import Signature, constants, giving, signatures, written
from gpuetl.errors import InvalidExpression
from gpuetl.expressions.advice import mistakes_in
from gpuetl.expressions.constants import converted
from gpuetl.expressions.functions import FUNCTIONS, Function, Kind
from gpuetl.expressions.functions.function import Argument
from gpuetl.expressions.ir import Expr
from gpuetl.expressions.nested_casts import castable
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import Scope
from gpuetl.expressions.syntax import CHANGED_STRUCTS, STRUCT, Apply, CastTo, Constant, Name, Syntax, parts
from gpuetl.types.data_types import (
    BINARY,
    BOOL,
    FLOAT64,
    INT64,
    NULL,
    STRING,
    TIME,
    TIMESTAMP,
    DataType,
    can_be_key,
    is_floating,
    literal_type,
)
from gpuetl.types.decimal_types import Number, is_decimal

LITERAL_TYPES = (
    INT64,
    FLOAT64,
    STRING,
    BOOL,
    TIMESTAMP,
    pa.date32(),
    pa.duration("us"),
    pa.timestamp("us", tz="UTC"),
    TIME,
)
NUMBERS = (
    0.06,
    0.01,
    1,
    0.25,
    2.675,
    0.1,
    1.19,
    3,
    0.5,
    2.0,
    1e3,
    0.007,
    9007199254740992.0,
    Number("9007199254740993.5"),
)
RARE = frozenset((
    "json_extract", "json_extract_string", "json_value", "json", "json_object", "json_array", "to_json", "from_json", "try_from_json",
    "json_set", "json_insert", "json_replace", "json_remove", "json_merge_patch", "json_merge_patch_diff", "json_deep_merge", "json_strip_nulls", "json_normalize",
    "make_timestamp", "make_date", "make_timestamptz", "parse_formatted_bytes", "strptime", "int_divide", "negate", "power", "exp", "expm1", "sinh", "cosh", "shift_left",
))  # fmt: skip
"""Functions that fail for most values, or that overflow what follows: drawn once where others are drawn twice."""


OF_AGGREGATES = frozenset(["qcut"])
"""A CASE over aggregates, so neither order nor places as of other window functions: tests/steps/test_quantile_bins.py."""
OF_JSON = frozenset(name for _, name in FUNCTIONS if "json" in name) - {"json_valid", "try_from_json"}
"""Functions that fail for other text: most often they get only what is JSON."""
DOCUMENTS = frozenset(["text", "part", "patch", "old", "new"])
"""Their arguments that are JSON."""


WITH_PATTERNS = frozenset(name for _, name in FUNCTIONS if name.startswith("regexp_")) - {"regexp_escape"}
"""Functions of regular expressions: patterns of rows are chosen among constants, since most strings are none."""


@dataclass(frozen=True)
class Leaf:
    """What an expression begins with: a column, or a call of an aggregate or window function."""

    syntax: Syntax
    dtype: DataType
    precision: Precision


@cache
def fuzzed(kind: Kind) -> tuple[str, ...]:
    """Return the names of the functions of a kind that can be drawn, the rare ones less often."""
    names = [n for k, n in FUNCTIONS if k == kind and ((k, n) in DUCKDB or (k, n) in COMPARED_OTHERWISE)]
    names = [name for name in names if name not in OF_AGGREGATES]
    return tuple(names + [name for name in names if name not in RARE])


@cache
def all_names(kind: Kind) -> tuple[str, ...]:
    """Return each name of `fuzzed` once."""
    return tuple(dict.fromkeys(fuzzed(kind)))


@dataclass
class Expressions:
    """Draws expressions over `leaves`."""

    draws: Draws
    leaves: Sequence[Leaf]
    types: frozenset[DataType] = field(init=False)

    def __post_init__(self) -> None:
        self.types = frozenset(leaf.dtype for leaf in self.leaves) | {INT64, STRING, BOOL, FLOAT64}

    def any(self, depth: int = 2) -> Syntax:
        """An expression of any type."""
        draws = self.draws
        kind = draws.below(10)
        if kind == 0 or not fuzzed("scalar"):
            return draws.one_of(self.leaves).syntax if self.leaves else Constant(1)
        if kind == 9:
            return self.cast(depth)
        name = draws.one_of(fuzzed("scalar"))
        return self.call(self.chosen("scalar", name), depth)

    def chosen(self, kind: Kind, name: str) -> Signature:
        """One way to call a function: with types that there are, if possible."""
        ways = signatures(kind, name)
        at_hand = [way for way in ways if all(t is None or t in self.types for t in way.takes)]
        return self.draws.one_of(at_hand or ways)

    def call(self, way: Signature, depth: int, exact: bool = False) -> Syntax:
        """A call with arguments of those types; exact ones wherever digits count."""
        function, args = way.function, []
        keywords: list[tuple[str, Syntax]] = []
        exact = exact or function.name not in VALUE_ONLY or not is_floating(way.gives)
        for place, (slot, dtype) in enumerate(zip(way.slots, way.takes, strict=True)):
            if dtype is None:
                values = constants(function, slot)
                if function.name in WITH_PATTERNS and way.slots[2:] and way.slots[2].name == "group" and way.takes[2]:
                    values = {"pattern": GROUPS, "options": ("i", "s")}.get(slot.name, values)  # all have two groups
                value: Syntax = written(self.draws.one_of(values))
            elif function.name in WITH_PATTERNS and slot.usual_constant:
                value = self.of_rows(function, slot, way.slots)
            else:
                value = self.value(dtype, depth - 1, exact)
                if (
                    slot.name in DOCUMENTS
                    and dtype == STRING
                    and function.name in OF_JSON
                    and not self.draws.chance(10)
                ):
                    value = Apply("case", (Apply("json_valid", (value,)), value))
            if keywords or not (slot.repeats or function.arguments[place] == slot):
                keywords.append((slot.name, value))
            else:
                args.append(value)
        if function.name == STRUCT:
            args, keywords = [], [(f"f{place}", value) for place, value in enumerate(args)]
        if function.name in CHANGED_STRUCTS:
            replaced = function.name == "struct_update"  # a field that the struct may have
            keywords = [("x" if at == 0 and replaced else f"f{at}", value) for at, value in enumerate(args[1:])]
            args = args[:1]
        call = Apply(function.name, tuple(args), tuple(keywords))
        if any(mistakes_in(parts(call))):  # a comparison with a written null
            return Apply("is_null", (args[0],))
        return call

    def of_rows(self, function: Function, slot: Argument, slots: Sequence[Argument]) -> Syntax:
        """A pattern, a replacement or a group that differs from row to row; patterns have as many groups as are asked for."""
        values = constants(function, slot)
        if slot.name == "pattern" and "group" in (each.name for each in slots):
            values = GROUPS
        first, second = (Constant(self.draws.one_of(values)) for _ in range(2))
        condition = Apply("greater", (self.value(INT64, 0), Constant(self.draws.one_of((0, 1, 7)))))
        return Apply("case", (condition, first, *[second] * (not self.draws.chance(20))))

    def value(self, dtype: DataType, depth: int, exact: bool = True) -> Syntax:
        """An expression of a type."""
        kind = self.draws.below(10)
        if depth > 0 and kind >= 6:
            return self.computed(dtype, depth, exact)
        columns = [
            leaf for leaf in self.leaves if leaf.dtype == dtype and (leaf.precision >= Precision.EXACT or not exact)
        ]
        if columns and kind != 5:
            return self.draws.one_of(columns).syntax
        return self.constant(dtype)

    def computed(self, dtype: DataType, depth: int, exact: bool) -> Syntax:
        """A call that gives a type, or a conversion to it."""
        ways = giving("scalar", dtype, all_names("scalar"))
        fitting = [
            way
            for way in ways
            if all(t is None or t in self.types for t in way.takes)
            and not (exact and is_floating(dtype) and way.function.name not in EXACT_FLOATS)
        ]
        if not fitting:
            return self.constant(dtype)
        return self.call(self.draws.one_of(fitting), depth, exact)

    def constant(self, dtype: DataType) -> Syntax:
        """A constant of a type, now and then null; written as text and cast where the language has no other way."""
        if self.draws.chance(10) or not can_be_key(dtype):
            return CastTo(Constant(None), dtype)
        if dtype == BINARY:
            return Apply("unhex", (Constant(self.draws.one_of(pool(dtype, wild=False)).hex()),))
        if (dtype == FLOAT64 or is_decimal(dtype)) and self.draws.chance(30):
            return self.number()
        value = self.draws.one_of(pool(dtype, wild=False))
        if dtype in LITERAL_TYPES:
            return Constant(value)
        if pa.types.is_timestamp(dtype):  # the language's constants are in UTC
            return Constant(value.astimezone(UTC))
        if pa.types.is_decimal(dtype):  # one of just its digits is read as a constant
            return Constant(value) if literal_type(value) == dtype else CastTo(Constant(str(value)), dtype)
        return CastTo(Constant(value), dtype)

    def number(self) -> Syntax:
        """A number of the text, or what is calculated of two."""
        operator = self.draws.one_of(("", "add", "subtract", "multiply", "divide", "modulo", "int_divide", "negate"))
        x = Constant(self.draws.one_of(NUMBERS))
        if operator in ("", "negate"):
            return Apply(operator, (x,)) if operator else x
        return Apply(operator, (x, Constant(self.draws.one_of(NUMBERS))))

    def cast(self, depth: int) -> Syntax:
        """A conversion that DuckDB can be told to do as we do."""
        dtype = self.draws.one_of(sorted(self.types, key=str))
        targets = [t for t in TYPES.values() if castable(dtype, t) and is_spelled(dtype, t)]
        operand = self.value(dtype, depth - 1)
        target, lenient = self.draws.one_of(targets or [dtype]), self.draws.chance(60)
        with suppress(ValueError):  # a constant that is no date can only be tried
            return (None if lenient else converted(operand, target)) or CastTo(operand, target, lenient)
        return CastTo(operand, target, lenient=True)

    def condition(self, depth: int = 2) -> Syntax:
        """A truth value whose digits do not depend on rounding; true where a number beside a decimal makes it wrong."""
        drawn = self.computed(BOOL, depth, exact=True)
        negated = Apply("not", (drawn,))  # a null in the list of an IN is an error there
        return drawn if typed(drawn, self.scope()) and not any(mistakes_in(parts(negated))) else Constant(True)

    def special(self, kind: Kind, names: Container[str] | None = None) -> Syntax:
        """A call of an aggregate or window function: any, or one of `names`."""
        ways = [name for name in fuzzed(kind) if names is None or name in names]
        way = self.chosen(kind, self.draws.one_of(ways))
        return self.call(way, depth=2 if self.draws.chance(30) else 1)

    def scope(self, kinds: tuple[Kind, ...] = ("scalar",)) -> Scope:
        """What the expressions may name."""
        names = {leaf.syntax.name: leaf.dtype for leaf in self.leaves if isinstance(leaf.syntax, Name)}
        return Scope(names, {}, kinds)


def column_leaves(schema: Any, precision: dict[str, Precision]) -> list[Leaf]:
    """Return the columns as leaves."""
    return [Leaf(Name(name), dtype, precision[name]) for name, dtype in schema.items() if dtype != NULL]


def typed(syntax: Syntax, scope: Scope) -> Expr | None:
    """Return the typed expression, or None where it is wrong."""
    try:
        return resolve(syntax, scope)
    except InvalidExpression:
        return None

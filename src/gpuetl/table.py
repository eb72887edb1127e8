"""`Table`: a source or a sequence of steps under construction, in Python.  Immutable and lazy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Never, TypeAlias

from gpuetl.errors import InvalidPipeline
from gpuetl.expressions.expression import as_syntax
from gpuetl.expressions.syntax import Name
from gpuetl.formats.rejected import REJECTED
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.spec import steps as verbs
from gpuetl.spec.expect.rules import RULES, Rule, rule_of
from gpuetl.spec.fields import check_keys, read_plain
from gpuetl.spec.forms import NAME, NAMES, ORDER, RENAMES, SOME_NAMES, TYPES
from gpuetl.spec.places import caller
from gpuetl.spec.steps.join import PAIRS
from gpuetl.spec.synonyms import word_suggestion
from gpuetl.spec.values import Formula, Located, Order, Text, as_names
from gpuetl.table_results import TableResults

if TYPE_CHECKING:
    from gpuetl.pipeline import Pipeline

Names: TypeAlias = str | Iterable[str]


@dataclass(frozen=True, eq=False, repr=False)
class Table(TableResults):
    """Rows to come: those of `origin`, a source or stage of `pipeline`, after `steps`.

    Every method returns a new table and leaves this one as it is.  Names, types and expressions are checked when the
    pipeline is planned or run, all at once.
    """

    pipeline: Pipeline
    origin: str
    steps: tuple[verbs.Step, ...] = ()
    expectations: tuple[Rule, ...] = ()
    nodes: tuple[Located | None, ...] = field(default=(), repr=False)
    """Where the steps stand in the user's script."""

    if not TYPE_CHECKING:  # to a type checker, what is not here is an error

        def __getattr__(self, name: str) -> Never:
            raise AttributeError(f"a table has no '{name}'.  {word_suggestion(name, verbs.STEPS)}".rstrip())

    def step(self, step: verbs.Step) -> Table:
        """Add a step of the language; raise `InvalidPipeline` where a key does not take its value."""
        check_keys(step, step.verb)
        if self.expectations:  # a stage ends with what is expected of it
            return Table(self.pipeline, self.named()).step(step)
        return replace(self, steps=(*self.steps, step), nodes=(*self.nodes, caller()))

    def filter(self, predicate: Any) -> Table:
        """Keep the rows where `predicate` is true; null is not."""
        return self.step(verbs.Filter(_formula(predicate)))

    def select(self, *names: Names, **columns: Any) -> Table:
        """Keep the named columns, and compute others."""
        kept: dict[str, Formula] = {name: Formula(Name(str(name))) for name in _names("select", *names)}
        return self.step(verbs.Select({**kept, **_formulas(columns)}))

    def with_columns(self, **columns: Any) -> Table:
        """Add or replace columns; all see the input, none each other.  A text is a constant; SQL is `expr("a + b")`."""
        return self.step(verbs.WithColumns(_formulas(columns)))

    def fill_null(self, **values: Any) -> Table:
        """Put values, constants or expressions, in place of nulls; columns keep their types.  NaN is not null."""
        return self.step(verbs.FillNull(_formulas(values)))

    def drop(self, *names: Names) -> Table:
        """Leave columns out."""
        return self.step(verbs.Drop(_names("drop", *names)))

    def rename(self, names: Mapping[str, str]) -> Table:
        """Give columns other names, old to new."""
        return self.step(verbs.Rename(read_plain(RENAMES, names, "rename")))

    def cast(self, **types: str) -> Table:
        """Change columns' types, exactly or with an error."""
        return self.step(verbs.CastColumns(read_plain(TYPES, types, "cast")))

    def join(
        self, other: Table, on: Names | Mapping[str, str] | None = None, how: str = "inner", *,
        validate: str = "many_to_many", suffix: str = "", nulls_equal: bool = False,
    ) -> Table:  # fmt: skip
        """Join with another table; `on` names columns, or maps left names to right ones, except for `how="cross"`.

        `how` is inner, left, right, full, semi (rows that have a match), anti (those that have none) or cross.
        """
        keys = on if on is None or isinstance(on, Mapping) else as_names(on)
        pairs = None if keys is None else read_plain(PAIRS, keys, "join: on")
        return self.step(verbs.Join(self.beside("join", other), pairs, how, validate, suffix, nulls_equal))

    def union(self, *others: Table | Iterable[Table], missing: str = "error") -> Table:
        """Add the rows of other tables, by column name, repeats included; `missing="null"` fills columns they lack."""
        return self.step(verbs.Union(tuple(self.beside("union", other) for other in _flat(others)), missing))

    def explode(self, column: str, *, keep_empty: bool = True, index: str = "") -> Table:
        """One row for each element of a list; a null or empty one gives a row with null, unless not `keep_empty`."""
        return self.step(verbs.Explode(read_plain(NAME, column, "explode: column"), keep_empty, index))

    def unnest(self, column: str, *, prefix: str = "") -> Table:
        """The fields of a struct in columns of their own, in its place, their names after `prefix`."""
        return self.step(verbs.Unnest(read_plain(NAME, column, "unnest: column"), prefix))

    def aggregate(self, by: Names = (), order_by: Names = (), **columns: Any) -> Table:
        """One row a group; without keys, one row.  `order_by` is the order of the rows for `first` and `last`."""
        keys, order = _names("aggregate: by", by), _order("aggregate", order_by)
        return self.step(verbs.Aggregate(_calls("aggregate", columns), keys, order))

    def window(self, by: Names = (), order_by: Names = (), **columns: Any) -> Table:
        """Add columns computed from the rows of a group in order: see docs/functions.md, window functions."""
        calls = _calls("window", columns)
        return self.step(verbs.Window(calls, _names("window: by", by), _order("window", order_by)))

    def kernel(
        self, cuda: str, entry: str, inputs: Names, outputs: Mapping[str, str], reference: str, *,
        kind: str = "", args: Mapping[str, Any] | None = None, nulls: str = "propagate",
        by: Names = (), order_by: Names = (), block: int = 256,
    ) -> Table:  # fmt: skip
        """Add columns computed by a CUDA kernel, or its NumPy twin `reference` (file.py:function)."""
        return self.step(
            verbs.Kernel(
                cuda=cuda, entry=entry, block=block, order_by=_order("kernel", order_by),
                **_kernel_keys(inputs, outputs, reference, kind, args, nulls, by),
            )
        )  # fmt: skip

    def elementwise_kernel(
        self, body: str, inputs: Names, outputs: Mapping[str, str], reference: str, *,
        args: Mapping[str, Any] | None = None, nulls: str = "propagate",
    ) -> Table:  # fmt: skip
        """Add columns that C++ statements compute from a row's inputs, such as `y = x * scale;`."""
        keys = _kernel_keys(inputs, outputs, reference, "elementwise", args, nulls, ())
        return self.step(verbs.Kernel(body=body, **keys))

    def reduction_kernel(
        self, inputs: Names, outputs: Mapping[str, str], reference: str, *, reduce: str, identity: str | float,
        map: str = "", post: str = "", by: Names = (), args: Mapping[str, Any] | None = None,  # noqa: A002
        nulls: str = "propagate",
    ) -> Table:  # fmt: skip
        """One row a group: C++ expressions `map` its rows, `reduce` values `a` and `b` to one, and end by `post`."""
        keys = _kernel_keys(inputs, outputs, reference, "reduction", args, nulls, by)
        return self.step(verbs.Kernel(reduce=reduce, identity=str(identity), map=map, post=post, **keys))

    def scan_kernel(
        self, inputs: Names, outputs: Mapping[str, str], reference: str, *, combine: str, identity: str,
        order_by: Names, by: Names = (), map: str = "", post: str = "", state: Mapping[str, str] | None = None,  # noqa: A002
        args: Mapping[str, Any] | None = None, nulls: str = "propagate",
    ) -> Table:  # fmt: skip
        """Add columns from what the rows of a group up to each one `combine` to, states `a` and `b` to one, in order.

        `map` sets the fields of a row's `state`, by default the outputs; `post` sets the outputs of them.
        """
        keys = _kernel_keys(inputs, outputs, reference, "scan", args, nulls, by)
        fields = read_plain(TYPES, state, "kernel: state") if state else {}
        return self.step(
            verbs.Kernel(
                combine=combine, identity=identity, map=map, post=post, state=fields,
                order_by=_order("kernel", order_by), **keys,
            )
        )  # fmt: skip

    def sort(self, *by: Names) -> Table:
        """Sort rows by columns, each with `desc` or `nulls first` after its name where wanted."""
        return self.step(verbs.Sort(_order("sort", *by)))

    def distinct(self, *on: Names, keep: str = "any", order_by: Names = ()) -> Table:
        """Keep one row for each value of the columns, of all where none is given."""
        names = read_plain(SOME_NAMES, _flat(on), "distinct: on") if on else None
        return self.step(verbs.Distinct(names, keep, _order("distinct", order_by)))

    def limit(self, count: int) -> Table:
        """Keep the first rows."""
        return self.step(verbs.Limit(count))

    def sample(
        self, fraction: float | None = None, *, rows: int | None = None, by: Names = (), seed: int = 0
    ) -> Table:  # fmt: skip
        """Keep a fraction or a number of rows, by a seeded hash of the columns `by`: the same ones everywhere."""
        return self.step(verbs.Sample(fraction, rows, _names("sample: by", by), seed))

    def expect(
        self, *, not_null: Names = (), unique: Names = (), in_: Mapping[str, Any] | None = None,
        range: Mapping[str, Sequence[Any]] | None = None, matches: Mapping[str, str] | None = None,  # noqa: A002
        references: Mapping[str, str] | None = None, rows: tuple[int | None, int | None] | None = None,
        that: Any = None, name: str = "", on_fail: str = "fail", max_fraction: float = 0.0,
    ) -> Table:  # fmt: skip
        """Expect something of the rows so far: rules as in YAML, all with this `name`, `on_fail` and `max_fraction`.

        The stage that is named next ends here, and checks them; a step after this begins another one.
        """
        bounds = None if rows is None else {"min": rows[0], "max": rows[1]}
        given = {
            "not_null": _flat([not_null]), "unique": _flat([unique]), "in": in_, "range": range, "matches": matches,
            "references": references, "rows": bounds,
        }  # fmt: skip
        common = {"name": name, "on_fail": on_fail, "max_fraction": max_fraction}
        rules = [rule_of(verb, value, common) for verb, value in given.items() if value]
        if that is not None:
            rules.append(rule_of("that", _formula(that), common))
        if not rules:
            message = coded("GE1604", "expect takes a rule")
            raise InvalidPipeline.because(message, f"rules: {', '.join(RULES)}.", "expect")
        return replace(self, expectations=(*self.expectations, *rules))

    @property
    def rejected(self) -> Table:
        """The rows that the rules of this stage, or the reading of this source, have put in quarantine."""
        if self.steps or self.expectations:
            message = coded("GE1603", "only a stage has rejected rows")
            raise InvalidPipeline.because(message, "Name it: table.stage('name').rejected.")
        return Table(self.pipeline, f"{self.origin}{REJECTED}")

    def stage(self, name: str) -> Table:
        """Give the steps so far a name: a stage of the pipeline, from which other tables may begin."""
        self.pipeline.add_stage(name, self.origin, self.steps, self.expectations, self.nodes)
        return Table(self.pipeline, name)

    def named(self) -> Text:
        """Return the name of this source or stage; steps that have none are given one."""
        if not self.steps and not self.expectations:
            return Text(self.origin)
        return Text(self.pipeline.add_unnamed(self.origin, self.steps, self.expectations, self.nodes))

    def beside(self, verb: str, other: Any) -> Text:
        """Return the name of another table for a step; raise `InvalidPipeline` unless it is one of this pipeline."""
        if not isinstance(other, Table):
            hint = "pipeline.table('name') is the table of a source or stage."
            message = coded("GE3008", f"takes a table, got {type(other).__name__}")
            raise InvalidPipeline.because(message, hint, verb)
        if other.pipeline is not self.pipeline:
            message = coded("GE3008", f"'{other.origin}' belongs to pipeline '{other.pipeline.spec.name}'")
            raise InvalidPipeline.because(message, "Declare its source in this pipeline.", verb)
        return other.named()

    def write_parquet(self, name: str, path: str, **keys: Any) -> None:
        """Declare a sink of the pipeline.

        Keys as in YAML: `partition_by`, `sort_by`, `mode`, `on_empty`, `run_key`, `keep_foreign`, `storage`,
        `storage_options`.
        """
        self.pipeline.add_sink(name, "parquet", path, self.named(), **keys)

    def write_csv(self, name: str, path: str, **keys: Any) -> None:
        """Declare a sink of the pipeline.

        Keys as in YAML: `partition_by`, `sort_by`, `mode`, `on_empty`, `run_key`, `keep_foreign`, `storage`,
        `storage_options`.
        """
        self.pipeline.add_sink(name, "csv", path, self.named(), **keys)

    def write_json(self, name: str, path: str, **keys: Any) -> None:
        """Declare a sink of JSON lines, with keys as those of `write_parquet`, and `compression`."""
        self.pipeline.add_sink(name, "json", path, self.named(), **keys)

    def write_orc(self, name: str, path: str, **keys: Any) -> None:
        """Declare an ORC sink, with keys as those of `write_parquet`, and `compression`."""
        self.pipeline.add_sink(name, "orc", path, self.named(), **keys)

    def write_arrow(self, name: str, path: str, **keys: Any) -> None:
        """Declare a sink of Arrow IPC files, with keys as those of `write_parquet`, and `compression`."""
        self.pipeline.add_sink(name, "arrow", path, self.named(), **keys)


def _formula(value: Any) -> Formula:
    return Formula(as_syntax(value))


def _formulas(columns: Mapping[str, Any]) -> dict[str, Formula]:
    return {name: _formula(value) for name, value in columns.items()}


def _calls(verb: str, columns: Mapping[str, Any]) -> dict[str, Formula]:
    """Return what a group's rows are asked for: a text is nearly always a call that was meant as SQL."""
    for name, value in columns.items():
        if isinstance(value, str):
            hint = f"Write expr({value!r}), or lit({value!r}) for a constant."
            message = coded("GE3008", f"takes an expression, got the string {value!r}")
            raise InvalidPipeline.because(message, hint, f"{verb}: {name}")
    return _formulas(columns)


def _flat(values: Iterable[Any]) -> list[Any]:
    """Return values that are given one by one, or several in a list."""
    return [one for value in values for one in as_names(value)]


def _names(within: str, *names: Names) -> tuple[Text, ...]:
    return read_plain(NAMES, _flat(names), within)


def _order(verb: str, *order: Names) -> tuple[Order, ...]:
    return read_plain(ORDER, _flat(order), f"{verb}: {'by' if verb == 'sort' else 'order_by'}")


def _kernel_keys(
    inputs: Names, outputs: Mapping[str, str], reference: str, kind: str, args: Mapping[str, Any] | None, nulls: str,
    by: Names,
) -> dict[str, Any]:  # fmt: skip
    """Return the keys that kernels of all kinds have."""
    return {
        "inputs": _names("kernel: inputs", inputs), "outputs": read_plain(TYPES, outputs, "kernel"),
        "reference": reference, "kind": kind, "args": _formulas(args or {}), "nulls": nulls,
        "by": _names("kernel: by", by),
    }  # fmt: skip

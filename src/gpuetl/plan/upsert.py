"""Plans of sinks in mode `upsert`: new rows are written first, then looked at, then put among the rows that stay.

| plan | what it computes |
|---|---|
| first | the pipeline's own: all sinks; the rows of an upsert go to files beside its target, the new rows |
| look | keys that repeat or are null, partitions of new rows, and files of the target that have keys of new rows |
| merge | the rows of those partitions that no new row replaces, and the new rows |

So new rows are computed once, all columns are read of touched partitions only, and the size of the new rows is known
before they are joined.

Delta Lake's MERGE works alike: a first join finds the files with matches, and a second one rewrites these files.
Iceberg and Hudi call it copy-on-write; Hudi finds the files by an index of keys instead of a join.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.formats.dataset import Dataset
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.places.paths import FilePath
from gpuetl.places.target import Target
from gpuetl.plan.node import Node, SortKey
from gpuetl.plan.nodes import Aggregate, Distinct, Filter, Join, Limit, Project, Read, Sort, Union, Write, passing
from gpuetl.types.data_types import BOOL, INT64, STRING, is_floating
from gpuetl.types.schema import free_name

SPOOLED = "parquet"
SHOWN_KEYS = 3
ROWS, KEYS = "rows", "keys"
FILE = ":file"


def spool_target(target: Target) -> Target:
    """Return where the new rows of an upsert wait: files beside the target, which are never committed."""
    path = target.path
    if isinstance(path, Path):
        path = Path(os.path.realpath(path)) if path.is_symlink() else path
        path = path.with_name(f"{path.name}.upsert")
    else:
        path = replace(path, key=path.key.with_name(f"{path.name}.upsert"))
    return Target(target.name, SPOOLED, path, mode="append")


def spooled(write: Write) -> Write:
    """Return the sink of the first plan."""
    return replace(write, target=spool_target(write.target), order=())


def count_of(source: Node, names: Mapping[str, Call], by: tuple[str, ...] = ()) -> Aggregate:
    """Return counts of rows, for each value of columns."""
    return Aggregate(source=source, by=by, calls=dict(names), origin=source.origin)


def rows_call() -> Call:
    """Return the number of rows."""
    return Call(FUNCTIONS["aggregate", "count_rows"], (), INT64)


def sum_call(name: str) -> Call:
    """Return the sum of a column of counts."""
    return Call(FUNCTIONS["aggregate", "sum"], (Column(name, INT64),), INT64)


def scalar(name: str, *args: Expr) -> Call:
    """Return a call that gives a boolean."""
    return Call(FUNCTIONS["scalar", name], args, BOOL)


class UpsertPlans(NamedTuple):
    """The plans of one sink.

    `new` are the rows to put in, and `old` those of files of the target.
    """

    write: Write
    new: Dataset
    old: Dataset

    @property
    def on(self) -> tuple[str, ...]:
        """The columns by which rows are found."""
        return self.write.target.on

    def read(self, dataset: Dataset, columns: Iterable[str]) -> Read:
        """Read columns of the new rows, or of the target's."""
        return Read(dataset=dataset, columns=tuple(columns), origin=self.write.origin)

    @property
    def new_keys(self) -> Read:
        """The keys of the new rows."""
        return self.read(self.new, self.on)

    @property
    def nulls(self) -> Node:
        """One row: how many new rows have a null in their key."""
        schema = self.write.schema
        tests = [scalar("is_null", Column(name, schema[name])) for name in self.on]
        predicate = tests[0] if len(tests) == 1 else scalar("or", *tests)
        nulls = Filter(source=self.new_keys, predicate=predicate, origin=self.write.origin)
        return count_of(nulls, {ROWS: rows_call()})

    @property
    def repeated(self) -> Node:
        """The keys that several new rows have, and how many rows."""
        rows = free_name(ROWS, self.write.schema)
        groups = count_of(self.new_keys, {rows: rows_call()}, self.on)
        several = scalar("greater", Column(rows, INT64), Literal(1, INT64))
        return Filter(source=groups, predicate=several, origin=self.write.origin)

    @property
    def repeats(self) -> Node:
        """One row: how many keys several new rows have."""
        return count_of(self.repeated, {KEYS: rows_call()})

    @property
    def shown_repeats(self) -> Node:
        """The first of the keys that repeat."""
        ordered = Sort(source=self.repeated, by=tuple(map(SortKey, self.on)), origin=self.write.origin)
        return Limit(source=ordered, count=SHOWN_KEYS, origin=self.write.origin)

    @property
    def new_partitions(self) -> Node:
        """The values of partition columns of new rows."""
        names = self.write.target.partition_by
        return Distinct(source=self.read(self.new, names), on=names, origin=self.write.origin)

    @property
    def matched_files(self) -> Node:
        """The paths of the target's files that have keys of new rows."""
        partitions = self.write.target.partition_by
        types = {name: dtype for name, dtype in self.old.partitions.items() if name in self.on}
        declared = {name: self.write.schema[name] for name in self.on if name not in partitions}
        files = replace(
            self.old, declared=declared, partitions={**types, FILE: STRING}, filename=FILE, extra_columns="ignore"
        )
        vars(files)["files"] = tuple(
            replace(file, partition={**file.partition, FILE: str(file.path)}) for file in self.old.files
        )
        vars(files)["row_groups"] = that_may_match(files, self.new, self.on)
        old = self.read(files, (*self.on, FILE))
        found = Join(
            left=old, right=self.new_keys, left_on=self.on, right_on=self.on, how="semi", origin=self.write.origin
        )
        paths = Project(source=found, columns={FILE: Column(FILE, STRING)}, origin=self.write.origin)
        return Distinct(source=paths, on=(FILE,), origin=self.write.origin)

    @property
    def merged(self) -> Write:
        """The sink of the merge plan: rows of the target that no new row replaces, and the new rows."""
        write = self.write
        new: Node = self.read(self.new, write.schema)
        rows = new
        if self.old.files:
            old = Project(source=self.read(self.old, write.schema), columns=passing(write.schema), origin=write.origin)
            kept = Join(
                left=old, right=self.new_keys, left_on=self.on, right_on=self.on, how="anti", origin=write.origin
            )
            rows = Union(left=kept, right=new, origin=write.origin)
        if write.order:
            rows = Sort(source=rows, by=write.order, origin=write.origin)
        return replace(write, source=rows)

    @property
    def replaced(self) -> Node:
        """One row: how many rows of the target are replaced, and how many keys they have."""
        old = self.read(self.old, self.on)
        found = Join(
            left=old, right=self.new_keys, left_on=self.on, right_on=self.on, how="semi", origin=self.write.origin
        )
        rows = free_name(ROWS, self.write.schema)
        groups = count_of(found, {rows: rows_call()}, self.on)
        return count_of(groups, {ROWS: sum_call(rows), KEYS: rows_call()})


def files_at(write: Write, names: Iterable[str]) -> Dataset:
    """Return the target's rows as a source, of files given by their names below it."""
    target = write.target
    partitions = {name: write.schema[name] for name in target.partition_by}
    declared = {name: dtype for name, dtype in write.schema.items() if name not in partitions}
    dataset = Dataset(target.name, target.format, target.path, declared, partitions, extra_columns="error")
    wanted = set(names)
    if not wanted:
        return dataset.with_files(())
    return dataset.with_files(tuple(file for file in dataset.files if name_below(target, file.path) in wanted))


def name_below(target: Target, path: FilePath) -> str:
    """Return the name of a file below the target; a single file has its own."""
    return path.name if target.is_file else "/".join(path.parts[len(target.path.parts) :])


def new_rows(write: Write, path: FilePath, files: Iterable[DataFile]) -> Dataset:
    """Return the new rows as a source."""
    return Dataset(write.target.name, SPOOLED, path, dict(write.schema)).with_files(tuple(files))


def that_may_match(old: Dataset, new: Dataset, on: Iterable[str]) -> tuple[RowGroup, ...]:
    """Return the pieces of the target whose keys may be those of new rows, by the least and greatest values of both."""
    limits = dict[str, tuple[Any, Any]]()
    for name in on:
        ranges = [group.ranges.get(name) for group in new.row_groups if group.rows]
        if is_floating(old.schema[name]) or None in ranges or not ranges:
            continue
        least = [one[0] for one in ranges if one and one[0] is not None]
        greatest = [one[1] for one in ranges if one and one[1] is not None]
        if least and len(least) == len(greatest):
            limits[name] = min(least), max(greatest)

    def may_match(group: RowGroup) -> bool:
        for name, (least, greatest) in limits.items():
            own = group.ranges.get(name)
            if own is not None and (own[0] is None or own[0] > greatest or own[1] < least):
                return False
        return True

    return tuple(filter(may_match, old.row_groups))

"""What the runs that are killed write: old rows, new rows, and which of them a reader may find at any time.

The expected rows are computed here from the documented modes, and not by gpuetl.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

Mode = Literal["error", "overwrite", "append", "run_key", "replace_partitions"]
Row = tuple[str, int, int]
Rows = Counter[Row]
State = Literal["old", "new", "between", "less", "more", "torn"]
WHOLE: tuple[State, ...] = ("old", "new", "between")

COLUMNS = {"k": pa.string(), "day": pa.int64(), "x": pa.int64()}
EARLIER: tuple[tuple[int, tuple[Row, ...]], ...] = (
    (1, (("a", 1, 10), ("b", 1, 11), ("c", 1, 12), ("a", 1, 13))),
    (2, (("b", 2, 20), ("a", 2, 21), ("c", 2, 22))),
)
"""The runs before the one that is killed: the parameter `day`, and the rows."""
KILLED: tuple[int, tuple[Row, ...]] = (2, (("b", 2, 30), ("d", 2, 31), ("a", 2, 32), ("d", 2, 33)))
"""The run that is killed.  It repeats the run key of the second one, lacks the partition `c`, and adds `d`."""


@dataclass(frozen=True)
class Sink:
    """One sink of a pipeline: where it writes, and how."""

    name: str
    path: str
    mode: Mode
    partitioned: bool = False

    @property
    def format(self) -> str:
        """The format of the files."""
        return "csv" if self.path.endswith("csv") else "parquet"

    @property
    def yaml(self) -> str:
        """The sink in a pipeline file."""
        mode = "append, run_key: [day]" if self.mode == "run_key" else self.mode
        partitions = ", partition_by: k" if self.partitioned else ""
        return f"  {self.name}: {{from: t, {self.format}: {self.path}, mode: {mode}{partitions}}}\n"

    def after(self, old: Rows, new: Sequence[Row], day: int) -> Rows:
        """Return the rows of the target after a run."""
        if self.mode == "append":
            return old + Counter(new)
        if self.mode == "run_key":
            return Counter({row: count for row, count in old.items() if row[1] != day}) + Counter(new)
        if self.mode == "replace_partitions":
            replaced = {row[0] for row in new}
            return Counter({row: count for row, count in old.items() if row[0] not in replaced}) + Counter(new)
        return Counter(new)

    def state(self, found: Rows | None, old: Rows, new: Rows) -> State:
        """Say what a reader finds: None stands for a file that cannot be read.

        A folder to which a run appends may have some files of the run.  A folder of partitions may have some new
        partitions.  A run key's old files may still stand beside its new ones.  Each is "between".
        """
        if found is None:
            return "torn"
        if found in (old, new):
            return "new" if found == new else "old"
        if self.mode == "replace_partitions":
            parts = [self._part(found, old, new, k) for k in {row[0] for row in (*found, *old, *new)}]
            return next((part for part in ("less", "more") if part in parts), "between")
        if self.mode in ("append", "run_key"):
            if not (old <= found or new <= found):
                return "less"
            return "between" if found <= old | new else "more"
        return "less" if found <= old or found <= new else "more"

    def _part(self, found: Rows, old: Rows, new: Rows, k: str) -> State:
        here, before, after = (Counter({r: n for r, n in rows.items() if r[0] == k}) for rows in (found, old, new))
        if here in (before, after):
            return "old" if here == before else "new"
        return "less" if here <= before or here <= after else "more"


@dataclass(frozen=True)
class Scenario:
    """A pipeline of several sinks, and the runs before the one that is killed."""

    name: str
    sinks: tuple[Sink, ...]

    @property
    def is_new(self) -> bool:
        """Whether the targets are not there before the run: a mode is `error`."""
        return any(sink.mode == "error" for sink in self.sinks)

    @property
    def yaml(self) -> str:
        """The pipeline file."""
        head = "gpuetl: 1\nname: kills\nparams: {day: {type: int64, required: true}}\nsources:\n  t: {parquet: t.parquet}\nsinks:\n"
        return head + "".join(sink.yaml for sink in self.sinks)

    def earlier(self, sink: Sink) -> list[tuple[int, tuple[Row, ...]]]:
        """Return the runs that wrote a sink before."""
        return [] if sink.mode == "error" else list(EARLIER)

    def expected(self, runs: int) -> dict[str, Rows]:
        """Return the rows of each sink before the killed run, or after it was repeated so many times."""
        rows: dict[str, Rows] = {}
        for sink in self.sinks:
            state: Rows = Counter()
            for day, given in (*self.earlier(sink), *[KILLED] * runs):
                state = sink.after(state, given, day)
            rows[sink.name] = state
        return rows

    def write_rows(self, root: Path, rows: Iterable[Row]) -> None:
        """Write the source of a run."""
        columns = zip(*rows, strict=True)
        table = pa.table({name: pa.array(c, t) for (name, t), c in zip(COLUMNS.items(), columns, strict=True)})
        pq.write_table(table, root / "t.parquet", row_group_size=2)

    def states(self, root: Path, old: dict[str, Rows], new: dict[str, Rows]) -> dict[str, State]:
        """Say what a reader finds in each sink."""
        return {s.name: s.state(read_sink(root / s.path), old[s.name], new[s.name]) for s in self.sinks}


def all_sinks(mode: Mode) -> tuple[Sink, ...]:
    """Return three sinks in two folders: files, folders and partitions, as far as the mode takes them."""
    first = (
        Sink("a", "one/a.parquet", mode)
        if mode in ("error", "overwrite")
        else Sink("a", "one/a", mode, mode != "append")
    )
    return (first, Sink("b", "one/b", mode, mode == "replace_partitions"), Sink("c", "two/c_csv", mode, True))


SCENARIOS = (
    *(Scenario(mode, all_sinks(mode)) for mode in ("error", "overwrite", "append", "run_key", "replace_partitions")),
    Scenario(
        "mixed",
        (
            Sink("a", "one/a.parquet", "overwrite"),
            Sink("b", "one/b", "run_key"),
            Sink("c", "two/c", "replace_partitions", True),
            Sink("d", "two/deep/d", "append"),
        ),
    ),
)


def read_sink(path: Path) -> Rows | None:
    """Read all rows of a sink as a tool does that lists its files; None where one cannot be read."""
    rows: Rows = Counter()
    try:
        for file in listed(path):
            rows.update(read_file(file))
    except (OSError, pa.ArrowException, ValueError):
        return None
    return rows


def listed(path: Path) -> list[Path]:
    """Return the files that a reader lists: names that begin with a dot or an underscore are hidden."""
    if path.is_file():
        return [path]
    found = []
    for place, folders, names in os.walk(path, followlinks=True):
        folders[:] = [name for name in folders if name[0] not in "._"]
        found += [Path(place, name) for name in names if name[0] not in "._"]
    return found


class Listed(NamedTuple):
    """How the files of a sink and the lists of gpuetl fit together: `gone` are on a list, and not there."""

    unlisted: list[str]
    gone: list[str]
    lists: int


def files_and_lists(path: Path) -> Listed:
    """Compare the files of a sink's folder with what `.gpuetl` lists; a sink that is one file has no list."""
    if not path.is_dir():
        return Listed([], [], 0)
    lists = list((path / ".gpuetl").glob("*.json"))
    named = {name: size for one in lists for name, size in json.loads(one.read_text())["files"].items()}
    there = {str(file.relative_to(path)): file.stat().st_size for file in listed(path)}
    unlisted = [name for name, size in there.items() if named.get(name) != size]
    return Listed(unlisted, [name for name in named if name not in there], len(lists))


def read_file(file: Path) -> list[Row]:
    """Return the rows of a file; `k` may stand in the name of its folder.  No thread is started."""
    if file.suffix == ".csv":
        options = pc.ConvertOptions(column_types=COLUMNS)
        table = pc.read_csv(file, pc.ReadOptions(use_threads=False), convert_options=options)
    else:
        table = pq.ParquetFile(file, pre_buffer=False).read(use_threads=False)
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    if file.parent.name.startswith("k="):
        columns["k"] = [file.parent.name[2:]] * table.num_rows
    return list(zip(*(columns[name] for name in COLUMNS), strict=True))


def leftovers(root: Path) -> set[str]:
    """Return folders and hidden files, without the numbers of runs: what a run leaves beside its rows."""
    found = set()
    for path in root.rglob("*"):
        name = str(path.relative_to(root))
        if root / ".gpuetl" in (path, *path.parents):  # manifests of runs
            continue
        if path.is_dir() or any(part.startswith((".", "_")) for part in Path(name).parts):
            found.add(re.sub(r"[0-9a-f]{6,}|[0-9]+", "#", name))
    return found

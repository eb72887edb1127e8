"""A pipeline as written: what YAML and Python both build, before any schema is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from gpuetl.errors import Place
from gpuetl.format_options import NO_OPTIONS, FormatOptions
from gpuetl.formats.dataset import ExtraColumns, MissingColumns
from gpuetl.formats.frames import SLICE_ROWS
from gpuetl.places.target import Mode, OnEmpty
from gpuetl.records import dataclass
from gpuetl.spec.alerts import AlertSpecs
from gpuetl.spec.expect.rules import Rule
from gpuetl.spec.fields import key
from gpuetl.spec.forms import (
    BOOLEAN,
    EXPRESSION,
    EXTRA_COLUMNS,
    MISSING_COLUMNS,
    NAME,
    NAMES,
    ORDER,
    PARTITIONS,
    SCHEMA,
    SOME_NAMES,
    choice,
)
from gpuetl.spec.incremental import INCREMENTAL, IncrementalSpec
from gpuetl.spec.profile import ProfileSpec, no_environment
from gpuetl.spec.state import StateSpec
from gpuetl.spec.steps import Step
from gpuetl.spec.steps.scalar import scalar_stages
from gpuetl.spec.storage import STORAGE_OPTIONS, StorageOptions
from gpuetl.spec.telemetry import Telemetry
from gpuetl.spec.tests import TestSpec
from gpuetl.spec.values import Formula, Located, Order, Text, node_of
from gpuetl.types.data_types import DataType


@dataclass(frozen=True)
class ParameterSpec:
    """A typed parameter: required, or with a default of its type."""

    dtype: DataType
    required: bool = False
    default: Any = None


@dataclass(frozen=True)
class SourceSpec:
    """Files to read.

    `partitions` are the types of the columns in the path (`name=value`).  `filename` names a column with the files'
    paths.  `exclude` are columns that are not read.  `options` are keys that the format declares.
    """

    format: str
    path: Text
    schema: Mapping[str, DataType] = key(
        SCHEMA, {}, doc="the columns to read and their types; `infer` takes the types of a CSV file from its first rows"
    )
    partitions: Mapping[str, DataType] = key(
        PARTITIONS, {}, doc="columns in the names of folders, such as `day=2026-11-01`, and their types"
    )
    columns: tuple[str, ...] = key(NAMES, (), doc="the columns to read; by default all")
    exclude: tuple[str, ...] = key(NAMES, (), doc="columns that are not read")
    filename: str = key(NAME, "", doc="the name of a column to add, with the path of each row's file")
    filter: Formula | None = key(EXPRESSION, None, doc="an SQL condition; only rows for which it is true are read")
    extra_columns: ExtraColumns = key(
        EXTRA_COLUMNS, "", doc="what to do with columns of files that `schema` does not have"
    )
    missing_columns: MissingColumns = key(
        MISSING_COLUMNS, "error", doc="what to do where a file lacks a column: stop, or read null"
    )
    incremental: IncrementalSpec | None = key(
        INCREMENTAL, None, doc="read only what no successful run has read: new files, or rows beyond a watermark"
    )
    storage: str = key(NAME, "", doc="the name of options of a store, declared under `storage`")
    storage_options: StorageOptions = key(STORAGE_OPTIONS, (), doc="options of the store that has the files")
    options: FormatOptions = NO_OPTIONS


@dataclass(frozen=True, eq=False)
class FrameSpec:
    """Rows in memory, a `pyarrow.Table` of the language's types; declared in Python, a file cannot hold them.

    `columns`, `filter` and `exclude` are those of a source of files in whose place the rows stand.
    `slice_rows` is how many of the rows a partition has at least.  `quarantines` says that the source has a quarantine,
    which then has no row.
    """

    table: Any = field(repr=False)
    columns: tuple[str, ...] = ()
    filter: Formula | None = None
    slice_rows: int = SLICE_ROWS
    quarantines: bool = False
    exclude: tuple[str, ...] = ()
    node: Located | None = field(default=None, repr=False)


@dataclass(frozen=True)
class StageSpec:
    """A named sequence of steps that begins with a source or another stage; a step that cannot be read is None.

    `expect` are rules for the rows that the steps give; one that cannot be read is None.
    `nodes` say where the steps stand.  With `checkpoint` a run keeps the rows in its state folder, for a later one.
    """

    from_: Text
    steps: tuple[Step | None, ...]
    expect: tuple[Rule | None, ...] = ()
    nodes: tuple[Located | None, ...] = field(default=(), compare=False, repr=False)
    checkpoint: bool = False

    @property
    def reads(self) -> tuple[str, ...]:
        """The sources and stages that it reads."""
        parts = (part for part in (*self.steps, *self.expect) if part)
        return (self.from_, *(name for part in parts for name in (*part.reads, *scalar_stages(part))))

    def node_of_step(self, number: int) -> Located | None:
        """Return where a step, counted from 1, stands; of another number where the stage begins."""
        return self.nodes[number - 1] if 0 < number <= len(self.nodes) else node_of(self.from_)


@dataclass(frozen=True)
class SinkSpec:
    """Files to write the result of a stage, or a source, to; `options` are keys that the format declares."""

    format: str
    path: Text
    from_: Text = key(NAME, name="from", doc="the stage or source whose rows are written")
    partition_by: tuple[str, ...] = key(NAMES, (), doc="columns whose values become folders, such as `month=3`")
    sort_by: tuple[Order, ...] = key(ORDER, (), doc="the order of the rows in the files: columns or expressions")
    mode: Mode = key(
        choice("error", "overwrite", "append", "replace_partitions", "upsert"),
        "error",
        doc="what happens if the target exists",
    )
    on: tuple[str, ...] = key(
        NAMES, (), doc="the columns of `mode: upsert` by which a row replaces the one that is there"
    )
    on_empty: OnEmpty = key(choice("write", "keep", "error"), "write", doc="what happens if there are no rows")
    run_key: tuple[str, ...] = key(
        SOME_NAMES,
        (),
        doc="parameters that identify a run: a second run with the same values replaces the files of the first",
    )
    keep_foreign: bool = key(BOOLEAN, False, doc="keep files that gpuetl did not write in folders that are replaced")
    storage: str = key(NAME, "", doc="the name of options of a store, declared under `storage`")
    storage_options: StorageOptions = key(STORAGE_OPTIONS, (), doc="options of the store to write to")
    options: FormatOptions = NO_OPTIONS


@dataclass(frozen=True)
class FileText:
    """The text of a file of a pipeline, with the name that messages have for it."""

    name: str
    text: str = field(repr=False)


@dataclass(frozen=True)
class PipelineSpec:
    """All of a pipeline; maps keep the order in which they were written.

    `storage` are the options of object stores that sources and sinks name.
    `profiles` are what differs between places where it runs; `profile` is the one that is applied.
    `telemetry` says where runs report to.
    `environment` has the variables that its text names.  `included` are names that other files declare, by kind.
    `unreadable` are the sources and stages whose text is wrong: they exist, so naming them is no second mistake.
    `on_failure` and `on_success` say who is told how a run ended.
    `profile_name` is the profile's name.  `files` are the texts of the file that was read and those that it includes.
    `state` is the folder of what the pipeline remembers between its runs.  By default it is a hidden one next to the
    pipeline's file, named as the file is (its `stem`), or as the pipeline.  `twin` is another pipeline's file with the
    same stem, such as `daily.yml` next to `daily.yaml`.
    `places` says where names stand in the file, by kind (`parameter`, `storage`, `source`, `stage`, `sink`) and name.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, ParameterSpec] = field(default_factory=dict)
    storage: Mapping[str, StorageOptions] = field(default_factory=dict)
    sources: Mapping[str, SourceSpec | FrameSpec] = field(default_factory=dict)
    stages: Mapping[str, StageSpec] = field(default_factory=dict)
    sinks: Mapping[str, SinkSpec] = field(default_factory=dict)
    tests: tuple[TestSpec, ...] = ()
    unreadable: frozenset[str] = frozenset()
    places: Mapping[tuple[str, str], Place] = field(default_factory=dict, compare=False, repr=False)
    profiles: Mapping[str, ProfileSpec] = field(default_factory=dict)
    profile: ProfileSpec = ProfileSpec()
    telemetry: Telemetry = Telemetry()
    environment: Mapping[str, str] = field(default_factory=no_environment, compare=False, repr=False)
    included: frozenset[tuple[str, str]] = field(default=frozenset(), compare=False, repr=False)
    on_failure: AlertSpecs = ()
    on_success: AlertSpecs = ()
    profile_name: str = field(default="", compare=False)
    files: tuple[FileText, ...] = field(default=(), compare=False, repr=False)
    state: StateSpec | None = None
    stem: str = field(default="", compare=False)
    twin: str = field(default="", compare=False)

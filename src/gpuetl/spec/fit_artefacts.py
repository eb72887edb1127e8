"""The artefacts of `fit` steps: a folder with `fit.json` and a Parquet file for each relation of statistics.

`fit.json` has one line: the version of this form, the transforms with the names of their files, the types of the
columns that they read, a fingerprint of these, and the id of the run that wrote it.  All files are written in the
commit of the sinks, and so belong together.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pyarrow as pa

from gpuetl.format_options import NO_OPTIONS
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.frames import FrameDataset
from gpuetl.formats.registry import format_named
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.paths import FilePath
from gpuetl.places.target import Target
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Read, Write
from gpuetl.records import dataclass
from gpuetl.spec.steps import Context
from gpuetl.spec.steps.fit import Fitted, Transform, transforms_of
from gpuetl.spec.steps.fit.table import write_transforms
from gpuetl.spec.steps.fit.transform import Statistics
from gpuetl.spec.values import BadValue, Text
from gpuetl.state.files import state_files
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import parse_type, type_name
from gpuetl.version import __version__

FORM = 1
"""The version of the form of `fit.json`."""
DESCRIPTION = "fit.json"
STATISTICS = "statistics"


@dataclass
class FitArtefacts:
    """The fits of a pipeline's stages, and the sinks that write those which are saved."""

    path: Callable[[str, Text, bool], FilePath | None]
    """Returns the path that a stage's step names, to read (True) or to write; None where it is wrong."""
    run_id: str
    looks_at_files: bool
    stages: dict[str, Fitted] = field(default_factory=dict)
    sinks: dict[str, Write] = field(default_factory=dict)
    saved: dict[str, Text] = field(default_factory=dict)
    """The texts of the paths of `sinks`, by sink."""

    def keep(self, stage: str, fitted: Fitted, save: Text | None) -> None:
        """Remember what a stage learns, and plan the sinks that save it."""
        self.stages[stage] = fitted
        folder = self.path(stage, save, False) if save is not None else None
        if save is None or folder is None:
            return
        entries = []
        for number, (transform, statistics) in enumerate(zip(fitted.transforms, fitted.statistics, strict=True), 1):
            files: dict[str, str] = {}
            for name, node in statistics.items():
                files[name] = file_name(number, transform.verb, name, files.values())
                self.sink(f"{stage}.fit/{files[name]}", "parquet", folder / files[name], node, save)
            entries.append(json.dumps({**write_transforms((transform,))[0], STATISTICS: files}))
        columns = [f"{name}: {type_name(dtype)}" for name, dtype in fitted.columns.items()]
        row = {
            "version": pa.array([FORM], pa.int64()), "gpuetl": [__version__], "run": [self.run_id],
            "fingerprint": [fingerprint(entries, columns)], "columns": pa.array([columns], pa.list_(pa.string())),
            "transforms": pa.array([entries], pa.list_(pa.string())),
        }  # fmt: skip
        dataset = FrameDataset.of(f"{stage}.fit", pa.table(row))
        read = Read(dataset=dataset, columns=dataset.schema.names, origin=Origin("statistics", stage))
        self.sink(f"{stage}.fit/{DESCRIPTION}", "json", folder / DESCRIPTION, read, save)

    def sink(self, name: str, form: str, path: FilePath, source: Node, save: Text) -> None:
        """Plan a file of the artefact."""
        suffix = format_named(form).sink_suffix(path.name, NO_OPTIONS)
        target = Target(name, form, path, mode="overwrite", file_suffix=suffix)
        self.sinks[name], self.saved[name] = Write(source=source, target=target, origin=target.origin), save

    def of_stage(self, stage: str) -> Fitted | None:
        """Return what a stage has learned; None where it has no `fit` step."""
        return self.stages.get(stage)

    def load(self, context: Context, path: Text) -> Fitted | None:
        """Return what a folder has; None where that cannot be read, which is reported, or is not known yet."""
        folder = self.path(context.origin.name, path, True)
        if folder is None or not self.looks_at_files:
            return None
        try:
            return loaded(folder, Origin("statistics", context.origin.name))
        except WrongArtefact as error:
            context.problem(coded("GE1883", str(error)), error.hint, path)
        except (OSError, DatasetError) as error:
            context.problem(coded("GE1883", f"cannot read {folder}: {error}"), "Check the path and its rights.", path)
        return None


class WrongArtefact(Exception):
    """A folder that has no fit that this version can apply."""

    def __init__(self, message: str, hint: str) -> None:
        self.hint = hint
        super().__init__(message)


def loaded(folder: FilePath, origin: Origin) -> Fitted:
    """Read the description of a fit, and plan the reads of its statistics.

    Raises
    ------
    WrongArtefact
        For a folder without one, of another version, or that was changed by hand.
    OSError
        Where the folder or store refuses to be read.
    """
    text = state_files(folder).read(DESCRIPTION)
    if text is None:
        raise WrongArtefact(
            f"there is no {DESCRIPTION} in {folder}",
            "Run the pipeline whose fit step saves it first, or check the path.",
        )
    entries, columns = described(folder, text)
    transforms: list[Transform] = []
    statistics: list[Statistics] = []
    for entry in entries:
        files = entry.pop(STATISTICS)
        transforms += transforms_of([entry])
        statistics.append({name: read(folder, file, origin) for name, file in files.items()})
    types = {name: parse_type(dtype) for name, dtype in columns.items()}
    return Fitted(tuple(transforms), tuple(statistics), types, str(folder))


def described(folder: FilePath, text: bytes) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return the entries of the transforms and the types of columns that a description states."""
    where = f"{folder / DESCRIPTION}"
    hint = "Fit again."
    try:
        row = json.loads(text)
        version, entries, columns = row["version"], row["transforms"], row["columns"]
        if version != FORM:
            newer = f"{where} has version {version}, and this gpuetl reads version {FORM}"
            raise WrongArtefact(newer, "Use the gpuetl that wrote it, or fit again.")
        if row["fingerprint"] != fingerprint(entries, columns):
            raise WrongArtefact(f"{where} was changed: its fingerprint does not fit its content", hint)
        parsed = [json.loads(entry) for entry in entries]
        transforms_of([{k: v for k, v in entry.items() if k != STATISTICS} for entry in parsed])
        return parsed, dict(one.rsplit(": ", 1) for one in columns)
    except (ValueError, KeyError, TypeError, BadValue) as error:
        raise WrongArtefact(f"{where} is not a fit that gpuetl wrote: {error}", hint) from error


def read(folder: FilePath, file: str, origin: Origin) -> Node:
    """Plan to read the statistics of one file."""
    dataset = Dataset(f"{folder.name}/{file}", "parquet", folder / file)
    return Read(dataset=dataset, columns=dataset.schema.names, origin=origin)


def fingerprint(entries: list[str], columns: list[str]) -> str:
    """Return a digest of transforms and the types of the columns that they read."""
    return hashlib.sha256(json.dumps([FORM, entries, columns]).encode()).hexdigest()[:16]


def file_name(number: int, verb: str, name: str, others: Any) -> str:
    """Return the name of a file of statistics: the transform's number and verb, and what it is about."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:40]
    names = (f"{number:02}-{verb}-{plain}{again}.parquet" for again in ("", *(f"-{i}" for i in range(2, 10_000))))
    taken = frozenset(others)
    return next(one for one in names if one not in taken)

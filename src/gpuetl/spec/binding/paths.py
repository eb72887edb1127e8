"""Bind the paths of sources, sinks, fit steps and the state: values for names, a store with its options."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from gpuetl.io.overlap import fixed_part
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.paths import FilePath, ImpossiblePath, StorePath, check_sandbox
from gpuetl.places.registry import check_store, path_of, scheme_problem
from gpuetl.records import dataclass
from gpuetl.sandbox import OutsideSandbox, current_sandbox
from gpuetl.spec.binding.reporter import Reporter
from gpuetl.spec.files.based import base_of, joined
from gpuetl.spec.model import FrameSpec, PipelineSpec
from gpuetl.spec.parameters import UnboundScalar, UnresolvedScalar, remember_paths, resolve_scalars
from gpuetl.spec.storage import StorageBinder, StorageOptions, WrongStorage
from gpuetl.spec.unused import NotedParameters
from gpuetl.state.run_store import default_state

IN_SANDBOX = "Use a path in the sandbox, or run without --sandbox if you trust the author of the file."


@dataclass
class PathBinder:
    """Binds the paths of a pipeline whose relative paths start at `folder`."""

    spec: PipelineSpec
    parameters: NotedParameters
    folder: FilePath
    run_id: str
    reporter: Reporter
    looks_at_files: bool

    def path(self, kind: str, of: str, text: str, reads: bool = False) -> FilePath | None:
        """Return the path of a source, a sink or the state, or that a stage `reads` or writes.

        None for one that is wrong, or not known yet.
        """
        reads = reads or kind == "source"
        sandbox = current_sandbox()
        try:
            if sandbox:
                sandbox.refuse_environment(text)
            whole = joined(base_of(text), resolve_scalars(text, self.parameters, self.run_id, self.spec.environment))
            if not self.has_filesystem(kind, of, whole, text, reads):
                return None
            if kind != "source" and "*" in whole:
                message = coded("GE1008", f"the path '{whole}' has a '*', which only paths of sources have")
                self.reporter.add(message, "Name one file, or a folder.", text, kind, of)
                return None
            path = path_of(whole, self.folder)
            remember_paths(text, path, self.spec.environment)
            check_sandbox([fixed_part(path)])
            allowed = self.has_filesystem(kind, of, str(path), text, reads)
            return self.with_storage(kind, of, path, text) if allowed else None
        except OutsideSandbox as error:
            self.reporter.add(str(error), IN_SANDBOX, text, kind, of)
        except UnresolvedScalar as error:
            self.reporter.add(str(error), "", text, kind, of)
        except ImpossiblePath as error:
            self.reporter.add(coded("GE1008", str(error)), "", text, kind, of)
        except UnboundScalar:  # `validate` without the value of a required parameter: the path is not known yet
            self.has_filesystem(kind, of, text, text, reads)
        return None

    @cached_property
    def state(self) -> FilePath | None:
        """The state folder; None where there can be none: next to a file of an HTTP server."""
        if self.spec.state is not None:
            path = self.path("state", str(self.spec.name), self.spec.state.path)
            for name, sink in self.spec.sinks.items():
                target = self.path("sink", name, sink.path)
                if path and target and overlap(path, target):
                    message = coded("GE1575", f"the state folder {path} and sink '{name}' overlap: {target}")
                    self.reporter.add(
                        message, "Give the state a folder of its own.", self.spec.state.path, "sink", name
                    )
            return path
        if isinstance(self.folder, StorePath) and scheme_problem(str(self.folder), "write"):
            return None
        return default_state(self.folder, self.spec.stem or str(self.spec.name))

    def with_storage(self, kind: str, of: str, path: FilePath, text: str) -> FilePath | None:
        """Return a path with the options of its store, which its client takes; None for options that are wrong."""
        name, options = self.storage_of(kind, of)
        try:
            binder = StorageBinder(self.spec.storage, self.parameters, self.spec.environment)
            path = binder.bound(path, name, options)
            if self.looks_at_files:
                check_store(path)
        except WrongStorage as error:
            for problem in error.problems:
                place = problem.at.place() if problem.at else self.reporter.place_of(text)
                self.reporter.problems.add(problem.message, problem.hint, place, problem.within or f"{kind} '{of}'")
            return None
        except DatasetError as error:
            self.reporter.add(str(error), error.hint, text, kind, of)
            return None
        return path

    def storage_of(self, kind: str, of: str) -> tuple[str, StorageOptions]:
        """Return the name of the storage of a source, a sink or the state, and options of its own."""
        if kind == "state":
            return (self.spec.state.storage if self.spec.state else ""), ()
        if kind == "stage":  # of a fit step
            return "", ()
        entry = (self.spec.sinks if kind == "sink" else self.spec.sources)[of]
        assert not isinstance(entry, FrameSpec)
        return entry.storage, entry.storage_options

    def has_filesystem(self, kind: str, of: str, whole: str, text: str, reads: bool) -> bool:
        """Tell whether gpuetl reads or writes paths of this scheme; it is a problem where not."""
        if problem := scheme_problem(whole, "read" if reads else "write"):
            message, hint = problem
            self.reporter.add(coded("GE1409", message), hint, text, kind, of)
        return problem is None


def overlap(one: FilePath, other: FilePath) -> bool:
    """Tell whether one of two paths is the other, or below it."""
    if isinstance(one, StorePath) or isinstance(other, StorePath):
        length = min(len(one.parts), len(other.parts))
        return type(one) is type(other) and one.parts[:length] == other.parts[:length]
    here, there = Path(os.path.abspath(one)), Path(os.path.abspath(other))  # noqa: PTH100  links stay as they are
    return here.is_relative_to(there) or there.is_relative_to(here)

"""The state folder of a pipeline: read before a run, and changed in the commit of its sinks."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from gpuetl.errors import RunFailed, system_reason
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath, StorePath
from gpuetl.places.publishing import RunIdentity, StagedSink, WrittenFile
from gpuetl.places.registry import publisher_of
from gpuetl.places.target import Target
from gpuetl.records import dataclass
from gpuetl.state.files import StateFiles, state_files
from gpuetl.state.pipeline_state import DamagedState, PipelineState, UnreadableState
from gpuetl.telemetry.origin import Origin

STATE = "state.json"
FOLDERS = ("sources", "windows")
"""Folders whose files are valid only while `state.json` names them."""


@dataclass(frozen=True)
class RunStore:
    """The state folder of a pipeline."""

    files: StateFiles

    @classmethod
    def at(cls, path: FilePath) -> RunStore:
        """Return the store of a folder, which need not exist."""
        return cls(state_files(path))

    @property
    def path(self) -> FilePath:
        """The state folder."""
        return self.files.path

    @property
    def target(self) -> Target:
        """`state.json` as something that a commit changes."""
        return Target("state", "json", self.files.at(STATE), mode="overwrite", kind="state")

    def failed(self, why: str) -> RunFailed:
        """Word a failure of the state folder."""
        return RunFailed.at(Origin("state", str(self.path)), why)

    def read_for(self, pipeline: str, begins_anew: bool = False) -> PipelineState:
        """Return what the last successful run of a pipeline left; for a run that `begins_anew`, see `read`.

        Two pipelines with one folder would take each other's files for read: so another one's state is an error.

        Raises
        ------
        RunFailed
            As `read`, and for the state of another pipeline.
        """
        found = self.read(begins_anew)
        if found.pipeline not in ("", pipeline):
            why = f"{self.files.at(STATE)} is the state of pipeline '{found.pipeline}', and this one is '{pipeline}'"
            fix = (
                "Give each pipeline a folder of its own (state: PATH).  If you renamed it, change pipeline in that file"
            )
            raise self.failed(coded("GE1573", f"{why}.  {fix}"))
        return found

    def read(self, begins_anew: bool = False) -> PipelineState:
        """Return what the last successful run left; an empty state before the first one.

        A run that `begins_anew` replaces a damaged `state.json`, so it gets an empty state for one.

        Raises
        ------
        RunFailed
            Where `state.json` cannot be read, or is not that of this version of gpuetl.
        """
        try:
            text = self.files.read(STATE)
            return PipelineState() if text is None else PipelineState.from_json(text)
        except OSError as error:
            why = f"cannot read {self.files.at(STATE)}: {system_reason(error)}"
            raise self.failed(coded("GE1573", why)) from error
        except UnreadableState as error:
            is_damaged = isinstance(error, DamagedState)
            if begins_anew and is_damaged and text is not None:
                return PipelineState(damaged=sha256(text).hexdigest())
            why = f"cannot use {self.files.at(STATE)}: {error}"
            fix = "Restore it from a copy, or begin anew, which reads everything again: gpuetl run --full-refresh"
            if not is_damaged:
                fix = "Use the gpuetl that wrote it, or restore it from a copy.  Without it, the next run begins anew"
            raise self.failed(coded("GE1573", f"{why}.  {fix}")) from None

    def new_file(self, folder: str, label: str, run_id: str) -> str:
        """Return the name of a file that no other run writes, such as `sources/orders.<run id>.arrow`."""
        return f"{folder}/{label}.{run_id}.arrow"

    def stage(self, old: PipelineState, new: PipelineState, run: RunIdentity) -> StagedSink:
        """Stage a new state for the commit of a run that began with `old`; the caller closes what it gets.

        Raises
        ------
        RunFailed
            Here and in the commit, where another run has changed the state since, or a file of the new state is gone:
            then no sink changes.
        """
        staged = publisher_of(self.path).stage(self.target, run)

        def still_ours() -> None:
            found = self.read(begins_anew=bool(old.damaged))
            if (found.version, found.run_id, found.damaged) != (old.version, old.run_id, old.damaged):
                what = f"run {found.run_id} has changed the state in {self.path} since this run began"
                raise self.failed(coded("GE1574", f"{what}.  No sink has changed.  Run again"))
            if lost := [name for name in sorted(new.files) if self.files.size(name) is None]:
                what = f"{self.files.at(lost[0])} is gone, which this run has written"
                raise self.failed(coded("GE1574", f"{what}.  No sink has changed.  Run again"))

        staged.before_change.append(still_ours)
        try:
            staged.prepare()
            staged.path_of(STATE).write_bytes(new.to_json())
            staged.files.append(WrittenFile(STATE, staged.keep(STATE), 0.0))
        except OSError as error:
            staged.close()
            raise self.failed(coded("GE1573", f"cannot write to {self.path}: {system_reason(error)}")) from error
        except BaseException:
            staged.close()
            raise
        return staged

    def remove_unnamed(self, state: PipelineState) -> None:
        """Remove files that a state does not name, of its run and of runs that began before it.

        Those that are still going on began with an older state, so they cannot commit.  What cannot be removed stays.
        """
        began = state.run_id.partition("-")[0]
        for folder in FOLDERS:
            for name in self.files.names(folder):
                if name not in state.files and run_of(name).partition("-")[0] <= began:
                    self.files.delete(name)


def run_of(name: str) -> str:
    """Return the id of the run that wrote a file of the state folder."""
    return name.rpartition("/")[2].split(".")[-2]


def share_a_commit(paths: Iterable[FilePath]) -> bool:
    """Tell whether targets change in one step: all on this machine, or all in one bucket."""
    stores = {(one.scheme, one.parts[0]) if isinstance(one, StorePath) else ("", "") for one in paths}
    return len(stores) <= 1


def default_state(folder: FilePath, name: str) -> FilePath:
    """Return the state folder of a pipeline that names none: hidden, next to its file."""
    return folder / ".gpuetl" / name if isinstance(folder, Path) else folder.joined(f".gpuetl/{name}")

"""The content of `state.json`: what the last successful run of a pipeline left for the next one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from gpuetl.output_files import whole
from gpuetl.records import dataclass

SCHEMA_VERSION = 1
FILES = "files"
"""The key of an entry with the names of the files that it needs, below the state folder."""

Entry = Mapping[str, Any]
"""What a source or a window keeps, as plain JSON; whoever keeps it reads and checks it."""


class UnreadableState(Exception):
    """A `state.json` that this version of gpuetl cannot use; worded for the user."""


class DamagedState(UnreadableState):
    """A `state.json` that no version of gpuetl can use."""


@dataclass(frozen=True)
class PipelineState:
    """What the last successful run left.

    Parameters
    ----------
    version
        How many runs have changed the state; 0 before the first one.
    run_id, committed
        The run that wrote it, and when, as an ISO timestamp with its zone.
    pipeline
        The name of the pipeline that it is of.
    damaged
        The digest of a damaged `state.json` in whose place this state begins anew; never written.
    sources, windows
        What incremental sources have read, by name, and the entries of stateful windows, by stage and step.
    """

    version: int = 0
    run_id: str = ""
    committed: str = ""
    sources: Mapping[str, Entry] = field(default_factory=dict)
    windows: Mapping[str, Entry] = field(default_factory=dict)
    pipeline: str = ""
    damaged: str = ""

    def after(
        self,
        run_id: str,
        committed: str,
        sources: Mapping[str, Entry] | None = None,
        windows: Mapping[str, Entry] | None = None,
        pipeline: str = "",
    ) -> PipelineState:
        """Return the state after a run: the next version, with other entries where some are given."""
        return replace(
            self,
            version=self.version + 1,
            run_id=run_id,
            committed=committed,
            sources=self.sources if sources is None else sources,
            windows=self.windows if windows is None else windows,
            pipeline=pipeline or self.pipeline,
        )

    @property
    def files(self) -> frozenset[str]:
        """The names of the files that the state needs, below its folder."""
        return frozenset(self._files())

    def _files(self) -> Iterator[str]:
        for entries in (self.sources, self.windows):
            for entry in entries.values():
                yield from entry.get(FILES, ())

    def to_json(self) -> bytes:
        """Return the text of `state.json`."""
        content = {
            "schema_version": SCHEMA_VERSION,
            "pipeline": self.pipeline,
            "version": self.version,
            "run_id": self.run_id,
            "committed": self.committed,
            "sources": dict(self.sources),
            "windows": dict(self.windows),
        }
        return (json.dumps(whole(content), indent=1, ensure_ascii=False) + "\n").encode()

    @classmethod
    def from_json(cls, text: bytes) -> PipelineState:
        """Read the text of `state.json`.

        Raises
        ------
        DamagedState
            For other text.
        UnreadableState
            For the state of a newer gpuetl.
        """
        try:
            content = json.loads(text)
            stated = content["schema_version"]
            if stated == SCHEMA_VERSION:
                return cls(
                    int(content["version"]), str(content["run_id"]), str(content["committed"]),
                    dict(content["sources"]), dict(content["windows"]), str(content.get("pipeline", "")),
                )  # fmt: skip
        except (ValueError, TypeError, KeyError) as error:
            raise DamagedState("it is damaged, or was not written by gpuetl") from error
        raise UnreadableState(f"it has schema version {stated}, and this gpuetl reads version {SCHEMA_VERSION}")

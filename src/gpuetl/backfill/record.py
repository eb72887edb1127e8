"""Which values of a backfill have a successful run: one small file for each, in the state folder of the pipeline.

<state>/backfill/<parameter>.<fingerprint>/<value>.json

The fingerprint is that of the pipeline as it is written, of its kernels, and of its other parameters.  So all values
of a changed pipeline run again.  Each value has a file of its own: two backfills at the same time do not disturb each
other.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from pathlib import PurePosixPath
from urllib.parse import quote, unquote

from gpuetl.pipeline import Pipeline
from gpuetl.places.paths import FilePath
from gpuetl.plan.nodes import Kernel, KernelReduction
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.state.files import StateFiles, state_files
from gpuetl.user_kernels.contract import KernelContract
from gpuetl.user_kernels.python_function import PythonFunction

FOLDER = "backfill"
VERSION = 1


def digest_of(content: bytes) -> str:
    """Return a digest that fits a file's name."""
    return hashlib.sha256(content).hexdigest()[:16]


def kernel_digests(plan: Plan) -> list[str]:
    """Return digests of the texts of kernels and of their twins, which are in files of their own."""
    found = []
    for node in plan.nodes:
        if isinstance(node, Kernel | KernelReduction):
            contract = node.contract
            source = contract.source if isinstance(contract, KernelContract | PythonFunction) else ""
            found.append(digest_of(source.encode() + (contract.twin or b"")))
    return found


@dataclass(frozen=True)
class BackfillRecord:
    """The record of one parameter of one pipeline, as it is written now."""

    files: StateFiles
    folder: str

    @classmethod
    def of(
        cls, pipeline: Pipeline, plan: Plan, state: FilePath, name: str, others: Mapping[str, str]
    ) -> BackfillRecord:
        """Return the record of a parameter; `others` are the values of other parameters, and what else differs.

        `plan` is one for any value of the parameter.
        """
        text = json.dumps([pipeline.to_yaml(), sorted(others.items()), *kernel_digests(plan)])
        return cls(state_files(state), f"{FOLDER}/{name}.{digest_of(text.encode())}")

    def name_of(self, value: str) -> str:
        """Return the name of a value's file."""
        return f"{self.folder}/{quote(value, safe='-')}.json"

    def done(self) -> set[str]:
        """Return the values that have a successful run."""
        names = self.files.names(self.folder)
        return {unquote(PurePosixPath(name).stem) for name in names if name.endswith(".json")}

    def add(self, value: str, seconds: float) -> None:
        """Record a successful run."""
        content = {
            "schema_version": VERSION,
            "value": value,
            "finished": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "seconds": round(seconds, 3),
        }
        self.files.write(self.name_of(value), json.dumps(content).encode())

"""The namespace and the name of a dataset by OpenLineage's naming rules (its spec/Naming.md).

| path | namespace | name |
|---|---|---|
| /data/sales/2026.csv | file | /data/sales/2026.csv |
| s3://lake/sales/*.parquet | s3://lake | sales |
| gs://lake/sales | gs://lake | sales |
| az://lake/sales, of the account shop | abfss://lake@shop.dfs.core.windows.net | sales |
| https://example.com/sales.csv | https://example.com | sales.csv |
| rows in memory, of the source rows of the pipeline daily | memory | daily.rows |

A glob is left out from its first part on: files that one pipeline writes to a folder, and another reads by a glob, are
one dataset.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from gpuetl.formats.dataset import Dataset
from gpuetl.formats.frames import FrameDataset
from gpuetl.io.overlap import fixed_part
from gpuetl.messages import redacted
from gpuetl.places.paths import FilePath
from gpuetl.places.storage import PLACE_OPTIONS


class DatasetName(NamedTuple):
    """What OpenLineage knows a dataset by."""

    namespace: str
    name: str

    @property
    def uri(self) -> str:
        """The dataset's address."""
        return f"file://{self.name}" if self.namespace == "file" else f"{self.namespace}/{self.name}"


def name_of_source(dataset: Dataset, pipeline: str) -> DatasetName:
    """Return the name of a source."""
    if isinstance(dataset, FrameDataset):
        return DatasetName("memory", f"{pipeline}.{dataset.name}")
    return name_of_path(dataset.path)


def name_of_path(path: FilePath) -> DatasetName:
    """Return the name of files, without secrets that their path is made of."""
    path = fixed_part(path)
    if isinstance(path, Path):
        return DatasetName("file", redacted(os.path.abspath(path)))  # noqa: PTH100  Path.absolute keeps the dots
    place, *parts = path.parts
    namespace = f"{path.scheme}://{place}"
    if path.scheme == "az":
        account = path.storage.server("az")[PLACE_OPTIONS.index("account_name")]
        namespace = f"abfss://{place}@{account}.dfs.core.windows.net" if account else namespace
    return DatasetName(redacted(namespace), redacted("/".join(parts)) or "/")

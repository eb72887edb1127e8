"""Sinks of a pipeline: a method for each format of files.

Written by `make docs` (tools/generate_formats.py) from the keys that the formats declare: do not edit.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, Never

from gpuetl.expressions.operands import Names, OrderBy


class SinkMethods:
    """The part of a `Table` that declares sinks of files.

    Every method takes the name of the sink and its path: a file, or a folder.  A key of None is not
    given, but where None has a meaning of its own, as in YAML.
    """

    if TYPE_CHECKING:

        def _sink(self, name: str, format: str, path: str | os.PathLike[str], keys: Mapping[str, object]) -> None: ...

    def write_parquet(
        self,
        name: str,
        path: str | os.PathLike[str],
        *,
        partition_by: Names | None = None,
        sort_by: OrderBy | None = None,
        mode: Literal["error", "overwrite", "append", "replace_partitions", "upsert"] | None = None,
        on: Names | None = None,
        on_empty: Literal["write", "keep", "error"] | None = None,
        run_key: Names | None = None,
        keep_foreign: bool | None = None,
        storage: str | None = None,
        storage_options: Mapping[str, object] | None = None,
        compression: Literal["zstd", "snappy", "lz4", "none", "zstd(1)", "zstd(2)", "zstd(3)", "zstd(4)", "zstd(5)", "zstd(6)", "zstd(7)", "zstd(8)", "zstd(9)", "zstd(10)", "zstd(11)", "zstd(12)", "zstd(13)", "zstd(14)", "zstd(15)", "zstd(16)", "zstd(17)", "zstd(18)", "zstd(19)", "zstd(20)", "zstd(21)", "zstd(22)"] | None = "zstd(1)",
        row_group_rows: int = 1048576,
        statistics: bool = True,
        page_index: bool = False,
        bloom_filters: Names | None = None,
        dictionary: bool = True,
        **unknown: Never,
    ) -> None:
        """Declare a Parquet sink.

        Parameters
        ----------
        partition_by
            Columns whose values become folders, such as `month=3`.
        sort_by
            The order of the rows in the files: columns or expressions.
        mode
            What happens if the target exists.
        on
            The columns of `mode: upsert` by which a row replaces the one that is there.
        on_empty
            What happens if there are no rows.
        run_key
            Parameters that identify a run: a second run with the same values replaces the files of the first.
        keep_foreign
            Keep files that gpuetl did not write in folders that are replaced.
        storage
            The name of options of a store, declared under `storage`.
        storage_options
            Options of the store to write to.
        compression
            The codec of the pages; zstd alone is zstd(1).
        row_group_rows
            The rows of a row group.
        statistics
            Write the least and greatest value of each column chunk.
        page_index
            Write the least and greatest value of each page.
        bloom_filters
            The columns that get Bloom filters.
        dictionary
            Store columns whose values repeat with dictionaries.
        """
        keys: dict[str, object] = {
            "partition_by": partition_by,
            "sort_by": sort_by,
            "mode": mode,
            "on": on,
            "on_empty": on_empty,
            "run_key": run_key,
            "keep_foreign": keep_foreign,
            "storage": storage,
            "storage_options": storage_options,
            "compression": compression,
            "row_group_rows": row_group_rows,
            "statistics": statistics,
            "page_index": page_index,
            "bloom_filters": bloom_filters,
            "dictionary": dictionary,
        }
        given = {key: value for key, value in keys.items() if value is not None or key in ("compression",)}
        self._sink(name, "parquet", path, given | unknown)

    def write_csv(
        self,
        name: str,
        path: str | os.PathLike[str],
        *,
        partition_by: Names | None = None,
        sort_by: OrderBy | None = None,
        mode: Literal["error", "overwrite", "append", "replace_partitions", "upsert"] | None = None,
        on: Names | None = None,
        on_empty: Literal["write", "keep", "error"] | None = None,
        run_key: Names | None = None,
        keep_foreign: bool | None = None,
        storage: str | None = None,
        storage_options: Mapping[str, object] | None = None,
        compression: Literal["auto", "none", "gzip", "zstd", "bz2", "gzip(1)", "gzip(2)", "gzip(3)", "gzip(4)", "gzip(5)", "gzip(6)", "gzip(7)", "gzip(8)", "gzip(9)", "zstd(1)", "zstd(2)", "zstd(3)", "zstd(4)", "zstd(5)", "zstd(6)", "zstd(7)", "zstd(8)", "zstd(9)", "zstd(10)", "zstd(11)", "zstd(12)", "zstd(13)", "zstd(14)", "zstd(15)", "zstd(16)", "zstd(17)", "zstd(18)", "zstd(19)", "zstd(20)", "zstd(21)", "zstd(22)"] | None = "auto",
        **unknown: Never,
    ) -> None:
        """Declare a CSV sink.

        Parameters
        ----------
        partition_by
            Columns whose values become folders, such as `month=3`.
        sort_by
            The order of the rows in the files: columns or expressions.
        mode
            What happens if the target exists.
        on
            The columns of `mode: upsert` by which a row replaces the one that is there.
        on_empty
            What happens if there are no rows.
        run_key
            Parameters that identify a run: a second run with the same values replaces the files of the first.
        keep_foreign
            Keep files that gpuetl did not write in folders that are replaced.
        storage
            The name of options of a store, declared under `storage`.
        storage_options
            Options of the store to write to.
        compression
            The codec of the files; `auto` goes by the path's suffix.
        """
        keys: dict[str, object] = {
            "partition_by": partition_by,
            "sort_by": sort_by,
            "mode": mode,
            "on": on,
            "on_empty": on_empty,
            "run_key": run_key,
            "keep_foreign": keep_foreign,
            "storage": storage,
            "storage_options": storage_options,
            "compression": compression,
        }
        given = {key: value for key, value in keys.items() if value is not None or key in ("compression",)}
        self._sink(name, "csv", path, given | unknown)

    def write_json(
        self,
        name: str,
        path: str | os.PathLike[str],
        *,
        partition_by: Names | None = None,
        sort_by: OrderBy | None = None,
        mode: Literal["error", "overwrite", "append", "replace_partitions", "upsert"] | None = None,
        on: Names | None = None,
        on_empty: Literal["write", "keep", "error"] | None = None,
        run_key: Names | None = None,
        keep_foreign: bool | None = None,
        storage: str | None = None,
        storage_options: Mapping[str, object] | None = None,
        compression: Literal["auto", "none", "gzip", "zstd", "gzip(1)", "gzip(2)", "gzip(3)", "gzip(4)", "gzip(5)", "gzip(6)", "gzip(7)", "gzip(8)", "gzip(9)", "zstd(1)", "zstd(2)", "zstd(3)", "zstd(4)", "zstd(5)", "zstd(6)", "zstd(7)", "zstd(8)", "zstd(9)", "zstd(10)", "zstd(11)", "zstd(12)", "zstd(13)", "zstd(14)", "zstd(15)", "zstd(16)", "zstd(17)", "zstd(18)", "zstd(19)", "zstd(20)", "zstd(21)", "zstd(22)"] | None = "auto",
        **unknown: Never,
    ) -> None:
        """Declare a JSON sink.

        Parameters
        ----------
        partition_by
            Columns whose values become folders, such as `month=3`.
        sort_by
            The order of the rows in the files: columns or expressions.
        mode
            What happens if the target exists.
        on
            The columns of `mode: upsert` by which a row replaces the one that is there.
        on_empty
            What happens if there are no rows.
        run_key
            Parameters that identify a run: a second run with the same values replaces the files of the first.
        keep_foreign
            Keep files that gpuetl did not write in folders that are replaced.
        storage
            The name of options of a store, declared under `storage`.
        storage_options
            Options of the store to write to.
        compression
            `auto` goes by the path's suffix: `.gz`, `.zst`.
        """
        keys: dict[str, object] = {
            "partition_by": partition_by,
            "sort_by": sort_by,
            "mode": mode,
            "on": on,
            "on_empty": on_empty,
            "run_key": run_key,
            "keep_foreign": keep_foreign,
            "storage": storage,
            "storage_options": storage_options,
            "compression": compression,
        }
        given = {key: value for key, value in keys.items() if value is not None or key in ("compression",)}
        self._sink(name, "json", path, given | unknown)

    def write_orc(
        self,
        name: str,
        path: str | os.PathLike[str],
        *,
        partition_by: Names | None = None,
        sort_by: OrderBy | None = None,
        mode: Literal["error", "overwrite", "append", "replace_partitions", "upsert"] | None = None,
        on: Names | None = None,
        on_empty: Literal["write", "keep", "error"] | None = None,
        run_key: Names | None = None,
        keep_foreign: bool | None = None,
        storage: str | None = None,
        storage_options: Mapping[str, object] | None = None,
        compression: Literal["zstd", "snappy", "lz4", "zlib", "none"] | None = "zstd",
        **unknown: Never,
    ) -> None:
        """Declare an ORC sink.

        Parameters
        ----------
        partition_by
            Columns whose values become folders, such as `month=3`.
        sort_by
            The order of the rows in the files: columns or expressions.
        mode
            What happens if the target exists.
        on
            The columns of `mode: upsert` by which a row replaces the one that is there.
        on_empty
            What happens if there are no rows.
        run_key
            Parameters that identify a run: a second run with the same values replaces the files of the first.
        keep_foreign
            Keep files that gpuetl did not write in folders that are replaced.
        storage
            The name of options of a store, declared under `storage`.
        storage_options
            Options of the store to write to.
        compression
            The codec of stripes.
        """
        keys: dict[str, object] = {
            "partition_by": partition_by,
            "sort_by": sort_by,
            "mode": mode,
            "on": on,
            "on_empty": on_empty,
            "run_key": run_key,
            "keep_foreign": keep_foreign,
            "storage": storage,
            "storage_options": storage_options,
            "compression": compression,
        }
        given = {key: value for key, value in keys.items() if value is not None or key in ("compression",)}
        self._sink(name, "orc", path, given | unknown)

    def write_arrow(
        self,
        name: str,
        path: str | os.PathLike[str],
        *,
        partition_by: Names | None = None,
        sort_by: OrderBy | None = None,
        mode: Literal["error", "overwrite", "append", "replace_partitions", "upsert"] | None = None,
        on: Names | None = None,
        on_empty: Literal["write", "keep", "error"] | None = None,
        run_key: Names | None = None,
        keep_foreign: bool | None = None,
        storage: str | None = None,
        storage_options: Mapping[str, object] | None = None,
        compression: Literal["zstd", "lz4", "none", "zstd(1)", "zstd(2)", "zstd(3)", "zstd(4)", "zstd(5)", "zstd(6)", "zstd(7)", "zstd(8)", "zstd(9)", "zstd(10)", "zstd(11)", "zstd(12)", "zstd(13)", "zstd(14)", "zstd(15)", "zstd(16)", "zstd(17)", "zstd(18)", "zstd(19)", "zstd(20)", "zstd(21)", "zstd(22)"] | None = "zstd",
        **unknown: Never,
    ) -> None:
        """Declare an Arrow IPC sink.

        Parameters
        ----------
        partition_by
            Columns whose values become folders, such as `month=3`.
        sort_by
            The order of the rows in the files: columns or expressions.
        mode
            What happens if the target exists.
        on
            The columns of `mode: upsert` by which a row replaces the one that is there.
        on_empty
            What happens if there are no rows.
        run_key
            Parameters that identify a run: a second run with the same values replaces the files of the first.
        keep_foreign
            Keep files that gpuetl did not write in folders that are replaced.
        storage
            The name of options of a store, declared under `storage`.
        storage_options
            Options of the store to write to.
        compression
            The codec of the buffers.
        """
        keys: dict[str, object] = {
            "partition_by": partition_by,
            "sort_by": sort_by,
            "mode": mode,
            "on": on,
            "on_empty": on_empty,
            "run_key": run_key,
            "keep_foreign": keep_foreign,
            "storage": storage,
            "storage_options": storage_options,
            "compression": compression,
        }
        given = {key: value for key, value in keys.items() if value is not None or key in ("compression",)}
        self._sink(name, "arrow", path, given | unknown)

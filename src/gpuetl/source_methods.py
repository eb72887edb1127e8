"""Sources of a pipeline: a method for each format of files.

Written by `make docs` (tools/generate_formats.py) from the keys that the formats declare: do not edit.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, Never

from gpuetl.expressions.expression import Expression
from gpuetl.expressions.operands import Names

if TYPE_CHECKING:
    from gpuetl.spec.incremental import NewFilesKeys, WatermarkKeys
    from gpuetl.table import Table


class SourceMethods:
    """The part of a `Pipeline` that declares sources of files.

    Every method takes the name of the source and its path: a file, a glob, a folder, or one of them in a store.  A key
    of None is not given, but where None has a meaning of its own, as in YAML.
    """

    if TYPE_CHECKING:

        def _source(self, name: str, format: str, path: str | os.PathLike[str], keys: Mapping[str, object]) -> Table: ...

    def read_parquet(
        self,
        name: str,
        path: str | os.PathLike[str],
        *,
        schema: Mapping[str, str] | None = None,
        partitions: Mapping[str, str] | None = None,
        columns: Names | None = None,
        exclude: Names | None = None,
        filename: str | None = None,
        filter: Expression | None = None,
        extra_columns: Literal["error", "ignore", "add"] | None = None,
        missing_columns: Literal["error", "null"] | None = "error",
        incremental: NewFilesKeys | WatermarkKeys | None = None,
        storage: str | None = None,
        storage_options: Mapping[str, object] | None = None,
        verify_checksums: bool = False,
        verify_pages: bool = False,
        **unknown: Never,
    ) -> Table:
        """Declare a Parquet source.

        Parameters
        ----------
        schema
            The columns to read and their types; `infer` takes the types of a CSV file from its first rows.
        partitions
            Columns in the names of folders, such as `day=2026-11-01`, and their types.
        columns
            The columns to read; by default all.
        exclude
            Columns that are not read.
        filename
            The name of a column to add, with the path of each row's file.
        filter
            An SQL condition; only rows for which it is true are read.
        extra_columns
            What to do with columns of files that `schema` does not have.
        missing_columns
            What to do where a file lacks a column: stop, or read null.
        incremental
            Read only what no successful run has read: new files, or rows beyond a watermark.
        storage
            The name of options of a store, declared under `storage`.
        storage_options
            Options of the store that has the files.
        verify_checksums
            Compare pages with their checksums, where they have one.
        verify_pages
            Let Arrow decode and check all pages on the CPU.
        """
        keys: dict[str, object] = {
            "schema": schema,
            "partitions": partitions,
            "columns": columns,
            "exclude": exclude,
            "filename": filename,
            "filter": filter,
            "extra_columns": extra_columns,
            "missing_columns": missing_columns,
            "incremental": incremental,
            "storage": storage,
            "storage_options": storage_options,
            "verify_checksums": verify_checksums,
            "verify_pages": verify_pages,
        }
        given = {key: value for key, value in keys.items() if value is not None or key in ("missing_columns",)}
        return self._source(name, "parquet", path, given | unknown)

    def read_csv(
        self,
        name: str,
        path: str | os.PathLike[str],
        schema: Mapping[str, str] | Literal["infer"],
        *,
        partitions: Mapping[str, str] | None = None,
        columns: Names | None = None,
        exclude: Names | None = None,
        filename: str | None = None,
        filter: Expression | None = None,
        extra_columns: Literal["error", "ignore", "add"] | None = None,
        missing_columns: Literal["error", "null"] | None = "error",
        incremental: NewFilesKeys | WatermarkKeys | None = None,
        storage: str | None = None,
        storage_options: Mapping[str, object] | None = None,
        delimiter: str = ",",
        quote: str | None = '"',
        escape: str | None = "",
        comment: str | None = "",
        header: bool = True,
        skip_rows: int = 0,
        encoding: Literal["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16"] = "utf-8",
        compression: Literal["auto", "none", "gzip", "zstd", "bz2"] = "auto",
        nulls: Names | Mapping[str, Names] | None = None,
        decimal: Literal[".", ","] = ".",
        thousands: Literal[".", ",", "'", "_", " ", ""] | None = "",
        date_format: str | Mapping[str, str] | None = None,
        timestamp_format: str | Mapping[str, str] | None = None,
        on_bad_row: Literal["fail", "null", "quarantine"] | None = "fail",
        **unknown: Never,
    ) -> Table:
        """Declare a CSV source.

        Parameters
        ----------
        schema
            The columns to read and their types; `infer` takes the types of a CSV file from its first rows.
        partitions
            Columns in the names of folders, such as `day=2026-11-01`, and their types.
        columns
            The columns to read; by default all.
        exclude
            Columns that are not read.
        filename
            The name of a column to add, with the path of each row's file.
        filter
            An SQL condition; only rows for which it is true are read.
        extra_columns
            What to do with columns of files that `schema` does not have.
        missing_columns
            What to do where a file lacks a column: stop, or read null.
        incremental
            Read only what no successful run has read: new files, or rows beyond a watermark.
        storage
            The name of options of a store, declared under `storage`.
        storage_options
            Options of the store that has the files.
        delimiter
            The character between two fields.
        quote
            The character around a field that holds a delimiter or a line end.
        escape
            The character before one that is only text; a quote can also be doubled.
        comment
            Lines that begin with this character are not read.
        header
            Whether the first row has the column names.
        skip_rows
            Lines before the header that are not read.
        encoding
            How the text is written as bytes.
        compression
            `auto` goes by the file's suffix: `.gz`, `.zst`, `.bz2`.
        nulls
            The strings that stand for null; a quoted string is never null.
        decimal
            The decimal mark of numbers.
        thousands
            The mark between groups of three digits before the decimal mark.
        date_format
            How dates are written; by default as 2024-01-31.
        timestamp_format
            How timestamps are written; by default as 2024-01-31 12:00:00.
        on_bad_row
            What becomes of a row that cannot be read.
        """
        keys: dict[str, object] = {
            "schema": schema,
            "partitions": partitions,
            "columns": columns,
            "exclude": exclude,
            "filename": filename,
            "filter": filter,
            "extra_columns": extra_columns,
            "missing_columns": missing_columns,
            "incremental": incremental,
            "storage": storage,
            "storage_options": storage_options,
            "delimiter": delimiter,
            "quote": quote,
            "escape": escape,
            "comment": comment,
            "header": header,
            "skip_rows": skip_rows,
            "encoding": encoding,
            "compression": compression,
            "nulls": nulls,
            "decimal": decimal,
            "thousands": thousands,
            "date_format": date_format,
            "timestamp_format": timestamp_format,
            "on_bad_row": on_bad_row,
        }
        given = {key: value for key, value in keys.items() if value is not None or key in ("missing_columns", "quote", "escape", "comment", "thousands", "on_bad_row")}
        return self._source(name, "csv", path, given | unknown)

    def read_json(
        self,
        name: str,
        path: str | os.PathLike[str],
        *,
        schema: Mapping[str, str] | None = None,
        partitions: Mapping[str, str] | None = None,
        columns: Names | None = None,
        exclude: Names | None = None,
        filename: str | None = None,
        filter: Expression | None = None,
        extra_columns: Literal["error", "ignore", "add"] | None = None,
        missing_columns: Literal["error", "null"] | None = "error",
        incremental: NewFilesKeys | WatermarkKeys | None = None,
        storage: str | None = None,
        storage_options: Mapping[str, object] | None = None,
        sample_rows: int = 10000,
        on_bad_row: Literal["fail", "null", "quarantine"] | None = "fail",
        **unknown: Never,
    ) -> Table:
        """Declare a JSON source.

        Parameters
        ----------
        schema
            The columns to read and their types; `infer` takes the types of a CSV file from its first rows.
        partitions
            Columns in the names of folders, such as `day=2026-11-01`, and their types.
        columns
            The columns to read; by default all.
        exclude
            Columns that are not read.
        filename
            The name of a column to add, with the path of each row's file.
        filter
            An SQL condition; only rows for which it is true are read.
        extra_columns
            What to do with columns of files that `schema` does not have.
        missing_columns
            What to do where a file lacks a column: stop, or read null.
        incremental
            Read only what no successful run has read: new files, or rows beyond a watermark.
        storage
            The name of options of a store, declared under `storage`.
        storage_options
            Options of the store that has the files.
        sample_rows
            The first lines of a file that are looked at for its columns, without a schema.
        on_bad_row
            What becomes of a line that cannot be read.
        """
        keys: dict[str, object] = {
            "schema": schema,
            "partitions": partitions,
            "columns": columns,
            "exclude": exclude,
            "filename": filename,
            "filter": filter,
            "extra_columns": extra_columns,
            "missing_columns": missing_columns,
            "incremental": incremental,
            "storage": storage,
            "storage_options": storage_options,
            "sample_rows": sample_rows,
            "on_bad_row": on_bad_row,
        }
        given = {key: value for key, value in keys.items() if value is not None or key in ("missing_columns", "on_bad_row")}
        return self._source(name, "json", path, given | unknown)

    def read_orc(
        self,
        name: str,
        path: str | os.PathLike[str],
        *,
        schema: Mapping[str, str] | None = None,
        partitions: Mapping[str, str] | None = None,
        columns: Names | None = None,
        exclude: Names | None = None,
        filename: str | None = None,
        filter: Expression | None = None,
        extra_columns: Literal["error", "ignore", "add"] | None = None,
        missing_columns: Literal["error", "null"] | None = "error",
        incremental: NewFilesKeys | WatermarkKeys | None = None,
        storage: str | None = None,
        storage_options: Mapping[str, object] | None = None,
        **unknown: Never,
    ) -> Table:
        """Declare an ORC source.

        Parameters
        ----------
        schema
            The columns to read and their types; `infer` takes the types of a CSV file from its first rows.
        partitions
            Columns in the names of folders, such as `day=2026-11-01`, and their types.
        columns
            The columns to read; by default all.
        exclude
            Columns that are not read.
        filename
            The name of a column to add, with the path of each row's file.
        filter
            An SQL condition; only rows for which it is true are read.
        extra_columns
            What to do with columns of files that `schema` does not have.
        missing_columns
            What to do where a file lacks a column: stop, or read null.
        incremental
            Read only what no successful run has read: new files, or rows beyond a watermark.
        storage
            The name of options of a store, declared under `storage`.
        storage_options
            Options of the store that has the files.
        """
        keys: dict[str, object] = {
            "schema": schema,
            "partitions": partitions,
            "columns": columns,
            "exclude": exclude,
            "filename": filename,
            "filter": filter,
            "extra_columns": extra_columns,
            "missing_columns": missing_columns,
            "incremental": incremental,
            "storage": storage,
            "storage_options": storage_options,
        }
        given = {key: value for key, value in keys.items() if value is not None or key in ("missing_columns",)}
        return self._source(name, "orc", path, given | unknown)

    def read_arrow(
        self,
        name: str,
        path: str | os.PathLike[str],
        *,
        schema: Mapping[str, str] | None = None,
        partitions: Mapping[str, str] | None = None,
        columns: Names | None = None,
        exclude: Names | None = None,
        filename: str | None = None,
        filter: Expression | None = None,
        extra_columns: Literal["error", "ignore", "add"] | None = None,
        missing_columns: Literal["error", "null"] | None = "error",
        incremental: NewFilesKeys | WatermarkKeys | None = None,
        storage: str | None = None,
        storage_options: Mapping[str, object] | None = None,
        **unknown: Never,
    ) -> Table:
        """Declare an Arrow IPC source.

        Parameters
        ----------
        schema
            The columns to read and their types; `infer` takes the types of a CSV file from its first rows.
        partitions
            Columns in the names of folders, such as `day=2026-11-01`, and their types.
        columns
            The columns to read; by default all.
        exclude
            Columns that are not read.
        filename
            The name of a column to add, with the path of each row's file.
        filter
            An SQL condition; only rows for which it is true are read.
        extra_columns
            What to do with columns of files that `schema` does not have.
        missing_columns
            What to do where a file lacks a column: stop, or read null.
        incremental
            Read only what no successful run has read: new files, or rows beyond a watermark.
        storage
            The name of options of a store, declared under `storage`.
        storage_options
            Options of the store that has the files.
        """
        keys: dict[str, object] = {
            "schema": schema,
            "partitions": partitions,
            "columns": columns,
            "exclude": exclude,
            "filename": filename,
            "filter": filter,
            "extra_columns": extra_columns,
            "missing_columns": missing_columns,
            "incremental": incremental,
            "storage": storage,
            "storage_options": storage_options,
        }
        given = {key: value for key, value in keys.items() if value is not None or key in ("missing_columns",)}
        return self._source(name, "arrow", path, given | unknown)

    def read_avro(
        self,
        name: str,
        path: str | os.PathLike[str],
        *,
        schema: Mapping[str, str] | None = None,
        partitions: Mapping[str, str] | None = None,
        columns: Names | None = None,
        exclude: Names | None = None,
        filename: str | None = None,
        filter: Expression | None = None,
        extra_columns: Literal["error", "ignore", "add"] | None = None,
        missing_columns: Literal["error", "null"] | None = "error",
        incremental: NewFilesKeys | WatermarkKeys | None = None,
        storage: str | None = None,
        storage_options: Mapping[str, object] | None = None,
        **unknown: Never,
    ) -> Table:
        """Declare an Avro source; it needs the extra `gpuetl[avro]`.

        Parameters
        ----------
        schema
            The columns to read and their types; `infer` takes the types of a CSV file from its first rows.
        partitions
            Columns in the names of folders, such as `day=2026-11-01`, and their types.
        columns
            The columns to read; by default all.
        exclude
            Columns that are not read.
        filename
            The name of a column to add, with the path of each row's file.
        filter
            An SQL condition; only rows for which it is true are read.
        extra_columns
            What to do with columns of files that `schema` does not have.
        missing_columns
            What to do where a file lacks a column: stop, or read null.
        incremental
            Read only what no successful run has read: new files, or rows beyond a watermark.
        storage
            The name of options of a store, declared under `storage`.
        storage_options
            Options of the store that has the files.
        """
        keys: dict[str, object] = {
            "schema": schema,
            "partitions": partitions,
            "columns": columns,
            "exclude": exclude,
            "filename": filename,
            "filter": filter,
            "extra_columns": extra_columns,
            "missing_columns": missing_columns,
            "incremental": incremental,
            "storage": storage,
            "storage_options": storage_options,
        }
        given = {key: value for key, value in keys.items() if value is not None or key in ("missing_columns",)}
        return self._source(name, "avro", path, given | unknown)

    def read_excel(
        self,
        name: str,
        path: str | os.PathLike[str],
        *,
        schema: Mapping[str, str] | None = None,
        partitions: Mapping[str, str] | None = None,
        columns: Names | None = None,
        exclude: Names | None = None,
        filename: str | None = None,
        filter: Expression | None = None,
        extra_columns: Literal["error", "ignore", "add"] | None = None,
        missing_columns: Literal["error", "null"] | None = "error",
        incremental: NewFilesKeys | WatermarkKeys | None = None,
        storage: str | None = None,
        storage_options: Mapping[str, object] | None = None,
        sheet: str | int = 1,
        range: str | None = None,
        skip_rows: int = 0,
        header: bool = True,
        nulls: Names | None = None,
        error_cells: Literal["fail", "null"] | None = "fail",
        **unknown: Never,
    ) -> Table:
        """Declare an Excel source; it needs the extra `gpuetl[excel]`.

        Parameters
        ----------
        schema
            The columns to read and their types; `infer` takes the types of a CSV file from its first rows.
        partitions
            Columns in the names of folders, such as `day=2026-11-01`, and their types.
        columns
            The columns to read; by default all.
        exclude
            Columns that are not read.
        filename
            The name of a column to add, with the path of each row's file.
        filter
            An SQL condition; only rows for which it is true are read.
        extra_columns
            What to do with columns of files that `schema` does not have.
        missing_columns
            What to do where a file lacks a column: stop, or read null.
        incremental
            Read only what no successful run has read: new files, or rows beyond a watermark.
        storage
            The name of options of a store, declared under `storage`.
        storage_options
            Options of the store that has the files.
        sheet
            The name of the sheet, or its number from 1.
        range
            The cells of the table, such as B3:F20 or B:F; by default all.
        skip_rows
            Rows of the range before the header.
        header
            The first row has the names of the columns; else they are A, B, ….
        nulls
            Strings that stand for null, besides empty cells.
        error_cells
            What becomes of cells with an error, such as #N/A.
        """
        keys: dict[str, object] = {
            "schema": schema,
            "partitions": partitions,
            "columns": columns,
            "exclude": exclude,
            "filename": filename,
            "filter": filter,
            "extra_columns": extra_columns,
            "missing_columns": missing_columns,
            "incremental": incremental,
            "storage": storage,
            "storage_options": storage_options,
            "sheet": sheet,
            "range": range,
            "skip_rows": skip_rows,
            "header": header,
            "nulls": nulls,
            "error_cells": error_cells,
        }
        given = {key: value for key, value in keys.items() if value is not None or key in ("missing_columns", "error_cells")}
        return self._source(name, "excel", path, given | unknown)

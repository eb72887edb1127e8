"""The codes of errors.  Each has a page: `gpuetl explain GE1003` prints it, and docs/errors/ holds all of them."""

from __future__ import annotations

from gpuetl.error_codes import (
    asof_joins,
    checkpoints,
    clusters,
    commits,
    contracts,
    csv_files,
    declarations,
    engines,
    expressions,
    fit,
    gaps,
    groups,
    incremental,
    json,
    kernels,
    limits,
    names,
    nested,
    operations,
    output,
    parquet_files,
    pipeline_file,
    plugins,
    projects,
    python_api,
    python_kernels,
    relational,
    running,
    sink_keys,
    sinks,
    source_keys,
    sources,
    state,
    steps,
    storage,
    telemetry,
    upserts,
    warnings,
    window_state,
    windows,
)
from gpuetl.error_codes.page import ErrorPage

MODULES = (
    pipeline_file, projects, plugins, names, expressions, steps, windows, fit, relational, asof_joins, groups, gaps, python_api, kernels, python_kernels, source_keys, sources, csv_files,
    parquet_files, storage, sink_keys, sinks, upserts, commits, state, incremental, window_state, checkpoints, contracts, warnings, declarations,
    running, nested, json, limits, engines, clusters, output, operations, telemetry,
)  # fmt: skip
PAGES: dict[str, ErrorPage] = {page.code: page for module in MODULES for page in module.PAGES}

__all__ = ["MODULES", "PAGES", "ErrorPage"]

"""The codes of errors.  Each has a page: `gpuetl explain GE1003` prints it, and docs/errors/ holds all of them."""

from __future__ import annotations

from gpuetl.error_codes import (
    contracts,
    engines,
    expressions,
    kernels,
    names,
    pipeline_file,
    running,
    sink_keys,
    sinks,
    source_keys,
    sources,
    steps,
    warnings,
)
from gpuetl.error_codes.page import ErrorPage

MODULES = (
    pipeline_file, names, expressions, steps, kernels, source_keys, sources, sink_keys, sinks, contracts, warnings,
    running, engines,
)  # fmt: skip
PAGES: dict[str, ErrorPage] = {page.code: page for module in MODULES for page in module.PAGES}

__all__ = ["MODULES", "PAGES", "ErrorPage"]

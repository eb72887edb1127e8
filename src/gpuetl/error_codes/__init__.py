"""The codes of errors.  Each has a page: `gpuetl explain GE1003` prints it, and docs/errors/ holds all of them."""

from __future__ import annotations

from gpuetl.error_codes import contracts, engines, kernels, names, steps
from gpuetl.error_codes.page import ErrorPage

MODULES = (contracts, engines, kernels, names, steps)
PAGES: dict[str, ErrorPage] = {page.code: page for module in MODULES for page in module.PAGES}

__all__ = ["MODULES", "PAGES", "ErrorPage"]

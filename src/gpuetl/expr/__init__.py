"""The expression language: SQL text and Python's `col()` build the same typed expressions.

    parse.py (sqlglot) or build.py (Python)  →  syntax.py  →  resolve.py with functions/  →  ir.py  →  unparse.py
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuetl.expr.build import Expression


class _Package(ModuleType):
    """`gpuetl.expr` is the public function `expr` and this package; whichever a name reaches can be called."""

    def __call__(self, sql: str) -> Expression:
        from gpuetl.expr.build import expr

        return expr(sql)


sys.modules[__name__].__class__ = _Package

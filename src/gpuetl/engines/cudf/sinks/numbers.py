"""Floats: codes of a dictionary in row groups of few distinct ones, such as prices, else as they lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.sinks.distinct_values import DistinctValues
from gpuetl.engines.cudf.sinks.encoded import Encoded
from gpuetl.engines.cudf.sinks.footer import PLAIN
from gpuetl.engines.cudf.sinks.stack import Column, stack_of
from gpuetl.engines.cudf.sinks.statistics import limits_of, ranges_found
from gpuetl.engines.cudf.sinks.values import plain_pages, ranges_of


class Numbers:
    """Floats; a NaN keeps its bits, and zeros their signs."""

    def __init__(self, columns: Sequence[Column], machine: Machine) -> None:
        self.columns, self.stack = columns, stack_of(columns, machine)
        self.distinct = DistinctValues(self.stack)
        self.measures = [ranges_of(self.stack, self.stack.stored), *self.distinct.measures]

    def encoded(self, measures: Sequence[np.ndarray[Any, Any]]) -> list[Encoded]:
        """Take codes for the pages of row groups where that is worth it, for others the values themselves."""
        stack, (ranges, *distinct) = self.stack, measures
        counts = self.distinct.worthwhile(*(each.tolist() for each in distinct))
        codes, dictionaries = self.distinct.encoded(counts) if any(counts) else ({}, [None] * len(counts))
        found, groups = [], stack.levels[0].groups
        for place, (column, own) in enumerate(zip(self.columns, stack.split(ranges_found(ranges)), strict=True)):
            plain, first = plain_pages(stack.values[place], column.levels), place * stack.column_pages
            pages = [codes.get(first + page, values) for page, values in enumerate(plain)]
            used = dictionaries[place * groups : (place + 1) * groups]
            found.append(Encoded(PLAIN, pages, own, limits_of(column.vector.dtype), used))
        return found

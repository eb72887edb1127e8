"""A scan for a process that has neither its files nor its rows, as it is needed to list the programs of a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gpuetl.engines.cudf.io.source_kinds import KnownScan, ScanKinds, scan_kinds
from gpuetl.io.data_file import RowGroup
from gpuetl.physical.nodes import Scan
from gpuetl.physical.size_estimates import read_rows
from gpuetl.plan.nodes import Read


def pack_scan(scan: Scan) -> tuple[Callable[..., Scan], tuple[Any, ...]]:
    """Return a scan as listing needs it: one row group stands for all of its rows."""
    groups = [group for part in scan.parts for group in part if group.rows]
    all_rows = tuple(replace(group.without_ranges, rows=read_rows(groups)) for group in groups[:1])
    return known_scan, (scan.read, all_rows, scan.partitions, scan_kinds(scan))


def known_scan(read: Read, groups: tuple[RowGroup, ...], partitions: int, known: ScanKinds) -> KnownScan:
    """Return the scan of `pack_scan`, all of it in the first of as many partitions as there were."""
    return KnownScan(read, (groups, *((),) * (partitions - 1)), known=known)

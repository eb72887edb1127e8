"""A step: the first rows of each group."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from gpuetl.plugins import COUNT, NAMES, STRINGS, MacroStep, dataclass, key


@dataclass(frozen=True)
class Top(MacroStep):
    """Keep the first rows of each group: `top: {rows: 3, by: region, order_by: amount desc}`."""

    verb: ClassVar[str] = "top"
    rows: int = key(COUNT, doc="how many rows of each group to keep")
    by: tuple[str, ...] = key(NAMES, doc="the columns that make groups")
    order_by: tuple[str, ...] = key(STRINGS, doc="the order of the rows in a group")

    def steps(self) -> Sequence[Mapping[str, Any]]:
        """Number the rows of each group, keep those with low numbers, and drop the number."""
        window = {"by": list(self.by), "order_by": list(self.order_by), "columns": {"top_number": "row_number()"}}
        return [{"window": window}, {"filter": f"top_number <= {self.rows}"}, {"drop": "top_number"}]

"""The steps of the language.  A new step is a class here, in STEPS; most need no plan node of their own."""

from gpuetl.plugin_discovery import PluginTable
from gpuetl.spec.steps.aggregate import Aggregate
from gpuetl.spec.steps.columns import CastColumns, Drop, Rename, Select, WithColumns
from gpuetl.spec.steps.explode import Explode
from gpuetl.spec.steps.fill_gaps import FillGaps
from gpuetl.spec.steps.fill_null import FillNull
from gpuetl.spec.steps.fit import Apply, Fit
from gpuetl.spec.steps.join import Join
from gpuetl.spec.steps.kernel import Kernel
from gpuetl.spec.steps.macro_step import step_of
from gpuetl.spec.steps.pivot import Pivot
from gpuetl.spec.steps.rows import Distinct, Filter, Limit, Sort
from gpuetl.spec.steps.sample import Sample
from gpuetl.spec.steps.set_operations import Except, Intersect
from gpuetl.spec.steps.step import Context, Step
from gpuetl.spec.steps.union import Union
from gpuetl.spec.steps.unnest import Unnest
from gpuetl.spec.steps.unpivot import Unpivot
from gpuetl.spec.steps.window import Window

STEPS: PluginTable[type[Step]] = PluginTable("step", step_of, {
    step.verb: step
    for step in (
        Filter, Select, WithColumns, Drop, Rename, CastColumns, Join, Aggregate, Window, Kernel, Sort, Distinct, Limit,
        Union, Intersect, Except, Explode, Unnest, Pivot, Unpivot, FillGaps, FillNull, Sample, Fit, Apply,
    )
})  # fmt: skip

__all__ = [
    "STEPS", "Aggregate", "Apply", "CastColumns", "Context", "Distinct", "Drop", "Except", "Explode", "FillGaps",
    "FillNull", "Filter", "Fit", "Intersect", "Join", "Kernel", "Limit", "Pivot", "Rename", "Sample", "Select",
    "Sort", "Step", "Union", "Unnest", "Unpivot", "Window", "WithColumns",
]  # fmt: skip

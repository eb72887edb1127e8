"""Features whose numbers come from the data: transforms, what they learn, and the steps fit and apply."""

from gpuetl.spec.steps.fit.fitted import Fits, Fitted
from gpuetl.spec.steps.fit.step import Apply, Fit
from gpuetl.spec.steps.fit.table import TRANSFORMS, transforms_of
from gpuetl.spec.steps.fit.transform import Transform

__all__ = ["TRANSFORMS", "Apply", "Fit", "Fits", "Fitted", "Transform", "transforms_of"]

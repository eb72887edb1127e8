"""For the tests of pipelines and of gpuetl: tables compared by the contract, engines with the oracle."""

from gpuetl.testing.compare import ROUNDING, Tolerance, assert_tables_equal
from gpuetl.testing.oracle import LAYOUTS, assert_same

__all__ = ["LAYOUTS", "ROUNDING", "Tolerance", "assert_same", "assert_tables_equal"]

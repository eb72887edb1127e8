"""For the tests of pipelines and of gpuetl: tables compared by the contract, engines with the oracle."""

from gpuetl.testing.oracle import LAYOUTS, assert_same
from gpuetl.verify.tolerance import ROUNDING, Tolerance, assert_tables_equal

__all__ = ["LAYOUTS", "ROUNDING", "Tolerance", "assert_same", "assert_tables_equal"]

"""Nothing of the language is missing in the tables of the GPU engine, and nothing is in them that the language lacks."""

import re

import pytest

from gpu_engine.host_machine import HostMachine
from gpuetl.engines.cudf import cudf_engine  # noqa: F401  registers the handlers
from gpuetl.engines.cudf.codegen.device_headers import DEVICE, header_text
from gpuetl.engines.cudf.codegen.evaluate import REASONS
from gpuetl.engines.cudf.codegen.functions import DEVICE_FUNCTIONS, FAMILIES, HEADERS
from gpuetl.engines.cudf.codegen.functions.nested import OWN_FUNCTION_NAMES
from gpuetl.engines.cudf.codegen.functions.regex_rows import ASKED
from gpuetl.engines.cudf.gpu_operation import run_operation
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.relational.aggregate import PICKS
from gpuetl.engines.cudf.relational.aggregate_states import RESULT_OF
from gpuetl.engines.cudf.relational.window_functions import WINDOW_FUNCTIONS
from gpuetl.expressions.functions import FUNCTIONS, INTERNAL
from gpuetl.expressions.syntax import SORT_KEY
from gpuetl.plan.nodes import NODES, TOGETHER, Write

BRANCHES = {"case", "coalesce"}  # of the kernel, and no calls
EXPANDED = {function.name for function in FUNCTIONS.values() if function.expansion}  # they are computed by others


@pytest.mark.parametrize(
    "node", [node for node in (*NODES, *TOGETHER) if node is not Write], ids=lambda node: node.__name__
)
def test_every_operation_has_a_handler_of_its_own(node):
    assert node in run_operation.registry


def test_an_operation_without_a_handler_is_told():
    with pytest.raises(NotImplementedError, match="the cudf backend has no handler for object"):
        run_operation(object(), None)


@pytest.mark.parametrize(
    ("kind", "handlers", "apart"),
    [
        ("scalar", DEVICE_FUNCTIONS, BRANCHES | EXPANDED),
        ("aggregate", {**RESULT_OF, **PICKS}, set()),
        ("window", WINDOW_FUNCTIONS, set()),
    ],
)
def test_every_function_has_a_handler_and_every_handler_a_function(kind, handlers, apart):
    own = {name for (of_kind, name), function in FUNCTIONS.items() if of_kind == kind and not function.definition}
    assert own == {*handlers, *apart} - set(INTERNAL) - OWN_FUNCTION_NAMES - set(ASKED)


def test_what_partitions_carry_has_a_handler():
    """Functions that only the planner calls."""
    called = {name for name, function in INTERNAL.items() if not function.expansion}
    assert called - {SORT_KEY} <= {*RESULT_OF, *PICKS, *DEVICE_FUNCTIONS, *WINDOW_FUNCTIONS}


def test_no_two_families_define_the_same_function():
    assert sum(len(family.FUNCTIONS) for family in FAMILIES) == len(DEVICE_FUNCTIONS)


def test_every_function_has_a_header():
    assert all(header_text(header) for header in HEADERS.values())


def test_every_reason_of_the_device_has_its_words():
    """They are told by their numbers, from 1 on."""
    numbers = re.findall(r"^    [A-Z0-9_]+ = (\d+),", (DEVICE / "rows.cuh").read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(number) for number in numbers] == list(range(1, len(REASONS)))


def test_the_machine_of_the_tests_has_all_that_the_engine_asks_for():
    assert {name for name in vars(Machine) if not name.startswith("_")} <= set(dir(HostMachine))

"""What is fuzzed, and that nothing of the language is left out unseen."""

import subprocess
import sys
from pathlib import Path

import pytest

import fuzz
from fuzz import duckdb_sql, expressions, search
from fuzz.cases import RESULT, drawn_case
from fuzz.checks import Outcome
from fuzz.draws import SeededDraws
from fuzz.duckdb_functions import COMPARED_OTHERWISE, DUCKDB
from fuzz.pipelines import NOT_FUZZED, STEPS
from fuzz.search import Failure, run_seed
from fuzz.signatures import signatures
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import calls_of
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nodes import NODES, Kernel, KernelReduction, KernelTable, Write
from gpuetl.spec import steps

CASES, CASES_OF_FULL, MOST_CASES = 120, 600, 9600
"""Seeds that test_fuzz.py compares, those that `make test-all` does, and those that are drawn."""


@pytest.mark.parametrize(("kind", "name"), FUNCTIONS, ids=lambda value: value)
def test_every_function_has_a_text_in_duckdb_or_a_reason_why_not(kind, name):
    """A new function joins the fuzzer by one entry in a table."""
    known = (kind, name) in DUCKDB or (kind, name) in COMPARED_OTHERWISE
    assert known, (
        f"{kind} function {name} has no DuckDB text and is not on the list of those compared otherwise, with reason.  "
        f"Add it to tests/fuzz/duckdb_{kind}s.py, or to COMPARED_OTHERWISE in tests/fuzz/duckdb_functions.py"
    )


@pytest.mark.parametrize(("kind", "name"), FUNCTIONS, ids=lambda value: value)
def test_every_function_can_be_called_with_the_fuzzer_s_types_and_constants(kind, name):
    """A function that never is drawn would be compared with nothing."""
    assert signatures(kind, name), f"no types and constants of tests/fuzz/signatures.py suit {name}: add to CONSTANTS"


@pytest.mark.parametrize(
    "node",
    [node for node in NODES if not issubclass(node, Kernel | KernelReduction | KernelTable | Write)],
    ids=lambda node: node.__name__,
)
def test_every_node_has_a_text_in_duckdb(node):
    """Kernels have their twins, and what is written is read in tests/io."""
    default = duckdb_sql.select.dispatch(object)
    assert duckdb_sql.select.dispatch(node) is not default, f"{node.__name__} is missing in tests/fuzz/duckdb_sql.py"


@pytest.mark.parametrize("verb", steps.STEPS)
def test_every_step_is_drawn_or_has_a_reason_why_not(verb):
    """A new step joins by one entry in a table."""
    assert verb in STEPS or verb in NOT_FUZZED, f"step {verb} is missing in STEPS of tests/fuzz/pipelines.py"


def test_every_step_and_function_is_in_a_case_that_is_compared(monkeypatch):
    """Those that the seeds of test_fuzz.py do not draw are compared in other cases, which draw them more often."""
    missing = {*STEPS, *(key for key, function in FUNCTIONS.items() if not function.definition)}
    for seed in range(CASES):
        missing -= drawn_in(drawn_case(SeededDraws(seed)))

    def preferred(kind, names=expressions.fuzzed):
        wanted = sorted(name for key in missing - {*STEPS} for name in key[1:] if key[0] == kind)
        return (*wanted * (len(names(kind)) // max(1, len(wanted))), *names(kind))

    monkeypatch.setattr(expressions, "fuzzed", preferred)
    for seed in range(CASES, MOST_CASES):
        if not missing:
            return
        drawn = drawn_in(drawn_case(SeededDraws(seed)))
        if drawn & missing:
            outcome = run_seed(seed, shrink=False)
            assert not isinstance(outcome, Failure), outcome
        missing -= drawn
    raise AssertionError(f"not drawn in {MOST_CASES} cases: {missing}")


def drawn_in(case):
    """Return the steps and functions of a case."""
    drawn = {step.verb for stage in case.pipeline.spec.stages.values() for step in stage.steps}
    for node in walk_graph(case.node):
        for kind in ("scalar", "aggregate", "window"):
            drawn.update((kind, call.function.name) for call in calls_of(kind, node.expressions))
    return drawn


def test_a_case_can_be_replayed():
    """A seed says all about its case."""
    first, again = (drawn_case(SeededDraws(7)) for _ in range(2))
    assert repr(first) == repr(again)


@pytest.mark.full(reason="the fuzzer's search for a small case")
def test_a_wrong_answer_is_found_and_made_small(monkeypatch):
    """The fuzzer is tested by an engine that is wrong."""
    from gpuetl.engines.pandas.relational import aggregate

    monkeypatch.setattr(search, "SHRINK_SECONDS", 600)
    monkeypatch.setitem(aggregate.AGGREGATES, "count", aggregate.count_distinct)
    failures = (outcome for seed in range(500) if isinstance(outcome := run_seed(seed, shrink=False), Failure))
    found = run_seed(next(failures).seed)
    assert isinstance(found, Failure)
    assert len(found.smallest.pipeline.spec.stages[RESULT].steps) <= 3  # its own, and what brings it about
    assert "count" in repr(found.smallest)
    assert found.smallest.sources[0].rows.num_rows <= 3


def test_outcomes_are_counted_apart():
    """A case that fails as expected is no case that was compared."""
    assert {outcome.value for outcome in Outcome} >= {"compared", "both found no result"}


def test_the_command_knows_the_engine_that_runs_kernels_on_the_cpu():
    """In a process of its own: here the engine is registered for other tests."""
    code = "import fuzz.__main__; from gpuetl.engines.registry import load_backend; load_backend('cudf-on-cpu')"
    subprocess.run([sys.executable, "-c", code], cwd=Path(fuzz.__file__).parents[1], check=True)
